#if Shell
  import DurableJobs
  import Foundation
  import Subprocess
  import Testing

  @testable import DurableJobsSQLite
  @testable import durable

  @Suite("Constraints at the shell")
  struct ConstraintTests {
    let durable: Durable

    init() throws { durable = try Durable() }

    @Test("what is required and set by hand runs in a worker that is there, and is shown")
    func byHand() async throws {
      let id = try await durable.add("--requires", "office-hours", "--", "echo", "open")
      let listed = try await durable("constraint")
      #expect(listed.line == "office-hours  no worker provides it, required by 1 job")
      #expect(try await durable("show", "\(id)").text.contains("requires   office-hours"))
      #expect(try await durable.job(id)["requires"] as? [String] == ["office-hours"])
      let drained = try await durable("work", "--drain")
      #expect(drained.status == .exited(0))
      #expect(drained.stderr.contains("Left: 1 ready, which require office-hours"), "\(drained.stderr)")
      let durable = durable
      _ = try await durable.work { worker in
        let other = try await durable.add("--", "true")
        try await worker.says("ended", other)
        let status = try await durable("status").stderr
        #expect(status.contains("office-hours: no worker provides it, required by 1 job"), "\(status)")
        #expect(try await durable.state(id) == "ready")
        let set = try await durable("constraint", "set", "office-hours", "yes")
        #expect(set.line == "office-hours: holds, set by hand, required by 1 job")
        try await worker.says("ended", id)
        let lines = try await durable("constraint", "list").text
        for line in ["diskSpace", "externalPower", "network", "office-hours   holds, set by hand"] {
          #expect(lines.contains(line), "\(lines)")
        }
      }
      #expect(try await durable.state(id) == "succeeded")
      let cleared = try await durable("constraint", "set", "office-hours", "clear", "--json").json
      #expect(cleared["set"] is NSNull)
      #expect(try await durable("constraint", "list", "--json").text == "[]\n")
    }

    @Test(
      "a running command ends when what it requires is set not to hold, and runs again when it is left to the worker")
    func interrupted() async throws {
      let fifo = try Fifo(in: durable)
      try await durable("constraint", "set", "vpn", "yes")
      let id = try await durable.add(
        "--requires", "vpn", "--interrupt-when-lost", "--shell", "--",
        "echo begun > \(fifo.path); test -e \(durable.folder)/calm || exec sleep 1000")
      let durable = durable
      _ = try await durable.work { worker in
        #expect(await fifo.said() == "begun")
        try await durable("constraint", "set", "vpn", "no")
        try await worker.says("ended", id)
        let job = try await durable.job(id)
        #expect(job["state"] as? String == "ready")
        #expect(job["attempt"] as? Int == 0)
        #expect(FileManager.default.createFile(atPath: durable.folder + "/calm", contents: nil))
        try await durable("constraint", "set", "vpn", "yes")
        #expect(await fifo.said() == "begun")
        #expect(try await durable("wait", "\(id)").status == .exited(0))
      }
      #expect(try await durable.job(id)["attempt"] as? Int == 1)
    }

    @Test("names and values that are none are refused")
    func refusals() async throws {
      #expect(try await durable("constraint", "set", "", "yes").status == .exited(2))
      #expect(try await durable("constraint", "set", "a", "perhaps").status == .exited(2))
      #expect(try await durable("add", "--requires", "", "--", "true").status == .exited(2))
      #expect(try await durable("constraint").line == "nothing is required, set or provided")
      #expect(!FileManager.default.fileExists(atPath: durable.store))
    }

    @Test("what keeps a job is told: what no worker provides, and what was set by hand to no")
    func told() async throws {
      let id = try await durable.add("--requires", "vpn", "--requires", "network", "--", "true")
      let missing = "waits for  vpn, which no worker provides; 'durable constraint set vpn yes' says that it holds"
      let shown = try await durable("show", "\(id)").text
      #expect(shown.contains("waits      no worker is running for it") && shown.contains(missing), "\(shown)")
      #expect(!shown.contains("network, which"))
      try await durable("constraint", "set", "vpn", "no")
      let no = "waits for vpn, which was set by hand to no; 'durable constraint set vpn yes' says that it holds"
      #expect(try await durable("explain", "\(id)").text.contains("Job \(id) \(no)"))
      _ = try await durable.run("wait", "\(id)") { [durable] program in
        try await program.says(no)
        try await durable("cancel", "\(id)")
      }
    }

    @Test(
      "a request that requires the network waits without an attempt where there is none, and is sent once there is; its loss is told",
      .enabled(if: Self.mayUnshare, "no network namespace can be made here"))
    func network() async throws {
      // In a network of its own with nothing but loopback, in which nobody answers.
      let line = """
        set -e
        ip link set lo up
        "$DURABLE" send POST http://127.0.0.1:9/ --requires network > id
        "$DURABLE" add --requires network -- sh -c 'echo online > said' > id2
        mkfifo said lines
        "$DURABLE" work > lines 2> work.err &
        worker=$!
        exec 3< lines
        "$DURABLE" add -- true > /dev/null
        "$DURABLE" wait 3
        "$DURABLE" show 1 --json > before.json
        "$DURABLE" constraint list > before.txt
        ip link add near type veth peer name far
        ip link set near up
        ip link set far up
        ip addr add 10.99.0.2/24 dev near
        ip route add default dev near
        cat said
        "$DURABLE" wait 2
        grep -m 1 'waits .*send POST' <&3
        "$DURABLE" constraint list > after.txt
        ip link set near down
        until "$DURABLE" constraint list | grep -q 'network .*does not hold'; do :; done
        kill $worker
        wait $worker || true
        """
      let outcome = try await durable.shell("timeout 120 unshare -n bash -c \(SystemQuote.quoted(line))")
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      #expect(outcome.text.contains("online\n"), "\(outcome.text)")
      func text(_ name: String) throws -> String {
        try String(contentsOfFile: durable.folder + "/" + name, encoding: .utf8)
      }
      #expect(try text("before.json").contains(#""attempt":0"#))
      #expect(try text("before.json").contains(#""state":"ready""#))
      #expect(try text("before.txt").contains("network        does not hold, required by 2 jobs"))
      #expect(try text("after.txt").contains("network        holds"))
    }

    private enum SystemQuote {
      static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: #"'\''"#) + "'" }
    }

    /// Tried once, as only that tells.
    private static let mayUnshare: Bool = {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", "command -v ip && unshare -n ip link add near type veth peer name far"]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      if process.terminationStatus != 0 { print("skipped: no network namespace can be made here (unshare, ip)") }
      return process.terminationStatus == 0
    }()
  }
#endif
