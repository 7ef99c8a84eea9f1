import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

/// What one end causes costs by the job and by the edge, however many there are: sets, and no walk.
@Suite struct MassTests {
  /// Children of one parent: 5,000, or what `DURABLE_MASS` says.
  static let children = ProcessInfo.processInfo.environment["DURABLE_MASS"].flatMap(Int.init) ?? 5_000
  static let parents = 10_000
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store()
  }

  private func insert(_ count: Int, after edges: [JobEdge] = []) async throws -> [JobID] {
    var ids: [JobID] = []
    while ids.count < count {
      var job = NewJob.plain()
      job.edges = edges
      ids += try await store.insert(JobInsertion(Array(repeating: job, count: min(1000, count - ids.count)))).ids
    }
    return ids
  }

  private func change(_ change: JobChange, _ id: JobID) async throws -> StatementWork {
    try await store.work { _ = try await store.change(change, where: .id(id), after: nil, limit: 1) }.0
  }

  private func counts() async throws -> JobCounts { try await store.counts(where: .all) }

  @Test func `Children of one job are skipped and let go by two statements each, opened again by three`() async throws {
    let root = try await insert(1)[0]
    let count = Self.children
    _ = try await insert(count, after: [JobEdge(.job(root))])

    let skip = try await change(.cancel(reason: nil), root)
    #expect(try await counts() == JobCounts([.cancelled: 1, .skipped: count]))
    let open = try await change(.retry, root)
    #expect(try await counts() == JobCounts([.ready: 1, .blocked: count]))
    let free = try await change(.complete(output: nil), root)
    #expect(try await counts() == JobCounts([.succeeded: 1, .ready: count]))
    print(
      "\(count) children: \(skip.runs) statements to skip them, \(open.runs) to open them, \(free.runs) to let them go")
    #expect(skip.runs <= 2 * count + 30)
    #expect(open.runs <= 3 * count + 30)
    #expect(free.runs <= 2 * count + 30)
    for work in [skip, open, free] { #expect(work.scans + work.sorts == 0) }
  }

  @Test func `A job that waits for 10,000 is let go by the last of them, and costs each no more than the first`()
    async throws
  {
    let parents = try await insert(Self.parents)
    let (make, sinks) = try await store.work { try await insert(1, after: parents.map { JobEdge(.job($0)) }) }
    let sink = sinks[0]
    var works: [StatementWork] = []
    var claimed = try await store.claim(.of(100)).jobs
    while claimed.count == 100 {
      #expect(try await store.jobs(JobQuery(.id(sink)))[0].state == .blocked)
      let settled = claimed.map { $0.settled() }
      let (work, reply) = try await store.work { try await store.settle(settled, thenClaim: .of(100)) }
      works.append(work)
      claimed = reply.claimed?.jobs ?? []
    }
    #expect(claimed.map(\.token.job) == [sink])
    let edge = Double(make.runs) / Double(parents.count)
    let turn = Double(works[0].runs) / 100
    print("\(parents.count) parents: \(edge) statements an edge, \(turn) to settle one and claim the next")
    #expect(works.count == parents.count / 100)
    #expect(edge <= 3.01)
    #expect(turn <= 4.1)
    let (first, last) = (works[0], works[works.count - 2])
    #expect(last.runs <= first.runs + 5)
    #expect(Double(last.steps) <= Double(first.steps) * 1.1)
  }

  @Test func `A diamond of 100 by 100 costs less than half a statement an edge`() async throws {
    let top = try await insert(100)
    let (make, middle) = try await store.work { try await insert(100, after: top.map { JobEdge(.job($0)) }) }
    let sink = try await insert(1, after: middle.map { JobEdge(.job($0)) })[0]
    let claimed = try await store.claim(.of(100)).jobs
    let (settle, _) = try await store.work {
      try await store.settle(claimed.map { $0.settled() }, thenClaim: nil)
    }
    #expect(try await counts() == JobCounts([.succeeded: 100, .ready: 100, .blocked: 1]))
    print("10,000 edges: \(make.runs) statements to make them, \(settle.runs) when all parents end at once")
    #expect(make.runs <= 12_500)
    #expect(settle.runs <= 660)
    let rest = try await store.claim(.of(100)).jobs
    _ = try await store.settle(rest.map { $0.settled() }, thenClaim: nil)
    #expect(try await store.jobs(JobQuery(.id(sink)))[0].state == .ready)
  }

  @Test func `A chain of a thousand is skipped and opened again level by level, by a few statements each`() async throws
  {
    let root = try await insert(1)[0]
    var last = root
    for _ in 0..<1000 { last = try await insert(1, after: [JobEdge(.job(last))])[0] }
    let skip = try await change(.cancel(reason: nil), root)
    #expect(try await counts() == JobCounts([.cancelled: 1, .skipped: 1000]))
    let open = try await change(.retry, root)
    #expect(try await counts() == JobCounts([.ready: 1, .blocked: 1000]))
    print("1,000 levels: \(skip.runs) statements to skip them, \(open.runs) to open them")
    #expect(skip.runs <= 4_050)
    #expect(open.runs <= 5_050)
  }

  @Test func `A chain of jobs that wait is removed at a cost by the job, however long it is`() async throws {
    var works: [StatementWork] = []
    for count in [2_000, 8_000] {
      var last: JobID?
      for _ in 0..<count / 1000 {
        let chain = (0..<1000).map { index in
          var job = NewJob.plain()
          job.edges = index > 0 ? [JobEdge(.sibling(index - 1))] : last.map { [JobEdge(.job($0))] } ?? []
          return job
        }
        last = try await store.insert(JobInsertion(chain)).ids.last
      }
      let (work, removed) = try await store.work { try await JobQueue(store: store).removeAll(where: .all) }
      #expect(removed == count)
      works.append(work)
    }
    print("a chain of 2,000 is removed by \(works[0].runs) statements, of 8,000 by \(works[1].runs)")
    #expect(works[1].runs < 5 * works[0].runs)
    #expect(works[1].commits <= 2 * 8_000 / 500 + 2)
    #expect(try await store.check() == [])
  }
}
