#if Shell
  import Foundation
  import Testing

  @Suite("Commands meet signals that were meant for more than them")
  struct ServiceStopTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test(
      "a service manager that sends TERM to every process at once interrupts what runs: it goes back, uncounted",
      arguments: [
        ("", [0, 1, 2]), ("", [2, 1, 0]), ("143", [0, 1, 2]), ("20", [1, 0, 2]), ("20", [2, 1, 0]), ("0", [1, 0, 2]),
        ("0", [2, 1, 0]),
      ])
    func everyProcess(answer: String, order: [Int]) async throws {
      let fifo = try Fifo(in: durable)
      let beginning = answer.isEmpty ? "" : "trap 'exit \(answer)' TERM; "
      let id = try await durable.add(
        "--shell", "--",
        "test -e again && exit 0; touch again; \(beginning)echo $$ $PPID > said; while :; do sleep 0.1; done")
      let ended = try await durable.work { worker in
        let numbers = await fifo.said().split(separator: " ").compactMap { pid_t($0) } + [worker.process]
        try #require(numbers.count == 3)
        for index in order { kill(numbers[index], SIGTERM) }
        await worker.ends()
      }
      #expect(ended.status == .exited(0))
      let job = try await durable.job(id)
      #expect(["ready", "scheduled"].contains(job["state"] as? String))
      #expect(job["attempt"] as? Int == 0)
      #expect(job["crashes"] as? Int == 0)
      #expect((job["errors"] as? [Any])?.isEmpty == true)
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try await durable.state(id) == "succeeded")
    }

    @Test("a command that is ended by TERM has failed, if nobody asked its worker to stop")
    func alone() async throws {
      let id = try await durable.add("--shell", "--", "kill -TERM $$")
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(try await durable.message(id) == "killed by signal 15 (SIGTERM)")
    }

    @Test("a command that answers a stop with a success was interrupted all the same")
    func successAfterStop() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add(
        "--shell", "--", "trap 'exit 0' TERM; echo > said; while :; do sleep 0.1; done")
      let ended = try await durable.work("--grace", "0") { worker in
        _ = await fifo.said()
        kill(worker.process, SIGTERM)
        await worker.ends()
      }
      #expect(ended.status == .exited(0))
      #expect(try await durable.state(id) == "ready")
      try await durable("cancel", "\(id)")
      let late = try await durable.add(
        "--timeout", "300ms", "--shell", "--", "trap 'exit 0' TERM; while :; do sleep 0.1; done")
      #expect(try await durable("work", "--drain").status == .exited(1))
      #expect(try await durable.message(late).hasPrefix("timed out"))
    }

    @Test("a success is none after TERM to its supervisor alone: the command runs again")
    func successAfterRequest() async throws {
      let fifo = try Fifo(in: durable)
      let id = try await durable.add(
        "--shell", "--",
        "echo run >> runs; test -e again && exit 0; touch again; trap 'exit 0' TERM; echo $PPID > said; "
          + "while :; do sleep 0.01; done")
      let ended = try await durable.run("work", "--drain") { program in
        let supervisor = try #require(pid_t(await fifo.said()))
        kill(supervisor, SIGTERM)
      }
      #expect(ended.status == .exited(0))
      #expect(try await durable.state(id) == "succeeded")
      #expect(try String(contentsOfFile: durable.folder + "/runs", encoding: .utf8) == "run\nrun\n")
      // One that does so itself each time does not run for ever.
      #expect(try await durable("show", "\(id)", "--json").json["crashes"] as? Int == 1)
    }

    @Test("a terminal or a session that ends tells a worker twice, and its commands have their grace")
    func hangUp() async throws {
      let fifo = try Fifo(in: durable)
      let more = try Fifo(in: durable, "more")
      let id = try await durable.add("--shell", "--", "echo > said; read line < more")
      let ended = try await durable.run("work") { program in
        _ = await fifo.said()
        for signal in [SIGTERM, SIGHUP, SIGHUP] {
          kill(program.process, signal)
          try await program.says("Stopping")
        }
        await more.say("go")
      }
      #expect(ended.status == .exited(0))
      #expect(try await durable.state(id) == "succeeded")
    }

    @Test(
      "--grace says how long what runs has to end",
      arguments: [("0", "is interrupted."), ("1h", "has 60 min 0 s to end.")])
    func grace(time: String, words: String) async throws {
      let fifo = try Fifo(in: durable)
      let more = try Fifo(in: durable, "more")
      let id = try await durable.add("--shell", "--", "echo $$ > said; read line < more")
      let ended = try await durable.work("--grace", time) { worker in
        _ = await fifo.said()
        kill(worker.process, SIGTERM)
        if time != "0" { await more.say("go") }
        await worker.ends()
      }
      #expect(ended.status == .exited(0))
      #expect(ended.stderr.contains("Stopping: what runs \(words)"), "\(ended.stderr)")
      #expect(try await durable.state(id) == (time == "0" ? "ready" : "succeeded"))
    }

    #if os(Linux)
      @Test("a command may send its whole group any signal that can be ignored, and runs once all the same")
      func toTheGroup() async throws {
        let line = """
          echo run >> runs
          for n in {1..64}; do
            case $n in 4|5|6|7|8|9|11|17|18|19|31|32|33) continue;; esac
            trap '' $n; kill -$n 0
          done
          """
        let id = try await durable.add("--", "bash", "-c", line)
        #expect(try await durable("work", "--drain").status == .exited(0))
        #expect(try await durable.state(id) == "succeeded")
        #expect(try String(contentsOfFile: durable.folder + "/runs", encoding: .utf8) == "run\n")
      }

      @Test("a command begins with every signal as the system gives it, whatever its worker ignores")
      func dispositions() async throws {
        let id = try await durable.add("--", "grep", "SigIgn", "/proc/self/status")
        let worked = try await durable.shell("trap '' HUP USR1 RTMIN+1 RTMAX; exec \"$DURABLE\" work --drain")
        #expect(worked.status == .exited(0))
        let text = try await durable("log", "\(id)").line
        let ignored = try #require(UInt64(text.dropFirst("SigIgn:\t".count), radix: 16), "\(text)")
        // 32 and 33 are the C library's own, which has them ignored in all that it starts.
        #expect(ignored & ~0x1_8000_0000 == 0, "\(text)")
      }
    #endif

    @Test("a command that stops its supervisor and ends has ended")
    func supervisorStopped() async throws {
      let id = try await durable.add("--shell", "--", "kill -STOP $PPID; exit 0")
      #expect(try await durable("work", "--drain").status == .exited(0))
      #expect(try await durable.state(id) == "succeeded")
    }

    @Test("a worker whose lines nobody reads works on, and ends when it is asked to")
    func deafReader() async throws {
      for _ in 0..<3 { _ = try await durable.add("--", "true") }
      let line = """
        mkfifo out went; exec 7<>out; dd if=/dev/zero of=out oflag=nonblock bs=4096 2>/dev/null
        "$DURABLE" add --shell --priority=-5 -- 'echo > went' > id
        "$DURABLE" work --concurrency 1 >&7 2>&7 & worker=$!
        trap 'kill -9 $worker' EXIT
        read line < went; kill -TERM $worker; wait $worker; code=$?; trap - EXIT; exit $code
        """
      #expect(try await durable.shell(line).status == .exited(0))
    }

    @Test("a worker without stdin, stdout and stderr runs commands")
    func closedDescriptors() async throws {
      let line = """
        echo out; echo err >&2; cat
        [ -d /proc/self/fd ] || exit 0
        read pid name state worker rest < /proc/$PPID/stat
        for n in 0 1 2; do [ "$(readlink /proc/$worker/fd/$n)" = /dev/null ] || exit $((n + 10)); done
        """
      let id = try await durable.add("--shell", "--", line)
      _ = try await durable.shell("\"$DURABLE\" work --drain <&- >&- 2>&-")
      #expect(try await durable.state(id) == "succeeded")
      let log = try await durable("log", "\(id)")
      #expect(log.text == "out\n")
      #expect(log.stderr.contains("\nerr\n"))
    }
  }
#endif
