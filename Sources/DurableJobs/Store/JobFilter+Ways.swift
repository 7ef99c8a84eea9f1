/// What a filter restricts, for choosing the cheapest way to its jobs.
extension JobFilter {
  /// Whether only queue, kind, required conditions and state are tested, which the totals of routes can answer.
  package var isOfTotals: Bool { isOfRoute(orState: true) }

  /// The same, but without the state.
  package var isOfRoute: Bool { isOfRoute(orState: false) }

  private func isOfRoute(orState: Bool) -> Bool {
    switch condition {
    case .queues, .kinds, .requires: true
    case .states: orState
    case .ids, .tag, .key, .lane, .batch, .tooLarge: false
    case .and(let parts), .or(let parts): parts.allSatisfy { $0.isOfRoute(orState: orState) }
    case .not(let a): a.isOfRoute(orState: orState)
    }
  }

  /// The only states that can match; nil if states are not restricted.
  package var states: Set<JobState>? {
    switch condition {
    case .states(let states): states
    case .and(let all): Self.states(ofAll: all)
    case .or(let any):
      any.reduce([] as Set<JobState>?) { known, one in
        if let known, let states = one.states { known.union(states) } else { nil }
      }
    case .ids, .queues, .kinds, .tag, .key, .lane, .requires, .batch, .not, .tooLarge: nil
    }
  }

  package static func states(ofAll parts: [JobFilter]) -> Set<JobState>? {
    parts.compactMap(\.states).reduce(nil) { $0?.intersection($1) ?? $1 }
  }
}

extension JobFilter {
  package var exactIDs: Set<JobID>? { if case .ids(let ids) = condition { ids } else { nil } }
  package var exactKey: String? { if case .key(let key) = condition { key } else { nil } }
  package var exactBatch: BatchID? { if case .batch(let id) = condition { id } else { nil } }
  package var exactLane: String? { if case .lane(let lane) = condition { lane } else { nil } }
  package var exactTag: String? { if case .tag(let tag) = condition { tag } else { nil } }
}

extension [JobFilter] {
  package func firstNonNil<T>(_ value: (JobFilter) -> T?) -> T? { lazy.compactMap(value).first }
}
