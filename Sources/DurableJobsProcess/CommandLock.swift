#if Process
  import DurableJobs
  import Foundation

  /// The lock that belongs to a command: held as long as any process lives that inherited it, whoever else has died.
  ///
  /// Its file names the process group of the command, and when that group's leader started, so that a number that the
  /// system has given to somebody else since is never mistaken for it.
  package struct CommandLock: Sendable {
    package let path: String

    package init(path: String) { self.path = path }

    /// How long a group has between being asked to end and being killed.
    package static let termination = Duration.seconds(5)
    /// How often it is looked whether the lock is free, while somebody waits for that.
    package static let interval = Duration.milliseconds(5)

    /// Takes the lock for this process and what it becomes: the descriptor survives `exec`. False if it is held.
    package func take() throws -> Bool {
      let file = open(path, O_RDWR | O_CREAT, 0o600)
      guard file >= 0 else { throw SystemError("can't open \(path)") }
      guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
        close(file)
        return false
      }
      let group = getpgrp()
      let text = "\(group) \(ProcessStart(of: group)?.stamp ?? 0)\n"
      guard ftruncate(file, 0) == 0,
        text.utf8CString.withUnsafeBytes({ pwrite(file, $0.baseAddress!, text.utf8.count, 0) }) > 0
      else { throw SystemError("can't write \(path)") }
      return true
    }

    /// Nothing of the command lives.
    package var isFree: Bool {
      let file = open(path, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return errno == ENOENT }
      defer { close(file) }
      return flock(file, LOCK_SH | LOCK_NB) == 0
    }

    /// Waits until nothing of the command lives, no longer than `limit`. Answers whether that is so.
    package func waitUntilFree(for limit: Duration) async -> Bool {
      let end = ContinuousClock.now + limit
      while !isFree {
        if ContinuousClock.now >= end { return false }
        await Self.pause()
      }
      return true
    }

    /// Ends the group that the file names: TERM, and KILL after ``termination``. Answers whether nothing lives then.
    package func endHolder() async -> Bool {
      signalHolder(SIGTERM)
      if await waitUntilFree(for: Self.termination) { return true }
      return await killHolder()
    }

    /// Ends it at once. With a `group`: only if that is what holds it, and not a run that somebody else began since.
    package func killHolder(group: pid_t? = nil) async -> Bool {
      let end = ContinuousClock.now + .seconds(1)
      // A launcher that has taken the lock and not yet written its group is met the next time round.
      repeat {
        if isFree { return true }
        signalHolder(SIGKILL, only: group)
        await Self.pause()
      } while ContinuousClock.now < end
      return isFree
    }

    /// Sleeps also where the task was cancelled: then, above all, is waited for the end of a command.
    private static func pause() async {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().asyncAfter(deadline: .now() + interval.seconds) { continuation.resume() }
      }
    }

    private func signalHolder(_ signal: Int32, only expected: pid_t? = nil) {
      guard let text = FileManager.default.contents(atPath: path).map({ String(decoding: $0, as: UTF8.self) }) else {
        return
      }
      let numbers = text.split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }
      guard numbers.count == 2, let group = pid_t(exactly: numbers[0]), group > 1, group != getpgrp(),
        expected == nil || group == expected
      else { return }
      // As long as a group lives, no process gets its number. So a process with that number which started at another
      // time means that the group is gone.
      if let leader = ProcessStart(of: group), leader.stamp != numbers[1] { return }
      kill(-group, signal)
    }
  }
#endif
