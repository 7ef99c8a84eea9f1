#if Process
  import DurableJobs
  import Foundation

  /// A command's lock: no other run of it begins while anything of it lives, whichever other processes have died.
  ///
  /// The processes that the command starts inherit the lock, and most hold it until they end. Some programs close what
  /// they inherit, so a free lock proves nothing while the ``CommandHolder`` named in its file lives. The supervisor
  /// has a second lock, which no process inherits and none closes.
  package struct CommandLock: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// How long a group has between being asked to end and being killed, and then to be gone.
    package static let termination = Duration.seconds(5)

    /// Takes the lock for this process and what it becomes: the descriptor survives `exec`. False if it is held, or if
    /// this process has lost its supervisor: then nothing would end the command.
    ///
    /// Who this is, is asked once the lock is held: whoever found it free before that knew the supervisor to be dead.
    func take(as holder: @autoclosure () throws -> CommandHolder? = .thisProcess) throws -> Bool {
      let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard opened >= 0 else { throw Refusal("can't open \(path)") }
      defer { close(opened) }
      // Avoids the low numbers, which scripts use for their own files, if others are available.
      var file: Int32 = -1
      for least: Int32 in [100, 30, 10, 3] where file < 0 { file = fcntl(opened, F_DUPFD, least) }
      guard file >= 0 else { throw Refusal("can't keep \(path) open") }
      var isTaken = false
      defer { if !isTaken { close(file) } }
      guard try Descriptors.lock(file, path), Self.holder(file)?.lives() != true, var holder = try holder() else {
        return false
      }
      holder.file = Self.identity(of: file)
      let data = try JSONEncoder().encode(holder)
      guard ftruncate(file, 0) == 0,
        data.withUnsafeBytes({ pwrite(file, $0.baseAddress, $0.count, 0) }) == data.count
      else { throw Refusal("can't write \(path)") }
      isTaken = true
      return true
    }

    /// Takes the lock that shows, until this process ends, that a supervisor is at work, even to processes that can't
    /// see it from another PID namespace. False if another supervisor holds it.
    func takeForSupervisor() throws -> Bool {
      let file = open(supervisorPath, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw Refusal("can't open \(supervisorPath)") }
      var isTaken = false
      defer { if !isTaken { close(file) } }
      isTaken = try Descriptors.lock(file, supervisorPath)
      return isTaken
    }

    private var supervisorPath: String { path + ".supervisor" }

    private var hasSupervisor: Bool {
      let file = open(supervisorPath, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return false }
      defer { close(file) }
      return flock(file, LOCK_SH | LOCK_NB) != 0 && [EWOULDBLOCK, EINTR].contains(errno)
    }

    /// Whether nothing of the command lives. Throws if that can't be known. With a `supervisor`: nothing besides it.
    ///
    /// A lock that is found to be free forgets its holder, whose numbers may be reused later.
    package func isFree(besides supervisor: pid_t? = nil) throws -> Bool {
      if supervisor == nil, hasSupervisor { return false }
      let file = open(path, O_RDWR | O_CLOEXEC)
      guard file >= 0 else {
        if errno == ENOENT { return true }
        throw Refusal("can't open \(path)")
      }
      defer { close(file) }
      guard flock(file, LOCK_SH | LOCK_NB) == 0 else {
        if errno == EWOULDBLOCK || errno == EINTR { return false }
        throw Refusal(noLock: path)
      }
      guard let holder = Self.holder(file) else { return true }
      guard !holder.lives(besides: supervisor) else { return false }
      // Only processes in another PID namespace know what lives in it. Another process may have come before the lock
      // was changed, or strays may have been found.
      if holder.isOfThisSpace, flock(file, LOCK_EX | LOCK_NB) == 0, let same = Self.holder(file), same == holder,
        same.strays == holder.strays
      {
        ftruncate(file, 0)
      }
      return true
    }

    /// Waits until nothing of the command lives, at most for `limit`. Returns whether that is so.
    package func waitUntilFree(for limit: Duration) async -> Bool {
      await Self.wait(for: limit) { isKnownToBeFree }
    }

    /// Ends the holder found first: TERM, and KILL after `limit`. Returns whether nothing lives then. A later holder is
    /// left alone: this worker may have been stopped meanwhile, and its job claimed by another.
    package func endHolder(within limit: Duration = termination) async -> Bool {
      // A launcher that has taken the lock may not have written its name yet.
      var first = holder
      if first == nil {
        await Self.wait(for: .seconds(1)) {
          first = holder
          return first != nil || isKnownToBeFree
        }
      }
      return await end(first, within: limit)
    }

    /// Ends that holder, and no other.
    func end(_ holder: CommandHolder?, within limit: Duration = termination) async -> Bool {
      var strays = CommandStrays()
      holder?.find(&strays, holding: path)
      if let holder { note(strays) { $0 == holder } }
      // A supervisor passes on only the first TERM, and may have sent one, since its worker is gone.
      let isSupervised = holder?.askLeader(if: hasSupervisor) ?? false
      if !isSupervised { holder?.send(SIGTERM, holding: path) }
      let half = SuspendingClock.now + limit / 2
      let haveEnded = await Self.wait(for: limit) {
        if !isSupervised, let holder { strays.ask(afterSession: holder.session.number) }
        if !isSupervised, SuspendingClock.now >= half { strays.ask() }
        return strays.living.isEmpty && isKnownToBeFree
      }
      if haveEnded { return true }
      return await killHolder(and: strays, within: limit) { $0 == holder }
    }

    /// Kills such a holder and its strays, and waits until nothing lives. Returns whether that is so.
    func killHolder(
      and strays: CommandStrays = CommandStrays(), within limit: Duration = termination,
      where isMeant: (CommandHolder) -> Bool
    ) async -> Bool {
      var strays = strays
      // A launcher that has taken the lock but not yet written that is found in the next round.
      return await Self.wait(for: limit) {
        if strays.living.isEmpty, isKnownToBeFree { return true }
        if let holder, isMeant(holder) {
          holder.find(&strays, holding: path)
          note(strays, of: isMeant)
          holder.send(SIGKILL, holding: path)
        }
        strays.send(SIGKILL)
        return false
      }
    }

    /// Writes the strays of such a holder beside it: while one of them lives, nothing begins under this lock, even if
    /// all others who knew of them have died.
    func note(_ strays: CommandStrays, of isMeant: (CommandHolder) -> Bool) {
      let living = strays.living
      guard !living.isEmpty else { return }
      let file = open(path, O_RDWR | O_CLOEXEC)
      guard file >= 0 else { return }
      defer { close(file) }
      // Others who look meanwhile find it held, by the command if not by this.
      flock(file, LOCK_EX | LOCK_NB)
      // As the command holds it, another may write at the same time: who comes first looks whether its own are left.
      for _ in 0..<Self.mostStrays {
        guard var holder = Self.holder(file), isMeant(holder) else { return }
        let known = (holder.strays ?? []).filter(\.lives)
        let all = Array((known + living.filter { !known.contains($0) }).prefix(Self.mostStrays))
        guard all != holder.strays else { return }
        holder.strays = all
        guard var data = try? JSONEncoder().encode(holder) else { return }
        // A single write, padded with spaces, and always as long: whenever it is read, whoever else writes, and whenever
        // this process dies, it names the holder.
        data += Data(repeating: UInt8(ascii: " "), count: max(0, Self.mostBytes - data.count))
        _ = data.withUnsafeBytes { pwrite(file, $0.baseAddress, $0.count, 0) }
      }
    }

    /// How many are written down. All of them are waited for, and a few keep a lock as well as many.
    static let mostStrays = 100
    private static let mostBytes = 16 * 1024

    /// The processes that keep it from being free: those of the command that live, and those that have inherited the
    /// lock, as far as this process may see them.
    var processes: [pid_t] {
      var file = stat()
      guard stat(path, &file) == 0 else { return [] }
      return Set(ProcessEntry.holders(of: file) + (holder?.living ?? [])).filter { $0 != getpid() }.sorted()
    }

    private var isKnownToBeFree: Bool { (try? isFree()) ?? false }

    /// Time in which the machine is suspended does not count, as it does for nobody who is to end. Polls, with growing pauses:
    /// these processes are not children of this one, and nothing reports their end. Waits
    /// even if the task was cancelled: above all then, the end of a command is waited for.
    @discardableResult
    static func wait(for limit: Duration, until condition: () -> Bool) async -> Bool {
      let end = SuspendingClock.now + limit
      var pauses = LookPauses()
      while !condition() {
        if SuspendingClock.now >= end { return false }
        let pause = pauses.next()
        await withCheckedContinuation { continuation in
          DispatchQueue.global().asyncAfter(deadline: .now() + pause.seconds) { continuation.resume() }
        }
      }
      return true
    }

    var holder: CommandHolder? {
      let file = open(path, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      return Self.holder(file)
    }

    private static func holder(_ file: Int32) -> CommandHolder? {
      var bytes = [UInt8](repeating: 0, count: mostBytes)
      let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, 0) }
      guard count > 0, let holder = try? JSONDecoder().decode(CommandHolder.self, from: Data(bytes.prefix(count))),
        holder.file == nil || number(of: holder.file) == number(of: identity(of: file))
      else { return nil }
      return holder
    }

    /// Of a file, and of its device the number counts alone. A device has another when its volume is mounted anew, and then a
    /// living command would look like none: a second one would begin beside it. The other error takes a copy on another
    /// device, whose file happens to have the same number, for the original: there a job waits for a command that is not its
    /// own, or ends it, but no two run. It is the rarer one, too.
    private static func number(of identity: String?) -> Substring? { identity?.split(separator: ":").last }

    private static func identity(of file: Int32) -> String? {
      var status = stat()
      return fstat(file, &status) == 0 ? "\(status.st_dev):\(status.st_ino)" : nil
    }
  }

  /// The pauses between polls.
  struct LookPauses {
    private var pause = Duration.milliseconds(1)

    mutating func next() -> Duration {
      defer { pause = min(pause * 2, .milliseconds(100)) }
      return pause
    }
  }
#endif
