#if Postgres
  import DurableJobsProcess
  import Foundation

  /// A process that has workers, as others of its machine find it: its number alone may be a stranger's by now.
  struct WorkerProcess: Hashable, Sendable {
    let number: pid_t
    /// When it started, in the system's own unit.
    let start: Int64
    /// Where its number and its start mean something.
    let machine: String

    init?(number: Int64, start: Int64, machine: String) {
      guard let number = pid_t(exactly: number), number > 0 else { return nil }
      (self.number, self.start, self.machine) = (number, start, machine)
    }

    /// This one; nil where the system does not tell all of it.
    static var current: WorkerProcess? {
      guard let machine = currentMachine, let entry = ProcessEntry(getpid()) else { return nil }
      return WorkerProcess(number: Int64(getpid()), start: Int64(clamping: entry.start), machine: machine)
    }

    /// Nil where the system does not tell.
    private static var currentMachine: String? {
      guard let identity = Machine().identity else { return nil }
      #if os(Linux)
        // Starts are told by the clock of a space of its own, where the kernel has such. And machines that go on from a copy
        // of one's memory differ by their names, if by anything.
        let clock = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/time")
        return "\(identity) \(clock ?? "") \(ProcessInfo.processInfo.hostName)"
      #else
        return identity
      #endif
    }

    /// Those that have ended for certain. Of another machine's, or another container's, nobody here can tell.
    static func ended<Name>(of processes: [Name: WorkerProcess]) -> Set<Name> {
      guard !processes.isEmpty, let machine = currentMachine else { return [] }
      return Set(processes.lazy.filter { $0.value.machine == machine && $0.value.hasEnded }.map(\.key))
    }

    /// Whether it has ended, if it is of this machine. False too where that can't be seen.
    var hasEnded: Bool {
      if kill(number, 0) != 0, errno == ESRCH { return true }
      guard let entry = ProcessEntry(number) else { return false }
      return entry.hasEnded || Int64(clamping: entry.start) != start
    }
  }
#endif
