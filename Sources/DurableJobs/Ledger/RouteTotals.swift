import Foundation

/// A route with how many jobs it has in each state, from the numbers that are kept with it.
@dynamicMemberLookup
package struct RouteTotals: Sendable {
  package let route: Route
  package var counts: JobCounts
  /// As far as the numbers themselves can tell.
  package var isSound: Bool

  package init(_ route: Route, counts: JobCounts, isSound: Bool = true) {
    self.route = route
    self.counts = counts
    self.isSound = isSound
  }

  package subscript<T>(dynamicMember member: KeyPath<Route, T>) -> T { route[keyPath: member] }

  /// A job of this route, as far as filters by queue, kind and state ask.
  package func example(in state: JobState) -> JobSnapshot {
    JobSnapshot(
      id: JobID(rawValue: 0), queue: route.queue, kind: route.kind, requires: route.requires, state: state,
      createdAt: .distantPast)
  }
}

extension [RouteTotals] {
  /// Up to so many jobs, a page is read by way of the index of states and sorted; beyond, jobs are read by id until enough of
  /// them matched, where that takes fewer.
  package static let fewJobs = 10_000

  /// Where in the index of states all jobs stand that match all these filters, if they are few there; nil where this is not
  /// the way.
  package func places(ofAll parts: [JobFilter], limit: Int) -> (routes: [Int64], states: [Int64])? {
    guard let states = JobFilter.states(ofAll: parts), !states.contains(.succeeded) else { return nil }
    let ofRoute = parts.filter(\.isOfRoute)
    let possible = filter { route in ofRoute.allSatisfy { $0.matches(route.example(in: .ready)) } }
    let count = possible.reduce(0) { count, route in states.reduce(count) { $0 + route.counts[$1] } }
    // Were they spread evenly, as many would be read by id: of that many, one matches each `total / count`.
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
