import Foundation

/// A route and the number of its jobs in each state, from the counts that are kept with it.
@dynamicMemberLookup
package struct RouteTotals: Sendable {
  package let route: Route
  package var counts: JobCounts
  /// As far as the counts themselves can tell.
  package var isSound: Bool
  /// Scheduled jobs that are due, and whether one that was claimed before waits for a future time, where that was asked.
  package var (due, isReturning) = (0, false)

  package init(_ route: Route, counts: JobCounts, isSound: Bool = true) {
    (self.route, self.counts, self.isSound) = (route, counts, isSound)
  }

  package subscript<T>(dynamicMember member: KeyPath<Route, T>) -> T { route[keyPath: member] }

  /// A job of this route, as far as filters by queue, kind and state are concerned.
  package func example(in state: JobState) -> JobSnapshot {
    JobSnapshot(
      id: JobID(rawValue: 0), queue: route.queue, kind: route.kind, requires: route.requires, state: state,
      createdAt: .distantPast)
  }
}

extension [RouteTotals] {
  /// Up to this many jobs, a page is read through the index of states and sorted; beyond, jobs are read by id until
  /// enough of them match, where that reads fewer.
  package static let fewJobs = 10_000

  /// Where in the index of states all jobs are that match all these filters; nil if they are not few.
  package func places(ofAll parts: [JobFilter], limit: Int) -> (routes: [Int64], states: [Int64])? {
    guard let states = parts.reduce(.all, &&).states, !states.contains(.succeeded) else { return nil }
    let ofRoute = parts.filter { $0.isOfRoute(orState: false) }
    let possible = filter { route in ofRoute.allSatisfy { $0.matches(route.example(in: .ready)) } }
    let count = possible.reduce(0) { count, route in states.reduce(count) { $0 + route.counts[$1] } }
    // If they were spread evenly, reading by id would take as many: one of each `total / count` matches.
    let total = reduce(0) { $0 + $1.counts.total }
    let isShorter = Double(count) * Double(count) <= Double(Swift.min(limit, 1000)) * Double(total)
    return count <= Self.fewJobs || isShorter ? (possible.map(\.id), states.map(\.code)) : nil
  }

  /// How many jobs match in each state. The filter is one that totals can answer.
  package func counts(where filter: JobFilter) -> JobCounts {
    var counts = JobCounts()
    for route in self {
      for state in JobState.allCases where filter.matches(route.example(in: state)) {
        counts[state] += route.counts[state]
      }
    }
    return counts
  }
}
