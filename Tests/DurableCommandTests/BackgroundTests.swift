#if Shell
  import DurableJobs
  import Foundation
  import Subprocess
  import TestProcesses
  import Testing

  @testable import durable

  @Suite("A worker in the background")
  struct BackgroundTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("goes on after the command has returned, is one for each store, and ends when it is asked to")
    func whole() async throws {
      let started = try await durable("work", "--detach", "--json")
      #expect(started.status == .exited(0), "\(started.stderr)")
      let process = try #require(try started.json["process"] as? Int)
      let log = try #require(try started.json["log"] as? String)
      let second = try await durable("work", "--detach")
      #expect(second.status == .exited(1))
      #expect(second.stderr.contains("process \(process) works on \(durable.store) in the background already"))
      let id = try await durable.add("--", "true")
      #expect(try await durable("wait", "\(id)").status == .exited(0))
      #expect(try await durable("status").stderr.contains("Workers: 1 on default"))
      let stopped = try await durable("work", "stop")
      #expect(stopped.text == "process \(process) has stopped\n")
      #expect(try String(contentsOfFile: log, encoding: .utf8).contains("done"))
      #expect(try await durable("work", "stop", "--json").json["process"] is NSNull)
      #expect(try await durable("status").stderr.contains("Workers: none"))
      #expect(try await durable("work", "--detach", "--drain").status == .exited(2))
    }

    @Test("is one also if several are started at the same moment, of which the others say that there is one")
    func atOnce() async throws {
      let outcome = try await durable.shell(
        #"for i in 1 2 3 4 5 6; do { "$DURABLE" work --detach > /dev/null 2>&1; echo $?; } & done; wait"#)
      #expect(outcome.text.split(separator: "\n").sorted() == ["0", "1", "1", "1", "1", "1"], "\(outcome.text)")
      try await durable("work", "stop")
    }

    @Test("is ended also where its store is gone")
    func storeGone() async throws {
      let process = try #require(try await durable("work", "--detach", "--json").json["process"] as? Int)
      // One that goes on would soon see by itself that its store is gone, and end without being asked.
      kill(pid_t(process), SIGSTOP)
      for name in ["", "-wal", "-shm"] { unlink(durable.store + name) }
      #expect(try await durable("work", "stop").text == "process \(process) has stopped\n")
      let file = open(durable.store + "-worker", O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      #expect(flock(file, LOCK_EX | LOCK_NB) == 0, "it has ended")
    }

    @Test("is ended also where somebody has stopped it meanwhile")
    func stopped() async throws {
      let process = try #require(try await durable("work", "--detach", "--json").json["process"] as? Int)
      kill(pid_t(process), SIGSTOP)
      #expect(try await durable("work", "stop").text == "process \(process) has stopped\n")
    }

    @Test("that is no process here, as one in another container is not, is told of")
    func elsewhere() async throws {
      let file = open(durable.store + "-worker", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(file) }
      #expect(flock(file, LOCK_EX) == 0)
      #expect(write(file, "7 7", 3) == 3)
      let outcome = try await durable("work", "stop")
      #expect(outcome.status == .exited(1) && outcome.stderr.contains("container"), "\(outcome.stderr)")
    }

    @Test("whose file names a process that began at another time asks nobody to stop")
    func givenOutAgain() async throws {
      let stranger = try ChildProcess("/bin/sleep", ["600"])
      defer { stranger.send(SIGKILL) }
      // Whoever has just taken the lock has not yet said who it is: what stands there is of the one before.
      let file = open(durable.store + "-worker", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      #expect(flock(file, LOCK_EX) == 0)
      let old = "\(stranger.pid) 7"
      #expect(write(file, old, old.utf8.count) == old.utf8.count)
      let worker = BackgroundWorker(store: durable.store)
      async let stopped = onThread { Result { try worker.stop() } }
      release(file)
      #expect(try await stopped.get() == nil)
      #expect(kill(stranger.pid, 0) == 0)
    }

    @Test("begins another log where the one that is there has become long, and keeps that")
    func log() async throws {
      let log = durable.store + "-worker.log"
      #expect(FileManager.default.createFile(atPath: log, contents: Data(count: 2 << 20)))
      #expect(try await durable("work", "--detach").status == .exited(0))
      #expect(try await durable("work", "stop").status == .exited(0))
      #expect(try #require(FileManager.default.contents(atPath: log)).count < 1 << 20)
      #expect(try #require(FileManager.default.contents(atPath: log + ".old")).count == 2 << 20)
    }

    @Test("keeps nothing that the shell had open, and is begun by that command alone")
    func descriptors() async throws {
      let shell = "exec 8>held; flock 8; '\(Durable.products)/durable' work --detach --store '\(durable.store)'"
      let process = try ChildProcess("/bin/sh", ["-c", "cd '\(durable.folder)' && \(shell)"])
      #expect(await process.ended() == .exited(0))
      let held = open(durable.folder + "/held", O_RDONLY)
      #expect(flock(held, LOCK_EX | LOCK_NB) == 0)
      close(held)
      #expect(try await durable("work", "stop").status == .exited(0))
      let byHand = try await durable("work", "--in-background")
      #expect(byHand.status == .exited(2))
      #expect(byHand.stderr.contains("--in-background is for 'durable work --detach' alone"))
    }

    @Test("does not begin where it can't be noted which process it is")
    func unnoted() async throws {
      #expect(FileManager.default.createFile(atPath: durable.store + "-worker", contents: nil))
      chmod(durable.store + "-worker", 0o400)
      symlink("/dev/full", durable.store + "-worker.link")
      rename(durable.store + "-worker.link", durable.store + "-worker")
      let refused = try await durable("work", "--detach")
      #expect(refused.status == .exited(5), "\(refused.stderr)")
      #expect(refused.stderr.contains("-worker can't be written"), "\(refused.stderr)")
    }

    @Test("that does not begin is told of with its reason also where its log takes nothing")
    func untold() async throws {
      for name in ["-worker", "-worker.log"] { symlink("/dev/full", durable.store + name) }
      let refused = try await durable("work", "--detach")
      #expect(refused.status == .exited(5), "\(refused.stderr)")
      #expect(refused.stderr.contains("-worker can't be written"), "\(refused.stderr)")
    }

    @Test("that was killed leaves nothing that would be asked to stop, and another can begin")
    func killed() async throws {
      let first = try #require(try await durable("work", "--detach", "--json").json["process"] as? Int)
      kill(pid_t(first), SIGKILL)
      let file = open(durable.store + "-worker", O_RDONLY)
      await onThread { while flock(file, LOCK_SH) != 0, errno == EINTR {} }
      close(file)
      #expect(try await durable("work", "stop", "--json").json["process"] is NSNull)
      let second = try #require(try await durable("work", "--detach", "--json").json["process"] as? Int)
      #expect(second != first)
      #expect(try await durable("work", "stop").status == .exited(0))
    }
  }

  @Suite("durable service")
  struct ServiceTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    private static let odd = ["/a b/durable", "work", "--queue", #"50% "$HOME" \x"#]

    @Test("the unit is one that systemd takes, with every word as it is")
    func unit() async throws {
      let file = ServiceFile(name: "durable", words: ["/bin/echo"] + Self.odd, log: "/l")
      #expect(
        file.unit.contains(#"ExecStart="/bin/echo" "/a b/durable" "work" "--queue" "50%% \"$$HOME\" \\x""#),
        "\(file.unit)")
      let path = durable.folder + "/durable.service"
      try Data(file.unit.replacing("Documentation=man:durable(1)\n", with: "").utf8).write(
        to: URL(fileURLWithPath: path))
      let verified = try await durable.shell(
        "command -v systemd-analyze > /dev/null || exit 0; systemd-analyze --user verify '\(path)'")
      #expect(!verified.stderr.contains("durable.service"), "\(verified.stderr)")
    }

    @Test("a store's files that are named by relative paths are looked for where they were named")
    func relativePaths() async throws {
      let file = ServiceFile(name: "durable", words: ["/bin/echo"], folder: "/50% a b", log: "/l")
      #expect(file.unit.contains("\nExecStart=\"/bin/echo\"\nWorkingDirectory=/50%% a b\nRestart="), "\(file.unit)")
      let list = try #require(
        try PropertyListSerialization.propertyList(from: Data(file.agent.utf8), format: nil) as? [String: Any])
      #expect(list["WorkingDirectory"] as? String == "/50% a b")
      #if os(Linux) && Postgres
        let folder = URL(fileURLWithPath: durable.folder).lastPathComponent
        for (store, isRelative) in [
          ("postgres://h/d?sslrootcert=ca.pem", true), ("host=h sslcert='./my cert'", true),
          ("host=h passfile=../pass", true), ("postgres://h/d?sslrootcert=system", false),
          ("host=sock sslcert=/c sslkey=/k", false),
        ] {
          let unit = try await durable("service", "install", "--print", "--store", store).text
          #expect(unit.contains("/\(folder)\nRestart=") == isRelative, "\(store): \(unit)")
          #expect(unit.contains("WorkingDirectory=") == isRelative)
        }
      #endif
    }

    @Test("a program whose folder has a '$' in its name is found, and one command without memory ends no worker")
    func unitWords() {
      let unit = ServiceFile(name: "durable", words: ["/$a/durable", "$a"], log: "/l").unit
      #expect(unit.contains(#"ExecStart="/$a/durable" "$$a""#) && unit.contains("\nOOMPolicy=continue\n"), "\(unit)")
    }

    @Test("a worker that can do nothing without a person ends in a way that the unit is not started again for")
    func forPerson() async throws {
      try Data("just a text, no database, but long enough to be looked at".utf8).write(
        to: URL(fileURLWithPath: durable.store))
      let ended = try await durable("work")
      let unit = ServiceFile(name: "durable", words: ["/bin/echo"], log: "/l").unit
      let final = try #require(unit.firstMatch(of: /RestartPreventExitStatus=(.*)\n/)).1.split(separator: " ").map {
        Int32($0)
      }
      #expect(ended.status == .exited(6))
      #expect(final == [2, 6])
    }

    @Test("the agent is a property list with the same words")
    func agent() throws {
      let file = ServiceFile(name: "durable", words: ["/a&b"] + Self.odd, log: "/l<g")
      let list = try #require(
        try PropertyListSerialization.propertyList(from: Data(file.agent.utf8), format: nil) as? [String: Any])
      #expect(list["Label"] as? String == "durable-jobs.durable")
      #expect(list["ProgramArguments"] as? [String] == ["/a&b"] + Self.odd)
      #expect(list["StandardErrorPath"] as? String == "/l<g")
      #expect(list["RunAtLoad"] as? Bool == true)
    }

    #if os(Linux)
      private func run(
        _ arguments: String..., in environment: [Environment.Key: String?]
      ) async throws -> Durable.Outcome {
        try await durable.run(arguments.map { Array($0.utf8) }, environment: environment)
      }

      @Test("a unit of that name that is another's is neither replaced nor deleted")
      func foreignUnit() async throws {
        let elsewhere = durable.folder + "/elsewhere.service"
        let environment = try durable.environment(
          systemctl: "case \"$*\" in *FragmentPath*) cat '\(durable.folder)/fragment' 2> /dev/null;; esac; exit 0")
        let path = durable.folder + "/config/systemd/user/backup.service"
        try FileManager.default.createDirectory(
          atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        for file in [path, elsewhere] { try Data("[Service]\n".utf8).write(to: URL(filePath: file)) }
        for verb in ["install", "remove"] {
          let refused = try await run("service", verb, "--name", "backup", in: environment)
          #expect(refused.status == .exited(2) && refused.stderr.contains("\(path) is not of this program"))
          #expect(try String(contentsOfFile: path, encoding: .utf8) == "[Service]\n")
        }
        try Data((elsewhere + "\n").utf8).write(to: URL(filePath: durable.folder + "/fragment"))
        let refused = try await run("service", "install", "--name", "other", in: environment)
        #expect(refused.status == .exited(2) && refused.stderr.contains("\(elsewhere) is not of this program"))
        #expect(!FileManager.default.fileExists(atPath: durable.folder + "/config/systemd/user/other.service"))
        let asked = try String(contentsOfFile: durable.folder + "/asked", encoding: .utf8)
        #expect(!asked.contains("able") && !asked.contains("restart"), "\(asked)")
      }

      @Test("install writes a unit whose command works on the store, and remove takes it away")
      func install() async throws {
        let environment = try durable.environment(systemctl: "test \"$2\" = is-active && echo active; exit 0")
        let installed = try await run("service", "install", "--concurrency", "3", in: environment)
        #expect(installed.status == .exited(0), "\(installed.stderr)")
        #expect(installed.text == "durable: active\n")
        let path = durable.folder + "/config/systemd/user/durable.service"
        let unit = try String(contentsOfFile: path, encoding: .utf8)
        let asked = try String(contentsOfFile: durable.folder + "/asked", encoding: .utf8)
        #expect(asked.contains("--user daemon-reload\n--user enable durable.service\n--user restart durable.service\n"))
        // The line works as it stands there.
        let line = try #require(unit.split(separator: "\n").first { $0.hasPrefix("ExecStart=") }).dropFirst(10)
        let id = try await durable.add("--", "true")
        let ran = try await durable.shell("\(line) --drain")
        #expect(ran.status == .exited(0), "\(ran.stderr)")
        #expect(try await durable.state(id) == "succeeded")
        #expect(try await run("service", "status", "--json", in: environment).json["state"] as? String == "active")
        #expect(try await run("service", "remove", in: environment).text == "durable: not installed\n")
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(try await run("service", "status", in: environment).status == .exited(1))
        #expect(try await run("service", "remove", in: environment).status == .exited(3))
      }

      /// A user's systemd needs a `/run` of its own, as this test gives it, and somebody who may do that.
      private static let canRunSystemd =
        getuid() == 0
        && ["/lib/systemd/systemd", "/usr/bin/systemctl", "/usr/bin/unshare"].allSatisfy {
          FileManager.default.isExecutableFile(atPath: $0)
        }

      @Test(
        "under systemd itself it works, is started again after a kill, and is gone when it is removed",
        .enabled(if: canRunSystemd, "needs root and systemd"))
      func systemd() async throws {
        let script = #"""
          set -e
          mount -t tmpfs none /run
          mkdir -p /run/systemd/system
          mkdir -m 700 -p /run/user/0 home
          export XDG_RUNTIME_DIR=/run/user/0 HOME=$PWD/home XDG_CONFIG_HOME=$PWD/home/config
          /lib/systemd/systemd --user --unit=basic.target > systemd.log 2>&1 &
          manager=$!
          trap 'kill $manager; wait $manager || true' EXIT
          until [ -S /run/user/0/systemd/private ]; do kill -0 $manager; sleep 0.02; done
          systemctl --user is-system-running --wait > /dev/null || true
          "$DURABLE" service install
          "$DURABLE" add -- true
          "$DURABLE" wait 1 > /dev/null
          kill -9 $(systemctl --user show durable --property MainPID --value)
          "$DURABLE" add -- true
          "$DURABLE" wait 2 > /dev/null
          systemctl --user show durable --property NRestarts
          "$DURABLE" service remove
          "$DURABLE" service status || true
          "$DURABLE" status 2>&1 | grep Workers
          """#
        let outcome = try await durable.shell("unshare --mount bash -c \"$SCRIPT\"", environment: ["SCRIPT": script])
        #expect(
          outcome.text == """
            durable: active
            1
            2
            NRestarts=1
            durable: not installed
            durable: not installed
            Workers: none

            """, "\(outcome.stderr)")
      }

      @Test("a system that does not answer is not waited for, and nothing is written")
      func deaf() async throws {
        let environment = try durable.environment(systemctl: "exec sleep 1000")
        let path = environment.compactMap { $0.key == "PATH" ? $0.value : nil }[0]
        let manager = ServiceManager(
          environment: ["PATH": path, "XDG_CONFIG_HOME": durable.folder], patience: .milliseconds(200))
        let file = ServiceFile(name: "durable", words: ["/bin/echo"], log: "/l")
        func refusal(_ ask: () async throws -> Void) async -> String {
          do { try await ask() } catch { return (error as? JobError)?.message ?? "\(error)" }
          return "none"
        }
        let refusals = [
          await refusal { try await manager.check(file) }, await refusal { try await manager.enable(file) },
          await refusal { try await manager.disable(file) },
        ]
        #expect(refusals.allSatisfy { $0.contains("did not answer within 0.2 s") }, "\(refusals)")
        #expect(await manager.state(of: file) == nil)
      }

      @Test("a system that is killed while it is asked is told of in words")
      func killed() async throws {
        let environment = try durable.environment(systemctl: "kill -9 $$")
        let installed = try await run("service", "install", in: environment)
        #expect(installed.status == .exited(5))
        #expect(
          installed.stderr.contains("'systemctl --user daemon-reload' failed: killed by signal 9 (SIGKILL)"),
          "\(installed.stderr)")
      }

      @Test("a system that refuses is quoted, and the unit stays for a person")
      func refused() async throws {
        let environment = try durable.environment(systemctl: "echo 'Failed to connect to bus' >&2; exit 1")
        let installed = try await run("service", "install", in: environment)
        #expect(installed.status == .exited(5))
        #expect(installed.stderr.contains("is written, but it does not work yet"))
        #expect(installed.stderr.contains("Failed to connect to bus"))
        let removed = try await run("service", "remove", in: environment)
        #expect(removed.status == .exited(5) && removed.stderr.contains("is deleted, and more was not done"))
        #expect(try await run("service", "remove", in: environment).status == .exited(3), "its file is gone")
        #expect(try await run("service", "install", "--print", in: environment).text.hasPrefix("[Unit]\n"))
      }
    #endif
  }

  #if os(Linux)
    extension Durable {
      /// A `systemctl` that notes what it was asked, and answers `answer`.
      func environment(systemctl answer: String) throws -> [Environment.Key: String?] {
        let bin = folder + "/bin"
        try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
        let script = "#!/bin/sh\necho \"$@\" >> '\(folder)/asked'\n\(answer)\n"
        #expect(
          FileManager.default.createFile(
            atPath: bin + "/systemctl", contents: Data(script.utf8), attributes: [.posixPermissions: 0o755]))
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return ["PATH": bin + ":" + path, "XDG_CONFIG_HOME": folder + "/config"]
      }
    }
  #endif
#endif
