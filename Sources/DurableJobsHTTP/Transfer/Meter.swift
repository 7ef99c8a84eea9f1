#if HTTP
  import DurableJobs
  import Foundation

  /// How a transfer is getting on: what the task that receives tells the one that flushes and watches.
  final class Meter: Sendable {
    /// What came is flushed at the latest when it is this much.
    static let flushBytes: Int64 = 4 << 20
    /// More than this is not taken from a connection before it is flushed.
    static let mostUnflushed: Int64 = 32 << 20

    private struct State {
      var length: Int64
      var flushed: Int64
      /// Bytes since the watch began to count.
      var received: Int64 = 0
      var heldUp = Duration.zero
    }

    private let state: Lock<State>
    /// Opened when there is something to flush.
    let work = Gate()
    /// Opened when something was flushed.
    let room = Gate()

    init(length: Int64) { state = Lock(State(length: length, flushed: length)) }

    /// Bytes were written. Returns ``isFull``.
    func wrote(_ count: Int, length: Int64) -> Bool {
      let unflushed = state.withLock { state in
        state.length = length
        state.received += Int64(count)
        return state.length - state.flushed
      }
      if unflushed >= Self.flushBytes { work.open() }
      return unflushed > Self.mostUnflushed
    }

    /// No more should be written until some is flushed.
    var isFull: Bool { state.withLock { $0.length - $0.flushed > Self.mostUnflushed } }

    /// It is us who are slow, not the connection.
    func heldUp(_ time: Duration) { state.withLock { $0.heldUp += time } }

    /// Of what was written.
    var length: Int64 { state.withLock { $0.length } }

    var unflushedLength: Int64? { state.withLock { $0.length > $0.flushed ? $0.length : nil } }

    func flushed(_ length: Int64) {
      state.withLock { $0.flushed = length }
      room.open()
    }

    /// Bytes since this was asked before, and how long of that time it was we who were slow.
    func takeReceived() -> (bytes: Int64, heldUp: Duration) {
      state.withLock { state in
        defer { (state.received, state.heldUp) = (0, .zero) }
        return (state.received, state.heldUp)
      }
    }
  }
#endif
