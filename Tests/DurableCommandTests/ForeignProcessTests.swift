#if Shell
  import Foundation
  import TestProcesses
  import Testing

  private let canBecomeOthers: Bool = {
    #if os(Linux)
      geteuid() == 0 && ["setpriv", "unshare"].allSatisfy { access("/usr/bin/\($0)", X_OK) == 0 }
    #else
      false
    #endif
  }()

  /// Commands of which something becomes another user's, as by `sudo`: who runs them may not end it.
  @Suite(.enabled(if: canBecomeOthers, "needs Linux, root, and setpriv and unshare in /usr/bin"))
  struct ForeignProcessTests {
    enum Way: String, CaseIterable {
      case stray, hiddenStray, hiddenInGroup

      var isHidden: Bool { self != .stray }
      var start: String { self == .hiddenInGroup ? "" : "setsid" }
    }

    private let durable: Durable
    private let said: Fifo

    init() throws {
      durable = try Durable()
      said = try Fifo(in: durable)
      chmod(said.path, 0o666)
    }

    /// The words that run others as a user who may do nothing, and to whom those of others may be hidden.
    private func nobody(isHidden: Bool) -> String {
      let user = "setpriv --reuid=65534 --regid=65534 --clear-groups"
      let hide = "mount -t proc -o hidepid=invisible proc /proc"
      return isHidden ? "unshare -m sh -c '\(hide) && exec \(user) \"$@\"' sh" : user
    }

    /// A command that waits for `line`, and succeeds when it is run again.
    private func prepare(_ line: String) async throws {
      let other = """
        #!/bin/bash
        for f in /proc/self/fd/*; do f=${f##*/}; [ "$f" -gt 2 ] && eval "exec $f>&-"; done 2>/dev/null
        exec > /dev/null 2>&1
        echo $$ > said
        exec "$@"
        """
      let command = "#!/bin/bash\necho run >> runs\ntest -e again && exit 0\ntouch again\n\(line) & wait\n"
      for (name, text) in [("other", other), ("command", command)] {
        try Data(text.utf8).write(to: URL(filePath: durable.folder + "/" + name))
      }
      let made = try await durable.shell(
        """
        cp /usr/bin/setpriv become; cp "$(command -v sleep)" slow; chmod 4755 become slow
        chmod 755 other command .; chown 65534 .
        """)
      try #require(made.status == .exited(0), "\(made.stderr)")
    }

    /// Has it begin under a worker that is killed, and its supervisor do what it can. Returns who has strayed.
    private func begin(_ nobody: String) async throws -> (id: Int, pid_t) {
      let added = try await durable.shell("\(nobody) $DURABLE add -- ./command")
      let id = try #require(Int(added.line), "\(added.stderr)")
      let worker = try ChildProcess(
        "/bin/sh", ["-c", "exec \(nobody) '\(durable.program)' work --store '\(durable.store)'"])
      let other = try #require(pid_t(await said.said()))
      let lock = open("\(durable.store)-jobs/\(id)/lock.supervisor", O_RDONLY | O_CLOEXEC)
      try #require(lock >= 0)
      defer { close(lock) }
      worker.send(SIGKILL)
      await onThread { while flock(lock, LOCK_SH) != 0, errno == EINTR {} }
      return (id: id, other)
    }

    private var runs: Int {
      get throws { try String(contentsOfFile: durable.folder + "/runs", encoding: .utf8).split(separator: "\n").count }
    }

    @Test(arguments: Way.allCases)
    func `what can't be ended, as another user's, keeps the command from running again until it is gone`(
      how: Way
    ) async throws {
      try await prepare("\(how.start) ./become --reuid=0 --regid=0 --clear-groups ./other sleep 600")
      let nobody = nobody(isHidden: how.isHidden)
      let (id, other) = try await begin(nobody)
      defer { kill(other, SIGKILL) }
      #expect(try await durable.shell("\(nobody) $DURABLE work --drain").status == .exited(0))
      #expect(try runs == 1)
      #expect(kill(other, 0) == 0)
      let shown = try await durable.shell("\(nobody) $DURABLE show \(id)").text
      #expect(shown.contains("suspended") && shown.contains("still lives"), "\(shown)")
      if how != .hiddenInGroup {
        let owner = how.isHidden ? "another user" : "root"
        #expect(shown.contains("process \(other) (of \(owner))"), "\(shown)")
      }
      let cancelled = try await durable.shell("\(nobody) $DURABLE cancel \(id)")
      #expect(cancelled.status == .exited(1))
      #expect(cancelled.line.hasPrefix("job \(id) cancelled, but ") && cancelled.line.contains("still lives"))
      #expect(try await durable.shell("\(nobody) $DURABLE explain \(id)").text.contains("still lives"))
      kill(other, SIGKILL)
      await until { kill(other, 0) != 0 || isZombie(other) }
      let again = try await durable.shell("\(nobody) $DURABLE retry \(id) && \(nobody) $DURABLE work --drain")
      #expect(again.status == .exited(0), "\(again.stderr)")
      #expect(try runs == 2)
    }

    @Test func `where the table of processes is another container's, a command is not begun, and why is told`()
      async throws
    {
      let id = try await durable.add("--", "true")
      let outcome = try await durable.shell("unshare --pid --fork --kill-child \"$DURABLE\" work --drain")
      #expect(outcome.status == .exited(0), "\(outcome.stderr)")
      let shown = try await durable("show", "\(id)").text
      #expect(shown.contains("suspended") && shown.contains("/proc is not that of this worker"), "\(shown)")
    }

    @Test func `what may be ended is, also where it is not shown`() async throws {
      try await prepare("(trap '' TERM; exec ./other ./slow 600)")
      let nobody = nobody(isHidden: true)
      let (_, other) = try await begin(nobody)
      await until { kill(other, 0) != 0 || isZombie(other) }
      #expect(try await durable.shell("\(nobody) $DURABLE work --drain").status == .exited(0))
      #expect(try runs == 2)
    }
  }
#endif
