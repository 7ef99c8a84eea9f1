import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobsSQLite

/// What many that are alike must not make dearer.
@Suite struct CostOfManyTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  @Test("C61 The thousandth job that is appended costs what the tenth did", arguments: UniqueKey.scopes)
  func append(scope: UniqueKey.Scope) async throws {
    let store = try folder.store()
    func append() async throws -> Int {
      let job = NewJob.plain(terms: JobTerms(unique: UniqueKey("u", policy: .append, scope: scope)))
      return try await store.work { try await store.insert(job) }.0.steps
    }
    for _ in 0..<9 { _ = try await append() }
    let tenth = try await append()
    for _ in 0..<1000 { _ = try await append() }
    #expect(try await append() <= tenth + tenth / 10)
  }

  @Test func `A claim of one job alone costs among 10,000 what it costs among 10`() async throws {
    func steps(among count: Int) async throws -> Int {
      let store = try folder.store("\(count).sqlite")
      let ids = try await store.insert(JobInsertion((0..<count).map { _ in .plain() })).ids
      var request = ClaimRequest.of(1)
      request.only = ids[count - 1]
      let only = request
      let (work, batch) = try await store.work { try await store.claim(only) }
      #expect(batch.jobs.map(\.token.job) == [ids[count - 1]])
      return work.steps
    }
    let few = try await steps(among: 10)
    #expect(try await steps(among: 10_000) <= few + few / 10)
  }

  @Test func `Jobs that are past their retention, and whose windows are not over, are not come back to before that`()
    async throws
  {
    var configuration = SQLiteStore.Configuration()
    let clock = ManualClock()
    configuration.clock = clock
    configuration.policy.retention = .seconds(10)
    configuration.policy.failedRetention = .seconds(10)
    let store = try SQLiteStore(path: folder.path(), configuration: configuration)
    let scope = UniqueKey.Scope.within(.seconds(1000))
    _ = try await store.insert(
      JobInsertion((0..<10).map { .plain(terms: JobTerms(unique: UniqueKey("u\($0)", scope: scope))) }))
    let claimed = try await store.claim(.of(10)).jobs
    _ = try await store.settle(claimed.map { $0.settled() }, thenClaim: nil)
    clock.advance(by: .seconds(20))
    _ = try await store.recover(RecoveryRequest(worker: "w"))
    for _ in 0..<5 {
      clock.advance(by: .seconds(20))
      let (work, report) = try await store.work { try await store.recover(RecoveryRequest(worker: "w")) }
      #expect(report.pruned == 0)
      #expect(work.runs == 0)
    }
    clock.advance(by: .seconds(1000))
    #expect(try await store.recover(RecoveryRequest(worker: "w")).pruned == 10)
  }

  @Test func `A job that others keep is not loaded again and again to be deleted, with all of them`() async throws {
    var configuration = SQLiteStore.Configuration()
    let clock = ManualClock()
    configuration.clock = clock
    let store = try SQLiteStore(path: folder.path(), configuration: configuration)
    let parent = try await store.insert(.plain())[0]
    let job = try await store.claim(.of(1)).jobs[0]
    _ = try await store.settle([job.settled()], thenClaim: nil)
    let other = try await store.insert(.plain(terms: JobTerms(start: .after(.seconds(1_000_000)))))[0]
    let edges = [JobEdge(.job(parent)), JobEdge(.job(other))]
    let child = NewJob(queue: "default", kind: "k", payload: Data(), edges: edges)
    _ = try await store.insert(JobInsertion(Array(repeating: child, count: 100)))
    clock.advance(by: Defaults.retention + .seconds(1))
    let (work, report) = try await store.work { try await store.recover(RecoveryRequest(worker: "w")) }
    #expect(report.pruned == 0)
    #expect(work.rows == 0)
    _ = try await store.change(.cancel(reason: nil), where: .all, after: nil, limit: 1000)
    clock.advance(by: Defaults.failedRetention + .seconds(1))
    var pruned = 0
    for _ in 0..<9 { pruned += try await store.recover(RecoveryRequest(worker: "w")).pruned }
    #expect(pruned == 102)
    await store.close()
  }
}

extension UniqueKey {
  fileprivate static let scopes: [Scope] = [.whileUnfinished, .within(.seconds(1000)), .whileStored]
}
