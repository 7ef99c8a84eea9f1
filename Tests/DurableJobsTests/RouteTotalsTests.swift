import Testing

@testable import DurableJobs

@Suite struct RouteTotalsTests {
  private func totals(waiting: Int, ended: Int) -> [RouteTotals] {
    let routes = ["c", ""].enumerated().map { index, name in
      Route(
        id: Int64(index), queue: "q", kind: "k", requires: name.isEmpty ? [] : [JobConstraint(rawValue: name)],
        isPaused: false)
    }
    return [
      RouteTotals(routes[0], counts: JobCounts([.scheduled: waiting])),
      RouteTotals(routes[1], counts: JobCounts([.succeeded: ended])),
    ]
  }

  private func isIndexed(waiting: Int, ended: Int, limit: Int) -> Bool {
    let parts: [JobFilter] = [.queue("q"), .requires("c"), .state(.scheduled)]
    return totals(waiting: waiting, ended: ended).places(ofAll: parts, limit: limit).map { $0.routes == [0] } ?? false
  }

  @Test func `A bite of many that wait is found by their state, unless to go through all jobs takes less`() {
    #expect(isIndexed(waiting: 10_000, ended: 0, limit: 10))
    #expect(isIndexed(waiting: 30_000, ended: 1_000_000, limit: 1001))
    #expect(!isIndexed(waiting: 40_000, ended: 1_000_000, limit: 1001))
    #expect(isIndexed(waiting: 90_000, ended: 10_000_000, limit: 1001))
    #expect(!isIndexed(waiting: 30_000, ended: 1_000_000, limit: 50))
    #expect(!isIndexed(waiting: 500_000, ended: 500_000, limit: .max))
  }
}
