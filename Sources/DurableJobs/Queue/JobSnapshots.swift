/// A value read from a store, and read again after changes: never the same value twice in a row, at most ten a second
/// by the store's clock. A slow reader skips intermediate values, but never the last. The store is only read while
/// someone waits for the value, and once for all readers of the same value in this process.
///
/// Throws what the store throws, and `CancellationError` once the task is cancelled.
public struct JobSnapshots<Value: Equatable & Sendable>: AsyncSequence, Sendable {
  let lookout: @Sendable () -> Lookout<Value>
  let isLast: @Sendable (Value) -> Bool

  public func makeAsyncIterator() -> Iterator { Iterator(lookout: lookout(), isLast: isLast) }

  public struct Iterator: AsyncIteratorProtocol, Sendable {
    let lookout: Lookout<Value>
    let isLast: @Sendable (Value) -> Bool
    var place = Lookout<Value>.Place()
    var isOver = false

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
  /// The first `limit` matching jobs of this queue in the given order, now and after changes. Each update reads only
  /// these. Use `detail: .failures` to show why jobs failed.
  public func snapshots(
    where filter: JobFilter = .all, detail: JobQuery.Detail = [], order: JobQuery.Order = .oldestFirst, limit: Int = 100
  ) -> JobSnapshots<[JobSnapshot]> {
    let query = JobQuery(.queue(name) && filter, detail: detail, order: order, limit: limit)
    return store.watch(.jobs(query), concerning: query.filter.mayConcern) { try await $0.jobs(query) }
  }

  /// The same for one kind, with payloads and outputs. Jobs whose payload does not decode are left out.
  public func snapshots<P: JobPayload>(
    of type: P.Type, where filter: JobFilter = .all, detail: JobQuery.Detail = [],
    order: JobQuery.Order = .oldestFirst, limit: Int = 100
  ) -> JobSnapshots<[TypedJobSnapshot<P>]> {
    let query = JobQuery(
      .queue(name) && .kind(type) && filter, detail: detail.union([.payload, .output]), order: order, limit: limit)
    return store.watch(.payloads(query, ObjectIdentifier(type)), concerning: query.filter.mayConcern) {
      try await $0.jobs(query).typed()
    }
  }

  /// The number of this queue's jobs in each state, now and after changes. For the cost see ``counts(where:)``.
  public func countSnapshots(where filter: JobFilter = .all) -> JobSnapshots<JobCounts> {
    let filter = .queue(name) && filter
    return store.watch(.counts(filter), concerning: filter.mayConcern) { try await $0.counts(where: filter) }
  }
}

extension JobHandle {
  /// The job, now and after changes, until it has ended. Includes its failures but not its payload.
  /// Throws ``JobError/Code/notFound`` once it is removed.
  public var snapshots: JobSnapshots<JobSnapshot> {
    store.watch(.job(id), concerning: { [id] in $0.id == id }, until: \.state.isFinished) { [id] in
      try await $0.job(id, detail: [.output, .failures])
    }
  }
}

extension TypedJobSnapshot: Equatable {
  /// Whether both are the same job at the same moment, with the same stored payload.
  public static func == (a: Self, b: Self) -> Bool { a.job == b.job }
}

extension [JobSnapshot] {
  func typed<P: JobPayload>() -> [TypedJobSnapshot<P>] {
    compactMap { job in (try? job.payload(as: P.self)).map { TypedJobSnapshot(job: job, payload: $0) } }
  }
}

extension JobFilter {
  /// False only if the changed job certainly neither was nor is among these.
  func mayConcern(_ change: JobTransition) -> Bool {
    switch condition {
    case .ids(let ids): ids.contains(change.id)
    case .queues(let names): names.contains(change.queue)
    case .kinds(let names): names.contains(change.kind)
    case .and(let all): all.allSatisfy { $0.mayConcern(change) }
    case .or(let any): any.contains { $0.mayConcern(change) }
    case .states, .tag, .key, .lane, .requires, .batch, .heldBy, .not, .tooLarge: true
    }
  }
}
