#if HTTP
  import DurableJobs
  import Foundation

  /// The progress of a transfer: what the task that fetches tells the one that flushes and watches.
  final class Meter: Sendable {
    /// What has arrived is flushed at the latest when it reaches this size.
    static let flushBytes: Int64 = 4 << 20
    /// No more than this is taken from a connection before it is flushed.
    static let mostUnflushed: Int64 = 32 << 20

    enum Phase {
      /// Nothing is expected from a host.
      case atWork
      case waiting(for: String)
      /// A file of this many bytes, if that is known.
      case receiving(from: String, of: Int64?)
    }

    private struct State {
      var phase = Phase.atWork
      var length: Int64 = 0
      var flushed: Int64 = 0
      /// Bytes since the start of the phase, or the last check in it, and how long they were awaited. Our own
      /// processing is not the host's time, nor is waiting for our share of a speed limit.
      var received: Int64 = 0
      var awaited = Duration.zero
      var awaitsSince: Duration?
      /// Since when a request has been without a connection.
      var unsentSince: Duration?
      var isOver = false

      mutating func pause(at now: Duration) {
        awaited += awaitsSince.map { now - $0 } ?? .zero
        awaitsSince = nil
      }
    }

    private let state = Lock(State())
    /// Held while something is flushed, and while the phase changes.
    private let turn = NSLock()
    /// Opened when there is something to flush, or nothing more to watch.
    let work = Gate()
    /// Opened when something was flushed.
    let room = Gate()

    // MARK: Called by the task that fetches

    /// When this returns, nothing of an earlier phase is being flushed. `length` is flushed when a reception begins.
    func begin(_ phase: Phase, length: Int64? = nil, at now: Duration) {
      turn.withLock {
        state.withLock { state in
          state.phase = phase
          (state.received, state.awaited, state.unsentSince) = (0, .zero, nil)
          if case .waiting = phase { state.awaitsSince = now } else { state.awaitsSince = nil }
          if let length { (state.length, state.flushed) = (length, length) }
        }
      }
    }

    func end() {
      state.withLock { $0.isOver = true }
      work.open()
    }

    /// The next bytes are being awaited.
    func awaits(at now: Duration) { state.withLock { $0.awaitsSince = now } }

    /// They have arrived.
    func came(_ count: Int, at now: Duration) {
      state.withLock { state in
        state.received += Int64(count)
        state.pause(at: now)
      }
    }

    /// A request waits for a connection, which others may have, or has found one: from then on its answer is awaited.
    func isSent(_ isSent: Bool, at now: Duration) {
      state.withLock { state in
        state.pause(at: now)
        (state.unsentSince, state.awaitsSince) = isSent ? (nil, now) : (now, nil)
      }
    }

    /// This much of the file has been written. Returns ``isFull``.
    func wrote(length: Int64) -> Bool {
      let unflushed = state.withLock { state in
        state.length = length
        return state.length - state.flushed
      }
      if unflushed >= Self.flushBytes { work.open() }
      return unflushed > Self.mostUnflushed
    }

    /// No more should be written until some has been flushed.
    var isFull: Bool { state.withLock { $0.length - $0.flushed > Self.mostUnflushed } }

    // MARK: Called by the task that watches

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Calls `body` during a reception, with the file's length so far, its total, and whether that must be flushed.
    func whileReceiving(_ body: (_ length: Int64, _ total: Int64?, _ isFlushed: Bool) throws -> Void) rethrows {
      try turn.withLock {
        let (phase, length, flushed) = state.withLock { ($0.phase, $0.length, $0.flushed) }
        guard case .receiving(_, let total) = phase else { return }
        try body(length, total, flushed >= length)
        state.withLock { $0.flushed = length }
      }
      room.open()
    }

    /// The host that sent too little, if it is time to check. The client looks for a connection no longer than
    /// ``Downloader/Limits/connectTimeout``.
    func stalled(at now: Duration, _ limits: Downloader.Limits) -> String? {
      state.withLock { state in
        if case .waiting(let host) = state.phase, let since = state.unsentSince {
          return now - since >= limits.connectTimeout + limits.slowFor ? host : nil
        }
        guard state.awaited + (state.awaitsSince.map { now - $0 } ?? .zero) >= limits.slowFor else { return nil }
        switch state.phase {
        case .atWork: return nil
        case .waiting(let host): return host
        case .receiving(let host, _):
          defer {
            (state.received, state.awaited) = (0, .zero)
            if state.awaitsSince != nil { state.awaitsSince = now }
          }
          return state.received < limits.minimumBytes ? host : nil
        }
      }
    }
  }
#endif
