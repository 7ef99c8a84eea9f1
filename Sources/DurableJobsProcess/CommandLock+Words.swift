#if Process
  import Foundation

  extension CommandLock {
    /// Whether a process that has strayed from its command lives. It is not a daemon.
    var hasStrays: Bool { holder?.strays?.contains(where: \.lives) ?? false }

    /// Which processes keep it from being free, whose they are if not this user's, and what helps, such as "process 12
    /// (of root) of job 3 still lives: …; end it with 'sudo kill 12'".
    package func livingWords(of whose: String, _ lives: String = "still lives") -> String {
      let processes = processes
      guard !processes.isEmpty else {
        return
          "a process of \(whose), or one that can't be told from it, \(lives): it has left its group, or is another "
          + "user's or another container's; end it"
      }
      let owners = processes.map { ProcessEntry.otherOwner(of: $0) }
      let names = zip(processes, owners).map { "\($0)" + ($1.map { " (of \($0))" } ?? "") }.joined(separator: ", ")
      guard owners.contains(where: { $0 != nil }) else {
        let kill = processes.map(\.description).joined(separator: " ")
        return "process \(names) of \(whose) \(lives): it has left its group, or can't end; end it with 'kill \(kill)'"
      }
      let number = zip(processes, owners).first { $1 != nil }?.0 ?? 0
      return "process \(names) of \(whose) \(lives), and this user may not end it; end it with 'sudo kill \(number)'"
    }
  }

  extension ProcessEntry {
    /// The name of the process's owner if that is not this user; a general phrase if the system does not tell.
    static func otherOwner(of number: pid_t) -> String? {
      guard kill(number, 0) != 0, errno == EPERM else { return nil }
      var status = stat()
      guard ProcessEntry(number) != nil, stat("/proc/\(number)", &status) == 0 else { return "another user" }
      return getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "user \(status.st_uid)"
    }
  }
#endif
