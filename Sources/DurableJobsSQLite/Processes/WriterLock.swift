import DurableJobs
import Foundation

/// A lock that processes writing one database take in order of arrival, because SQLite's own waiting is not fair.
///
/// One thread of a process takes and releases it. The system keeps the order, and releases the lock if its owner dies.
/// It is only a courtesy: a writer that does not get it in time may go ahead without, and does so at once as long as the
/// one that it waited for has it, which may have been stopped.
package final class WriterLock: Sendable {
  private struct State {
    var isTaken = false
    /// The thread waits, and until it is done it alone uses the lock.
    var isWaiting = false
    /// A caller waits for the thread's result.
    var isWanted = false
    var hasThread = false
    var hasEnded = false
  }

  private let file: Descriptor
  private let state = Lock(State())
  private let errand = DispatchSemaphore(value: 0)
  /// Two connected sockets: a byte means that the thread has a result. On Linux, a semaphore waits by the calendar.
  private let outcome: Descriptor
  private let ear: Descriptor

  package init(folder: MeetingFolder) throws {
    let path = folder.path + "/turn"
    guard let file = FileLock.file(at: path, creating: O_CREAT) else {
      throw JobError(.unusableFile, "\(path) can't be opened (\(SystemError.words())). It must be writable.")
    }
    self.file = file
    (outcome, ear) = try UnixSocket.pair()
  }

  /// Whether this process has it. Waits for at most that long for somebody who has it and gives no sign of work; not at all
  /// if nobody has it.
  package func take(within patience: Duration) -> Bool {
    let atOnce = state.withLock { state -> Bool? in
      if state.isTaken { return true }
      if state.isWaiting { return false }
      if FileLock.take(file) {
        state.isTaken = true
        return true
      }
      guard errno == EWOULDBLOCK, patience > .zero else { return false }
      (state.isWaiting, state.isWanted) = (true, true)
      sendThread(&state)
      return nil
    }
    if let atOnce { return atOnce }
    let clock = SystemClock()
    var sign = FileStat(file)?.modified
    var deadline = clock.uptime + patience
    while true {
      var waiting = pollfd(fd: ear.number, events: Int16(POLLIN), revents: 0)
      let isTimedOut = poll(&waiting, 1, Int32(clamping: max(deadline - clock.uptime, .zero).milliseconds)) == 0
      _ = UnixSocket.receive(from: ear)
      let isLate = isTimedOut && sign == FileStat(file)?.modified
      if isTimedOut {
        sign = FileStat(file)?.modified
        deadline = clock.uptime + patience
      }
      // The signal may be an old one, of a lock that came as its caller gave up.
      let answer = state.withLock { state -> Bool? in
        if state.isTaken { return true }
        guard isLate || !state.isWaiting else { return nil }
        state.isWanted = false
        return false
      }
      if let answer { return answer }
    }
  }

  /// Has those who wait see that this process, which has it, is at work: the file's time is the sign.
  package func showWork() { futimens(file.number, nil) }

  /// Lets the next have it. Does nothing if it was not had.
  package func giveBack() {
    state.withLock { state in
      guard state.isTaken else { return }
      state.isTaken = false
      FileLock.giveBack(file)
    }
  }

  deinit {
    giveBack()
    state.withLock { $0.hasEnded = true }
    errand.signal()
  }

  private func sendThread(_ state: inout State) {
    if !state.hasThread {
      state.hasThread = true
      // It may outlive this object, because its wait can't be interrupted.
      let thread = Thread { [file, state = self.state, errand, outcome] in
        WriterLock.wait(for: file, state, errand, outcome)
      }
      thread.name = "durable-lock"
      thread.start()
    }
    errand.signal()
  }

  private static func wait(
    for file: Descriptor, _ state: Lock<State>, _ errand: DispatchSemaphore, _ outcome: Descriptor
  ) {
    while true {
      errand.wait()
      if state.withLock({ $0.hasEnded }) { return }
      let gotIt = FileLock.await(file)
      state.withLock { state in
        state.isWaiting = false
        state.isTaken = gotIt && state.isWanted && !state.hasEnded
        state.isWanted = false
        // No caller is left that would release it.
        if gotIt && !state.isTaken { FileLock.giveBack(file) }
      }
      UnixSocket.send(0, on: outcome)
    }
  }
}
