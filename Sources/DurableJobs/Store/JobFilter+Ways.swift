/// What a filter restricts, for choosing the cheapest way to its jobs.
extension JobFilter {
  /// Whether only queue, kind and required conditions are tested, or also the state: what the totals of routes can answer.
  package func isOfRoute(orState: Bool) -> Bool {
    switch condition {
    case .queues, .kinds, .requires: true
    case .states: orState
    case .ids, .tag, .key, .lane, .batch, .heldBy, .tooLarge: false
    case .and(let parts), .or(let parts): parts.allSatisfy { $0.isOfRoute(orState: orState) }
    case .not(let a): a.isOfRoute(orState: orState)
    }
  }

  package var onlyIDs: Set<JobID>? { only { if case .ids(let ids) = $0 { ids } else { nil } } }
  package var states: Set<JobState>? { only { if case .states(let states) = $0 { states } else { nil } } }

  /// The only values that can match, where `named` gives those of one condition; nil if they are not restricted.
  private func only<T>(_ named: (Condition) -> Set<T>?) -> Set<T>? {
    switch condition {
    case .and(let all): all.compactMap { $0.only(named) }.reduce(nil) { $0?.intersection($1) ?? $1 }
    case .or(let any):
      any.reduce([] as Set<T>?) { known, one in
        if let known, let values = one.only(named) { known.union(values) } else { nil }
      }
    default: named(condition)
    }
  }

  package var exactIDs: Set<JobID>? { if case .ids(let ids) = condition { ids } else { nil } }
  package var exactKey: String? { if case .key(let key) = condition { key } else { nil } }
  package var exactBatch: BatchID? { if case .batch(let id) = condition { id } else { nil } }
  package var exactLane: String? { if case .lane(let lane) = condition { lane } else { nil } }
  package var exactTag: String? { if case .tag(let tag) = condition { tag } else { nil } }
}

extension [JobFilter] {
  package func firstNonNil<T>(_ value: (JobFilter) -> T?) -> T? { lazy.compactMap(value).first }
}
