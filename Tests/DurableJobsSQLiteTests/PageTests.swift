import DurableJobs
import DurableJobsTesting
import Testing

@testable import DurableJobsSQLite

/// Jobs are found by several ways, of which a page takes the shortest.
@Suite struct PageTests {
  private let filters: [JobFilter] = [
    .state(.failed), .states([.failed, .cancelled, .blocked]), .unfinished, .kind("b") && .unfinished, .kind("rare"),
    .state(.scheduled), .state(.running), .state(.failed) && !.tag("t"), .requires("vpn") && !.state(.succeeded),
    .lane("l") && .unfinished, .lane("l") && .state(.ready), .kind("a") && .lane("l") && .unfinished, .lane("l"),
    .kind("a") && .state(.failed) || .kind("b") && .state(.suspended),
    .tag("t") && .state(.failed) || .state(.cancelled), .state(.succeeded),
    !.state(.succeeded), .kind("a") && !.state(.succeeded), .queue("nobody") && .unfinished, .tag("t") && !.kind("a"),
  ]

  /// `priorities`: how many different ones there are.
  @Test(arguments: [1, 3, 50, 1000])
  func `A page has the jobs that match, in their order, by whatever way they are found`(priorities: Int) async throws {
    let folder = try StoreFolder(inMemory: true)
    let store = try folder.store(clock: ManualClock())
    let new = (0..<1000).map { number in
      let terms = JobTerms(
        priority: JobPriority(rawValue: number * 7 % priorities - 1),
        start: number % 11 == 0 ? .after(.seconds(60 + number % 5)) : .now, lane: number % 6 == 0 ? "l" : nil,
        tags: number % 4 == 0 ? ["t"] : [], requires: number % 9 == 0 ? ["vpn"] : [])
      return NewJob.plain(number % 100 == 50 ? "rare" : number % 3 == 0 ? "a" : "b", terms: terms)
    }
    let ids = try await store.insert(JobInsertion(new)).ids
    _ = try await store.claim(.of(5, kinds: ["a", "b"]))
    let changes: [JobChange] = [
      .fail(message: "no"), .cancel(reason: nil), .complete(output: nil), .suspend(reason: nil),
    ]
    for (number, change) in changes.enumerated() {
      let some = ids.enumerated().filter { $0.offset % 7 == number && $0.offset % 100 != 50 }.map(\.element)
      _ = try await store.change(change, where: .ids(some), after: nil, limit: 1000)
    }
    let all = try await store.jobs(JobQuery(detail: .all, limit: 1000))
    #expect(all.map(\.id) == ids)
    #expect(Set(all.map(\.state)).isSuperset(of: Set(JobState.allCases).subtracting([.skipped])))
    for filter in filters {
      for order in [JobQuery.Order.oldestFirst, .newestFirst] {
        let matching = all.filter { filter.matches($0) }.map(\.id)
        let ordered = order == .oldestFirst ? matching : matching.reversed()
        for (skipped, limit) in [(0, 5), (0, 1000), (3, 10)] {
          let query = JobQuery(
            filter, order: order, after: skipped == 0 ? nil : ordered.prefix(skipped).last, limit: limit)
          let page = try await store.jobs(query).map(\.id)
          #expect(page == Array(ordered.dropFirst(skipped).prefix(limit)), "\(query)")
        }
      }
      let counts = try await store.counts(where: filter)
      #expect(counts.total == all.count { filter.matches($0) }, "\(filter)")
    }
    await store.close()
  }
}
