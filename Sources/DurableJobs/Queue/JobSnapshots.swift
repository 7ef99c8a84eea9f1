import Foundation

/// A value of a store as it is now, and again after it has changed: never the same one twice in a row, at most ten a second
/// by the store's clock. Who reads slowly passes over some, and never over the last. It is read only while somebody waits
/// for it, and once for all who watch the same in this process.
///
/// Throws what the store throws, and `CancellationError` once the task is cancelled.
public struct JobSnapshots<Value: Equatable & Sendable>: AsyncSequence, Sendable {
  let lookout: @Sendable () -> Lookout<Value>
  var isLast: @Sendable (Value) -> Bool = { _ in false }

  public func makeAsyncIterator() -> Iterator { Iterator(lookout: lookout(), isLast: isLast) }

  public struct Iterator: AsyncIteratorProtocol, Sendable {
    let lookout: Lookout<Value>
    let isLast: @Sendable (Value) -> Bool
    private var place = Lookout<Value>.Place()
    private var isOver = false

    init(lookout: Lookout<Value>, isLast: @escaping @Sendable (Value) -> Bool) {
      self.lookout = lookout
      self.isLast = isLast
    }

    public mutating func next() async throws -> Value? {
      guard !isOver else { return nil }
      isOver = true  // if this throws
      let value = try await lookout.next(&place)
      isOver = isLast(value)
      return value
    }
  }
}

extension JobQueue {
  /// The first `limit` of this queue's jobs that match, in that order, now and after changes. A look reads no more than these.
  /// Ask for `detail: .failures` to say why jobs failed.
  public func snapshots(
    where filter: JobFilter = .all, detail: JobQuery.Detail = [], order: JobQuery.Order = .oldestFirst, limit: Int = 100
  ) -> JobSnapshots<[JobSnapshot]> {
    let query = JobQuery(.queue(name) && filter, detail: detail, order: order, limit: limit)
    return watch(.jobs(query), query.filter) { try await $0.jobs(query) }
  }

  /// The same of one kind, with their payloads and outputs. One whose payload does not decode is left out.
  public func snapshots<P: JobPayload>(
    of type: P.Type, where filter: JobFilter = .all, detail: JobQuery.Detail = [],
    order: JobQuery.Order = .oldestFirst, limit: Int = 100
  ) -> JobSnapshots<[TypedJobSnapshot<P>]> {
    let query = JobQuery(
      .queue(name) && .kind(type) && filter, detail: detail.union([.payload, .output]), order: order, limit: limit)
    return watch(.payloads(query, ObjectIdentifier(type)), query.filter) { try await $0.jobs(query).typed() }
  }

  /// How many jobs of this queue are in each state, now and after changes. What counts costs, see ``counts(where:)``.
  public func countSnapshots(where filter: JobFilter = .all) -> JobSnapshots<JobCounts> {
    let filter = .queue(name) && filter
    return watch(.counts(filter), filter) { try await $0.counts(where: filter) }
  }

  private func watch<Value>(
    _ question: LookoutQuestion, _ filter: JobFilter, _ look: @escaping @Sendable (any JobStore) async throws -> Value
  ) -> JobSnapshots<Value> {
    JobSnapshots { [store] in
      store.signals.lookouts.lookout(question, store, concerns: { filter.mayConcern($0) }, look)
    }
  }
}

extension JobHandle {
  /// The job now, and after changes, until it has ended. With what its attempts failed of, and without its payload.
  /// Throws ``JobError/Code/notFound`` once it is removed.
  public var snapshots: JobSnapshots<JobSnapshot> {
    JobSnapshots(
      lookout: { [store, id] in
        store.signals.lookouts.lookout(.job(id), store, concerns: { $0.id == id }) {
          try await $0.job(id, detail: [.output, .failures])
        }
      }, isLast: \.state.isFinished)
  }
}

extension TypedJobSnapshot: Equatable {
  /// Whether they are the same job at the same moment, with the same stored payload.
  public static func == (a: Self, b: Self) -> Bool { a.job == b.job }
}

extension [JobSnapshot] {
  /// Those whose payloads decode.
  func typed<P: JobPayload>() -> [TypedJobSnapshot<P>] {
    compactMap { job in
      (try? job.payload(as: P.self)).map { TypedJobSnapshot(job: job, payload: $0) }
    }
  }
}

extension JobFilter {
  /// False only if a job that changed so was, and is, none of these.
  func mayConcern(_ change: JobTransition) -> Bool {
    switch condition {
    case .ids(let ids): ids.contains(change.id)
    case .queues(let names): names.contains(change.queue)
    case .kinds(let names): names.contains(change.kind)
    case .and(let all): all.allSatisfy { $0.mayConcern(change) }
    case .or(let any): any.contains { $0.mayConcern(change) }
    case .states, .tag, .key, .lane, .requires, .batch, .not, .tooLarge: true
    }
  }
}
