/// Something that happened in a queue, posted once its commit is durable: a query that follows sees the change.
@nonexhaustive
public enum JobEvent: Hashable, Sendable {
  /// A job of the queue entered a state: it was stored, claimed, postponed, suspended, ended or released. Also posted,
  /// with the current state, when its progress or a request to stop was stored.
  case changed(JobTransition)
  /// A job was deleted, on request or because its retention was over.
  case removed(JobTransition)
  /// Something may have changed that has no event of its own: in another process, in the app's own transaction, or in too
  /// many jobs at once, such as when they become due. Posted once this process learns of it; unread ones are merged.
  case changedElsewhere
  /// This many events were dropped here because the reader did not keep up.
  case missed(Int)
}

/// The events of a queue, from the start of the iteration until its task is cancelled or the store is closed, of which it
/// may miss the last commits. Every reader gets all events; one that falls behind by more than ``kept`` is told how many
/// it missed, and holds up nobody.
///
/// Use it for a log or a badge. A screen is better served by ``JobSnapshots``, which always end up at the latest state.
public struct JobEvents: AsyncSequence, Sendable {
  /// How many events are kept for one reader.
  public static let kept = 1000

  let queue: JobQueue

  public func makeAsyncIterator() -> Iterator { Iterator(queue) }

  public struct Iterator: AsyncIteratorProtocol, Sendable {
    private let queue: JobQueue
    private let inbox = Lock(Inbox())
    private let gate = Gate()
    private let subscription: StoreSignals.Subscription
    private var read: ArraySlice<JobEvent> = []

    fileprivate init(_ queue: JobQueue) {
      self.queue = queue
      subscription = queue.store.signals.listen { [inbox, gate, name = queue.name] signal in
        inbox.withLock { $0.add(signal, of: name) }
        gate.open()
      }
    }

    /// The next event, or nil once the task is cancelled, or the store is closed and all events were read.
    public mutating func next() async -> JobEvent? {
      while !Task.isCancelled {
        if let event = read.popFirst() { return event }
        let isClosed = queue.store.signals.isClosed
        read = inbox.withLock { $0.take() }[...]
        guard read.isEmpty else { continue }
        if isClosed { return nil }
        await gate.pass()
      }
      return nil
    }
  }

  /// The events that a reader has not consumed yet. Bounded.
  struct Inbox {
    private var events: [JobEvent] = []
    private var missed = 0

    mutating func add(_ signal: StoreSignal, of queue: String) {
      switch signal {
      case .committed(let changes):
        for change in changes where change.queue == queue {
          add(change.isRemoved ? .removed(change) : .changed(change))
        }
      case .changedElsewhere(let change):
        if !change.isDisjoint(with: .all), events.last != .changedElsewhere { add(.changedElsewhere) }
      }
    }

    private mutating func add(_ event: JobEvent) {
      if events.count < JobEvents.kept { events.append(event) } else { missed += 1 }
    }

    mutating func take() -> [JobEvent] {
      defer { self = Inbox() }
      return missed > 0 ? events + [.missed(missed)] : events
    }
  }
}

extension JobQueue {
  /// What happens in this queue from now on; see ``JobEvents``. Past events are not stored.
  public var events: JobEvents { JobEvents(queue: self) }
}
