import Foundation
import Testing

@testable import DurableJobs

/// A change of many jobs asks its ledger as often as one of a few: for sets.
@Suite struct ExchangeCountTests {
  /// Counts what is asked of a table.
  private final class CountingLedger: JobLedger {
    let table: JobTable
    private(set) var exchanges = 0
    var now: Int64 { table.now }
    var policy: StorePolicy { table.policy }
    var news: LedgerNews {
      get { table.news }
      set { table.news = newValue }
    }

    init(_ table: JobTable) { self.table = table }

    func exchange(_ request: LedgerRequest) -> LedgerReply {
      exchanges += 1
      return table.exchange(request)
    }
  }

  /// How often the ledger is asked when jobs in so many lanes, for each of which another waits, are cancelled and retried.
  private func exchanges(_ lanes: Int) throws -> (cancel: Int, retry: Int) {
    let table = JobTable(policy: StorePolicy())
    table.begin(at: 1_800_000_000_000, uptime: .zero)
    let jobs = (0..<lanes).flatMap { number in
      let lane = JobLane("l\(number)")
      return [
        NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(key: "k\(number)", lane: lane)),
        NewJob(
          queue: "q", kind: "k", payload: Data(), terms: JobTerms(lane: lane), edges: [JobEdge(.sibling(2 * number))]),
      ]
    }
    let ids = try table.insert(JobInsertion(jobs)).ids
    let first = stride(from: 0, to: ids.count, by: 2).map { ids[$0] }
    func count(_ change: JobChange) throws -> Int {
      let ledger = CountingLedger(table)
      table.begin(at: 1_800_000_000_000, uptime: .zero)
      #expect(try ledger.change(change, first, limit: lanes).changed == first)
      let states = Set(table.jobs(JobQuery(limit: ids.count)).map(\.state))
      #expect(states == (change == .retry ? [.ready, .blocked] : [.cancelled, .skipped]))
      return ledger.exchanges
    }
    return (try count(.cancel(reason: nil)), try count(.retry))
  }

  @Test func `A hundred jobs in a hundred lanes are cancelled and retried by as many exchanges as one`() throws {
    let (one, many) = (try exchanges(1), try exchanges(100))
    #expect(one == many)
  }
}
