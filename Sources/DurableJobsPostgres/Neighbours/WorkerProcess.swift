#if Postgres
  import DurableJobsProcess
  import Foundation

  /// A process that has workers, as others on its machine find it: its number alone may have been reused.
  struct WorkerProcess: Hashable, Sendable {
    let number: pid_t
    /// When it started, in the system's own unit.
    let start: Int64
    /// The scope in which its number and its start are meaningful, and its commands are found by their locks.
    let machine: String

    init?(number: Int64, start: Int64, machine: String) {
      guard let number = pid_t(exactly: number), number > 0 else { return nil }
      (self.number, self.start, self.machine) = (number, start, machine)
    }

    /// This one; nil if the system does not tell all of it. Commands outlive their worker for some seconds, and who has
    /// another `folder` does not see their locks: for them, it is on another machine.
    static func current(sharing folder: String? = nil) -> WorkerProcess? {
      guard var machine = currentMachine, let entry = ProcessEntry(getpid()) else { return nil }
      if let folder {
        var status = stat()
        guard stat(folder, &status) == 0 else { return nil }
        machine += " \(status.st_dev):\(status.st_ino)"
      }
      return WorkerProcess(number: Int64(getpid()), start: Int64(clamping: entry.start), machine: machine)
    }

    /// Nil if the system does not tell.
    private static var currentMachine: String? {
      guard let identity = Machine().identity else { return nil }
      #if os(Linux)
        // Starts are measured by the clock of a time namespace, if the kernel has those. And machines resumed from a
        // copy of another's memory differ by their names, if at all.
        let clock = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/time")
        return "\(identity) \(clock ?? "") \(ProcessInfo.processInfo.hostName)"
      #else
        return identity
      #endif
    }

    /// Those that have certainly ended, by this process. For another machine or container, nobody here can tell.
    func ended<Name>(of processes: [Name: WorkerProcess]) -> Set<Name> {
      Set(processes.lazy.filter { $0.value.machine == machine && $0.value.hasEnded }.map(\.key))
    }

    /// Whether it has ended, if it is of this machine. Also false if that can't be seen.
    var hasEnded: Bool {
      if kill(number, 0) != 0, errno == ESRCH { return true }
      guard let entry = ProcessEntry(number) else { return false }
      return entry.hasEnded || Int64(clamping: entry.start) != start
    }
  }
#endif
