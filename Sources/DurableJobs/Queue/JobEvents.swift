/// What happened in a queue. Each is posted once the commit is durable: a query that follows sees what it tells.
@nonexhaustive
public enum JobEvent: Hashable, Sendable {
  /// A job of the queue came into a state: it was stored, claimed, put off, suspended, ended or let go on. And once more in
  /// the state that it is in when its progress or a request to stop was stored.
  case changed(JobTransition)
  /// A job was deleted, by a person or because its time was over.
  case removed(JobTransition)
  /// Something may have changed that no event names: by another process, or with too many jobs at once, as when their time
  /// comes. Posted as soon as this process hears of it; several that nobody has read yet are one.
  case changedElsewhere
  /// So many events were dropped at this place, because nobody read them.
  case missed(Int)
}

/// The events of a queue, from the moment at which iteration begins until its task is cancelled. Any number may read, each
/// for itself. Who does not keep up is told how many it missed, beyond ``kept``; nobody waits for a reader.
///
/// For a log or a badge. A screen is better off with ``JobSnapshots``, which miss nothing that counts.
public struct JobEvents: AsyncSequence, Sendable {
  /// Events that are kept for one reader.
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

    /// The next event; nil once the task is cancelled.
    public mutating func next() async -> JobEvent? {
      while !Task.isCancelled {
        if let event = read.popFirst() { return event }
        read = inbox.withLock { $0.take() }[...]
        if read.isEmpty { await gate.pass() }
      }
      return nil
    }
  }

  /// What a reader has not taken yet. Bounded.
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
  /// What happens in this queue from now on; see ``JobEvents``. Nothing is read, and none is stored.
  public var events: JobEvents { JobEvents(queue: self) }
}
