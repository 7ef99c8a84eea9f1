#if Shell
  import DurableJobs
  import Foundation

  /// Lines on their way out. Who adds one does not wait: while nobody reads them they are kept, and from some number of
  /// bytes on dropped; how many is said when all that was kept is out. One that finds none before it is kept, however long.
  final class LineQueue: Sendable {
    private struct State {
      /// Bytes, and lines, that are not out yet.
      var waiting = 0
      var lines = 0
      var written = 0
      var dropped = 0
      /// What was written when it was not waited for any more.
      var abandonedAt: Int?
    }

    /// What may wait: many thousands of lines.
    static let capacity = 1 << 20
    /// How long a reader may stand still before the end does not wait for it.
    private static let patience = 1.0

    private let state = Lock(State())
    private let capacity: Int
    private let queue = DispatchQueue(label: "durable.lines")
    private let write: @Sendable (Data) -> Void
    private let tellOfMissing: @Sendable (Int) -> Void

    init(
      capacity: Int = LineQueue.capacity, write: @escaping @Sendable (Data) -> Void,
      tellOfMissing: @escaping @Sendable (Int) -> Void
    ) {
      self.capacity = capacity
      self.write = write
      self.tellOfMissing = tellOfMissing
    }

    func add(_ line: Data) {
      let isTaken = state.withLock { state in
        guard state.lines == 0 || state.dropped == 0 && state.waiting + line.count <= capacity else {
          state.dropped += 1
          return false
        }
        state.waiting += line.count
        state.lines += 1
        return true
      }
      if isTaken { queue.async { self.put(line) } }
    }

    /// Waits until all is out, as long as something still goes out from time to time, or `mustWait` says so. For who has been
    /// waited for in vain, nobody waits again. Returns how many lines nobody will read.
    @discardableResult
    func finish(while mustWait: () -> Bool = { false }) -> Int {
      var written = -1
      while state.withLock({ $0.abandonedAt != $0.written }) {
        let isOut = DispatchSemaphore(value: 0)
        queue.async { isOut.signal() }
        if isOut.wait(timeout: .now() + Self.patience) == .success { return 0 }
        let now = state.withLock { $0.written }
        if now == written, !mustWait() { state.withLock { $0.abandonedAt = now } }
        written = now
      }
      return state.withLock { $0.lines + $0.dropped }
    }

    private func put(_ line: Data) {
      write(line)
      let missing = state.withLock { state in
        state.waiting -= line.count
        state.lines -= 1
        state.written += line.count
        guard state.waiting == 0 else { return 0 }
        defer { state.dropped = 0 }
        return state.dropped
      }
      if missing > 0 { tellOfMissing(missing) }
    }
  }
#endif
