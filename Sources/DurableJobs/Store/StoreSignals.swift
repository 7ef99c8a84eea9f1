import Foundation

/// What a store posts after a commit.
public enum StoreSignal: Sendable {
  /// A commit of this process, with each job that changed, in order.
  case committed([JobTransition])
  /// Something may have changed through another process, or signals were dropped because nobody consumed them.
  case changedElsewhere(ForeignChange)
}

/// What may have changed elsewhere.
public struct ForeignChange: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Jobs became ready or scheduled.
  public static let work = ForeignChange(rawValue: 1)
  /// Jobs ended or changed state.
  public static let results = ForeignChange(rawValue: 2)
  /// Running jobs were asked to stop, or were ended: renew to learn which.
  public static let stops = ForeignChange(rawValue: 4)
  /// This process is suspected to be dead: renew at once.
  public static let doubt = ForeignChange(rawValue: 8)
  /// A deadline was set that is sooner than the next sweep: ask when to come again.
  public static let deadlines = ForeignChange(rawValue: 16)
  /// A condition was set by hand.
  public static let settings = ForeignChange(rawValue: 32)
  public static let all: ForeignChange = [.work, .results, .stops, .settings]
}

/// A change of one job, reported after its commit.
public struct JobTransition: Hashable, Sendable {
  public var id: JobID
  public var queue: String
  public var kind: String
  public var state: JobState
  /// The claim was ended, or the job was asked to stop, by something other than its worker.
  public var concernsClaim: Bool
  /// The job was deleted; `state` is its last state.
  public var isRemoved: Bool

  public init(
    id: JobID, queue: String, kind: String, state: JobState, concernsClaim: Bool = false, isRemoved: Bool = false
  ) {
    (self.id, self.queue, self.kind, self.state) = (id, queue, kind, state)
    (self.concernsClaim, self.isRemoved) = (concernsClaim, isRemoved)
  }
}

/// The signals of a store, for any number of listeners, and the waiters and workers on the store in this process.
public struct StoreSignals: Sendable {
  package let watch = StoreWatch()
  let lookouts = Lookouts()
  package let localWorkers = LocalWorkers()
  private let hub = Lock(Hub())
  /// Whether the store was last told that there are listeners.
  private let interest = Lock(false)

  public init() {}

  /// Posts a signal to all listeners. For stores, once the commit is durable.
  public func post(_ signal: StoreSignal) {
    let listeners = hub.withLock { Array($0.listeners.values) }
    for listener in listeners { listener(signal) }
  }

  /// Tells all who wait or watch that the store is closed. For stores, once they refuse every call.
  public func close() {
    hub.withLock { $0.isClosed = true }
    post(.changedElsewhere(.all))  // who waits looks, and finds it closed
  }

  var isClosed: Bool { hub.withLock { $0.isClosed } }

  /// Whether anyone is listening. If not, a store may skip collecting what changed; it checks again after the commit,
  /// and posts to listeners that came in between that something did.
  public var hasListeners: Bool { hub.withLock { !$0.listeners.isEmpty } }

  /// Calls `body` with each signal, on the thread that committed, until the subscription is released. `body` must not
  /// block. Everything committed after this returns is reported.
  public func listen(_ body: @escaping @Sendable (StoreSignal) -> Void) -> Subscription {
    let key = hub.withLock { hub in
      hub.lastKey += 1
      hub.listeners[hub.lastKey] = body
      return hub.lastKey
    }
    tellInterest()
    return Subscription {
      // What it held may end another subscription, so it is let go of outside of the lock.
      let body = hub.withLock { $0.listeners.removeValue(forKey: key) }
      withExtendedLifetime(body) { tellInterest() }
    }
  }

  /// Serialized: a second listener must not go on before the store has done what the first one needs.
  private func tellInterest() {
    interest.withLock { wasTold in
      let (isWanted, tell) = hub.withLock { (!$0.listeners.isEmpty, $0.onInterest) }
      if isWanted != wasTold { tell?(isWanted) }
      wasTold = isWanted
    }
  }

  /// Calls `body` with true when the first listener subscribes, and with false when the last one leaves. For stores
  /// that only follow other processes' commits while there are listeners.
  public func onInterest(_ body: @escaping @Sendable (Bool) -> Void) { hub.withLock { $0.onInterest = body } }

  /// A registration that ends when it is released.
  public final class Subscription: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
  }

  private struct Hub {
    var listeners: [Int: @Sendable (StoreSignal) -> Void] = [:]
    var lastKey = 0
    var isClosed = false
    var onInterest: (@Sendable (Bool) -> Void)?
  }
}
