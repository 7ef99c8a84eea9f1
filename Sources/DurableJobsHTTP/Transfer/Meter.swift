#if HTTP
  import DurableJobs
  import Foundation

  /// How a transfer is getting on: what the task that fetches tells the one that flushes and watches.
  final class Meter: Sendable {
    /// What came is flushed at the latest when it is this much.
    static let flushBytes: Int64 = 4 << 20
    /// More than this is not taken from a connection before it is flushed.
    static let mostUnflushed: Int64 = 32 << 20

    enum Phase {
      /// Nothing is awaited from a host.
      case atWork
      case waiting(for: String)
      /// Of a file of so many bytes, if that is known.
      case receiving(from: String, of: Int64?)
    }

    private struct State {
      var phase = Phase.atWork
      /// The begin of the phase, or the last look in it.
      var since = Duration.zero
      var length: Int64 = 0
      var flushed: Int64 = 0
      /// Bytes since then.
      var received: Int64 = 0
      var heldUp = Duration.zero
      var isOver = false
    }

    private let state = Lock(State())
    /// Held while something is flushed, and while the phase changes.
    private let turn = Lock(())
    /// Opened when there is something to flush, or nothing more to watch.
    let work = Gate()
    /// Opened when something was flushed.
    let room = Gate()

    // MARK: Told by the task that fetches

    /// Nothing of an earlier phase is being flushed when this returns. `length` is flushed when a reception begins.
    func begin(_ phase: Phase, length: Int64? = nil, at now: Duration) {
      turn.withLock { _ in
        state.withLock { state in
          state.phase = phase
          state.since = now
          (state.received, state.heldUp) = (0, .zero)
          if let length { (state.length, state.flushed) = (length, length) }
        }
      }
    }

    func end() {
      state.withLock { $0.isOver = true }
      work.open()
    }

    /// Bytes came. They count from here on: what the disk takes for them is not the host's time.
    func came(_ count: Int) { state.withLock { $0.received += Int64(count) } }

    /// So much of the file is written. Returns ``isFull``.
    func wrote(length: Int64) -> Bool {
      let unflushed = state.withLock { state in
        state.length = length
        return state.length - state.flushed
      }
      if unflushed >= Self.flushBytes { work.open() }
      return unflushed > Self.mostUnflushed
    }

    /// No more should be written until some is flushed.
    var isFull: Bool { state.withLock { $0.length - $0.flushed > Self.mostUnflushed } }

    /// It is us who are slow, not the connection.
    func heldUp(_ time: Duration) { state.withLock { $0.heldUp += time } }

    // MARK: Asked by the task that watches

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Calls `body` with how much there is of the file, and how much of that is to be flushed, during a reception.
    func whileReceiving(_ body: (_ length: Int64, _ total: Int64?, _ isFlushed: Bool) throws -> Void) rethrows {
      try turn.withLock { _ in
        let (phase, length, flushed) = state.withLock { ($0.phase, $0.length, $0.flushed) }
        guard case .receiving(_, let total) = phase else { return }
        try body(length, total, flushed >= length)
        state.withLock { $0.flushed = length }
      }
      room.open()
    }

    /// The host that brought too little, if it is time to look.
    func stalled(at now: Duration, _ limits: Downloader.Limits) -> String? {
      state.withLock { state in
        guard now - state.since >= limits.slowFor else { return nil }
        switch state.phase {
        case .atWork: return nil
        case .waiting(let host): return host
        case .receiving(let host, _):
          defer {
            state.since = now
            (state.received, state.heldUp) = (0, .zero)
          }
          // What we held up ourselves says nothing about the connection.
          return state.received < limits.minimumBytes && state.heldUp < limits.slowFor / 2 ? host : nil
        }
      }
    }
  }
#endif
