import DurableJobs
import Foundation

/// The line in which the processes that write one database stand, because SQLite's own waiting is not fair.
///
/// One thread of a process takes and gives back. The system keeps the line, and frees the turn if its holder dies.
/// It is a courtesy, not a lock: who does not get it in time may try without.
package final class WriterTurn: Sendable {
  private let line: TurnLine

  package init(folder: MeetingFolder) throws {
    let path = folder.path + "/turn"
    guard let file = FileLock.open(path, creating: O_CREAT) else {
      throw JobError(
        .unusableFile, "\(path) can't be opened (\(SystemError.words())). It must be writable.")
    }
    line = TurnLine(file: file)
  }

  /// Whether it is this process's turn now, after a wait of at most that long. Without a wait if nobody has it.
  package func take(within patience: Duration) -> Bool { line.take(within: patience) }

  /// Lets the next have it. Does nothing if it was not had.
  package func giveBack() { line.giveBack() }

  deinit { line.end() }
}

/// The turn's file and the thread that stands in line, which may outlive the turn: a wait for a lock can't be broken off.
private final class TurnLine: Sendable {
  private struct State {
    /// Taken, and not given back.
    var isHeld = false
    /// The thread stands in line. From then until it is through, it alone touches the lock.
    var isInLine = false
    /// A caller waits for what the thread gets.
    var isWanted = false
    var hasThread = false
    var hasEnded = false
  }

  private let file: Descriptor
  private let state = Lock(State())
  private let errand = DispatchSemaphore(value: 0)
  private let outcome = DispatchSemaphore(value: 0)

  init(file: Descriptor) { self.file = file }

  func take(within patience: Duration) -> Bool {
    let deadline = DispatchTime.now() + patience.seconds
    let atOnce = state.withLock { state -> Bool? in
      if state.isHeld { return true }
      if !state.isInLine {
        if FileLock.take(file) {
          state.isHeld = true
          return true
        }
        guard errno == EWOULDBLOCK, patience > .zero else { return false }
        state.isInLine = true
        sendThread(&state)
      }
      state.isWanted = true
      return nil
    }
    if let atOnce { return atOnce }
    while true {
      let isLate = outcome.wait(timeout: deadline) == .timedOut
      // The signal may be an old one, of a turn that came as its caller gave up.
      let answer = state.withLock { state -> Bool? in
        if state.isHeld { return true }
        guard isLate || !state.isInLine else { return nil }
        state.isWanted = false
        return false
      }
      if let answer { return answer }
    }
  }

  func giveBack() {
    state.withLock { state in
      guard state.isHeld else { return }
      state.isHeld = false
      FileLock.giveBack(file)
    }
  }

  func end() {
    giveBack()
    state.withLock { $0.hasEnded = true }
    errand.signal()
  }

  private func sendThread(_ state: inout State) {
    if !state.hasThread {
      state.hasThread = true
      let thread = Thread { [self] in standInLine() }
      thread.name = "durable-turn"
      thread.start()
    }
    errand.signal()
  }

  private func standInLine() {
    while true {
      errand.wait()
      if state.withLock({ $0.hasEnded }) { return }
      let hasTurn = FileLock.await(file)
      state.withLock { state in
        state.isInLine = false
        state.isHeld = hasTurn && state.isWanted && !state.hasEnded
        state.isWanted = false
        // Nobody wants it any more, and so nobody would give it back.
        if hasTurn && !state.isHeld { FileLock.giveBack(file) }
      }
      outcome.signal()
    }
  }
}
