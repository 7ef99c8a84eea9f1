import Foundation

/// What a store tells after a commit.
public enum StoreSignal: Sendable {
  /// A commit of this process, with each job that changed, in order.
  case committed([JobTransition])
  /// Something may have changed that this process did not do, or signals were dropped because nobody took them.
  case changedElsewhere(ForeignChange)
}

/// What may have changed.
public struct ForeignChange: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Jobs became ready or scheduled.
  public static let work = ForeignChange(rawValue: 1)
  /// Jobs ended, or moved on.
  public static let results = ForeignChange(rawValue: 2)
  /// Somebody asked for running jobs to stop, or ended them: renew, and learn which.
  public static let stops = ForeignChange(rawValue: 4)
  /// Somebody doubts that this process lives: renew, at once.
  public static let doubt = ForeignChange(rawValue: 8)
  /// A deadline was set that is nearer than the next sweep: ask when to come again.
  public static let deadlines = ForeignChange(rawValue: 16)
  /// Somebody set a condition by hand.
  public static let settings = ForeignChange(rawValue: 32)
  public static let all: ForeignChange = [.work, .results, .stops, .settings]
}

/// A change of one job, after its commit.
public struct JobTransition: Hashable, Sendable {
  public var id: JobID
  public var queue: String
  public var kind: String
  public var state: JobState
  /// Its claim was ended, or it was asked to stop, by somebody other than its worker.
  public var concernsClaim: Bool
  /// The job was deleted; `state` is the one that it was in.
  public var isRemoved: Bool

  public init(
    id: JobID, queue: String, kind: String, state: JobState, concernsClaim: Bool = false, isRemoved: Bool = false
  ) {
    self.id = id
    self.queue = queue
    self.kind = kind
    self.state = state
    self.concernsClaim = concernsClaim
    self.isRemoved = isRemoved
  }
}

/// The signals of a store, to any number of listeners; and who waits for them and works on the store in this process.
public struct StoreSignals: Sendable {
  package let watch = StoreWatch()
  let lookouts = Lookouts()
  package let localWorkers = LocalWorkers()
  private let hub = Lock(Hub())
  /// Whether the store was told last that somebody wants to know.
  private let interest = Lock(false)

  public init() {}

  /// Tells all listeners. For stores; after the commit is durable.
  public func post(_ signal: StoreSignal) {
    let listeners = hub.withLock { Array($0.listeners.values) }
    for listener in listeners { listener(signal) }
  }

  /// Whether anybody listens: else a store may spare itself the trouble of saying what changed. It asks again after the
  /// commit, and tells who came meanwhile that something did.
  public var hasListeners: Bool { hub.withLock { !$0.listeners.isEmpty } }

  /// Calls `body` with each signal, from the thread that committed, for as long as the subscription exists. `body` must
  /// not block. What is committed once this has returned is heard.
  public func listen(_ body: @escaping @Sendable (StoreSignal) -> Void) -> Subscription {
    let key = hub.withLock { hub in
      hub.lastKey += 1
      hub.listeners[hub.lastKey] = body
      return hub.lastKey
    }
    tellInterest()
    return Subscription {
      hub.withLock { $0.listeners[key] = nil }
      tellInterest()
    }
  }

  /// One after the other: who listens second must not go on before the store has done what the first needs.
  private func tellInterest() {
    interest.withLock { wasTold in
      let (isWanted, tell) = hub.withLock { (!$0.listeners.isEmpty, $0.onInterest) }
      if isWanted != wasTold { tell?(isWanted) }
      wasTold = isWanted
    }
  }

  /// Calls `body` with true when the first listener has come, and with false when the last has gone. For stores that
  /// learn of other processes' commits only while somebody wants to know.
  public func onInterest(_ body: @escaping @Sendable (Bool) -> Void) {
    hub.withLock { $0.onInterest = body }
  }

  /// Ends what it stands for when it is released.
  public final class Subscription: Sendable {
    private let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
  }

  private struct Hub {
    var listeners: [Int: @Sendable (StoreSignal) -> Void] = [:]
    var lastKey = 0
    var onInterest: (@Sendable (Bool) -> Void)?
  }
}
