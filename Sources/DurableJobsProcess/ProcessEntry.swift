import Foundation

/// The system's process table entry of one process.
package struct ProcessEntry: Sendable {
  let number: pid_t
  let parent: pid_t
  let group: pid_t
  let session: pid_t
  /// When it started, in the system's own unit.
  package let start: UInt64
  /// It is a zombie: it has ended, and only its parent has not collected it.
  package let hasEnded: Bool

  /// Whether a process of that number exists, or a group if it is negative, visible or not.
  static func isSomeone(_ number: pid_t) -> Bool { kill(number, 0) == 0 || errno == EPERM }

  /// Sends a signal to a process, or to a group if the number is negative. What somebody has stopped would hear of TERM only
  /// when it goes on, so it goes on. Never to what 0, 1 and -1 mean to the system: this process's own group, the first process
  /// and all of them. Returns whether it was sent.
  @discardableResult
  static func send(_ signal: Int32, to number: pid_t) -> Bool {
    guard number > 1 || number < -1, kill(number, signal) == 0 else { return false }
    if signal == SIGTERM { kill(number, SIGCONT) }
    return true
  }

  /// Sends a signal to all of a session except its leader and members of the group `told`. They may start others
  /// meanwhile, so this looks a few times.
  static func send(_ signal: Int32, toSession leader: pid_t, besides told: pid_t? = nil) {
    var (all, groups): (Set<pid_t>, Set<pid_t>) = ([leader], [])
    for _ in 0..<10 {
      let others = session(leader).filter { $0.group != told && !$0.hasEnded }
      let news = others.filter { all.insert($0.number).inserted }
      // A group at once, and once: no member can start another unseen, and many take a second TERM for "at once".
      for group in Set(news.map(\.group))
      where group != leader && group > 1 && (groups.insert(group).inserted || signal == SIGKILL) {
        send(signal, to: -group)
      }
      for process in news where process.group == leader { send(signal, to: process.number) }
      if news.isEmpty { return }
    }
  }
}

extension ProcessEntry {
  /// Whether this process was started by that one, or by one that it has started, all of which live.
  package static func isAncestor(_ number: pid_t) -> Bool {
    var (next, known) = (getpid(), Set<pid_t>())
    while next > 1, known.insert(next).inserted, let entry = ProcessEntry(next) {
      if entry.number == number { return true }
      next = entry.parent
    }
    return false
  }
}

#if os(Linux)
  extension ProcessEntry {
    /// Nil if there is no such process, or none that this one may see.
    package init?(_ number: pid_t) {
      let file = open("/proc/\(number)/stat", O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      // The program's name is in parentheses and may contain anything, so fields are counted from the last one: of the bytes,
      // since a character may begin within the name and end behind it.
      let text = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
        let bytes = buffer.prefix(max(0, read(file, buffer.baseAddress, buffer.count)))
        return String(decoding: bytes.split(separator: UInt8(ascii: ")")).last ?? bytes, as: UTF8.self)
      }
      let fields = text.split(separator: " ")
      guard fields.count > 19, let parent = pid_t(fields[1]), let group = pid_t(fields[2]),
        let session = pid_t(fields[3]), let start = UInt64(fields[19])
      else { return nil }
      // A process whose first thread has ended is shown as a zombie while its other threads run.
      let isZombie = fields[0] == "Z" && (Int(fields[17]) ?? 0) <= 1
      self.init(
        number: number, parent: parent, group: group, session: session, start: start,
        hasEnded: isZombie || fields[0] == "X")
    }

    /// All processes that this one may see.
    static func all() -> [ProcessEntry] {
      guard isOfThisSpace else { return [] }
      return numbers.compactMap { ProcessEntry($0) }
    }

    /// Otherwise the system's table is that of another PID namespace, whose processes are strangers here.
    static var isOfThisSpace: Bool {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self")) == "\(getpid())"
    }

    /// Those of its children that the table does not show, such as another user's. A visible parent lists all of them.
    static func hiddenChildren(of parent: pid_t) -> [pid_t] {
      let tasks = "/proc/\(parent)/task"
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
      return threads.flatMap { thread in
        let text = FileManager.default.contents(atPath: "\(tasks)/\(thread)/children") ?? Data()
        return String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
      }.filter { ProcessEntry($0) == nil && isSomeone($0) }
    }

    /// All processes of a session, and of the group with its number, that this process may see.
    static func session(_ leader: pid_t) -> [ProcessEntry] {
      numbers.filter { getsid($0) == leader || getpgid($0) == leader }.compactMap { ProcessEntry($0) }
        .filter { $0.session == leader || $0.group == leader }
    }

    /// Those that hold a lock on this file, and not only look at it, as far as this process may see that. Where the system
    /// tells of no lock, those that have it open.
    package static func holders(of file: stat) -> [pid_t] {
      let open = numbers.filter { holds($0, file) }.sorted()
      let locking = open.filter { number in
        files(of: number, file).contains { name in
          let text = FileManager.default.contents(atPath: "/proc/\(number)/fdinfo/\(name)") ?? Data()
          return String(decoding: text, as: UTF8.self).split(separator: "\n")
            .contains { $0.hasPrefix("lock:") && $0.contains(" FLOCK ") && $0.contains(" WRITE ") }
        }
      }
      return locking.isEmpty ? open : locking
    }

    private static var numbers: [pid_t] {
      ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap { pid_t($0) }
    }

    func holds(_ file: stat) -> Bool { Self.holds(number, file) }

    private static func holds(_ number: pid_t, _ file: stat) -> Bool { !files(of: number, file).isEmpty }

    /// The descriptors by which a process has this file open.
    private static func files(of number: pid_t, _ file: stat) -> [String] {
      let folder = "/proc/\(number)/fd"
      return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { name in
        var other = stat()
        return stat("\(folder)/\(name)", &other) == 0 && (other.st_dev, other.st_ino) == (file.st_dev, file.st_ino)
      }
    }
  }
#else
  extension ProcessEntry {
    /// Nil if there is no such process.
    package init?(_ number: pid_t) {
      guard let entry = Self.ask(KERN_PROC_PID, number).first else { return nil }
      self = entry
    }

    static func all() -> [ProcessEntry] { ask(KERN_PROC_ALL, 0) }

    static var isOfThisSpace: Bool { true }

    /// All are shown.
    static func hiddenChildren(of parent: pid_t) -> [pid_t] { [] }

    static func session(_ leader: pid_t) -> [ProcessEntry] {
      all().filter { $0.group == leader || $0.session == leader }
    }

    /// Not looked up here.
    func holds(_ file: stat) -> Bool { false }
    package static func holders(of file: stat) -> [pid_t] { [] }

    private static func ask(_ what: Int32, _ number: pid_t) -> [ProcessEntry] {
      var question = [CTL_KERN, KERN_PROC, what, number]
      var size = 0
      guard sysctl(&question, 4, nil, &size, nil, 0) == 0 else { return [] }
      // More may be added in between.
      var table = [kinfo_proc](repeating: kinfo_proc(), count: size / MemoryLayout<kinfo_proc>.stride + 16)
      size = table.count * MemoryLayout<kinfo_proc>.stride
      guard sysctl(&question, 4, &table, &size, nil, 0) == 0 else { return [] }
      return table.prefix(size / MemoryLayout<kinfo_proc>.stride).map { entry in
        let start = entry.kp_proc.p_un.__p_starttime
        return ProcessEntry(
          number: entry.kp_proc.p_pid, parent: entry.kp_eproc.e_ppid, group: entry.kp_eproc.e_pgid,
          session: getsid(entry.kp_proc.p_pid), start: UInt64(start.tv_sec) * 1_000_000 + UInt64(start.tv_usec),
          hasEnded: Int32(entry.kp_proc.p_stat) == SZOMB)
      }
    }
  }
#endif
