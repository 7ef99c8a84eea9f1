import DurableJobs
import Foundation
import GRDBSQLite
import Testing

@testable import DurableJobsSQLite

/// What a job costs must not depend on how many others are there: counted in steps of SQLite's virtual machine.
@Suite struct FlatnessTests {
  /// How many: 100,000, or what `DURABLE_CROWD` says.
  static let crowd = ProcessInfo.processInfo.environment["DURABLE_CROWD"].flatMap(Int.init) ?? 100_000

  enum Crowd: String, CaseIterable {
    case readyBehind = "ready, behind on the same route"
    case scheduled = "scheduled far ahead, of higher priority"
    case blocked = "waiting for others, of higher priority"
    case absentConstraint = "ready, of a constraint that does not hold and higher priority"
    case otherKind = "ready, of another kind and higher priority"
    case due = "due at once, for long"
    case succeeded

    /// The columns of a job of this crowd: route, state, rank, priority.
    var values: String {
      switch self {
      case .readyBehind: "1,4,10,-10"
      case .scheduled: "1,3,9000000000000,10"
      case .blocked: "1,2,-10,10"
      case .absentConstraint: "3,4,-10,10"
      case .otherKind: "2,4,-10,10"
      case .due: "1,3,1,0"
      case .succeeded: "1,7,0,0"
      }
    }
  }

  struct Cost: Equatable {
    var enqueue: StatementWork
    var turn: StatementWork
  }

  private func cost(of crowd: Crowd, _ size: Int) async throws -> Cost {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await store.insert(.plain(), .plain("other"), .plain(terms: JobTerms(requires: ["absent"])))
    try await store.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i+1 FROM n LIMIT \(size))
      INSERT INTO durable_job(id,route,state,rank,priority,links,attempt,claim,run_at,entered_at,started_at)
      SELECT i,\(crowd.values),0,0,1099511627776,9000000000000,1,1 FROM n
      """)
    try await store.execute(
      "INSERT INTO durable_spec(id,created_at,payload) SELECT id,1,x'7b7d' FROM durable_job WHERE id>3")
    func insert() async throws { _ = try await store.insert(JobInsertion((0..<100).map { _ in .plain() })) }
    try await insert()
    let (enqueue, _) = try await store.work { try await insert() }
    let first = try await store.claim(.of(100))
    let (turn, second) = try await store.work {
      try await store.settle(first.jobs.map { $0.settled() }, thenClaim: .of(100))
    }
    #expect(second.replies.filter { !$0.isAccepted }.isEmpty)
    #expect(second.claimed?.jobs.count == 100)
    await store.close()
    return Cost(enqueue: enqueue, turn: turn)
  }

  /// What one bite of recovery costs where so many jobs are past their retention.
  private func bite(of size: Int) async throws -> (work: StatementWork, report: RecoveryReport) {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await store.insert(.plain())
    try await store.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i+1 FROM n LIMIT \(size))
      INSERT INTO durable_job(id,route,state,rank,priority,links,attempt,claim,entered_at,started_at)
      SELECT i,1,7,0,0,0,1,1099511627776,1,1 FROM n
      """)
    try await store.execute(
      "INSERT INTO durable_spec(id,created_at,payload) SELECT id,1,x'7b7d' FROM durable_job WHERE id>1")
    try await store.execute("UPDATE durable_route SET jobs=\(size),succeeded=\(size - 1)")
    let bite = try await store.work { try await store.recover(RecoveryRequest(limit: 1000)) }
    await store.close()
    return bite
  }

  /// What a reader's steps are for `query` in a store with so many jobs that have succeeded.
  private func steps(_ query: JobQuery, among size: Int) async throws -> Int {
    let folder = try StoreFolder()
    let store = try folder.store()
    try await store.insert(.plain(), .plain("other"))
    try await store.execute(
      """
      WITH RECURSIVE n(i) AS (SELECT 3 UNION ALL SELECT i+1 FROM n LIMIT \(size))
      INSERT INTO durable_job(id,route,state,rank,priority,links,attempt,claim,entered_at,started_at)
      SELECT i,1,7,0,0,0,1,1099511627776,1,1 FROM n
      """)
    try await store.execute("UPDATE durable_route SET jobs=\(size + 1),succeeded=\(size) WHERE id=1")
    let steps = try await store.engine.read { connection in
      let page = try JobPage(query, on: connection)
      let statement = try page.statement(selecting: "j.id", on: connection)
      try statement.run()
      return Int(sqlite3_stmt_status(statement.handle, SQLITE_STMTSTATUS_VM_STEP, 0))
    }
    await store.close()
    return steps
  }

  @Test(
    "A page of jobs of a kind that has few costs among many others what it costs among few",
    arguments: [JobFilter.kind("other"), .kind("none"), .queue("none")])
  func few(filter: JobFilter) async throws {
    let (few, many) = (try await steps(JobQuery(filter), among: 100), try await steps(JobQuery(filter), among: 20_000))
    #expect(many <= few + 50)
  }

  @Test func `C36 A bite of recovery costs with a crowd of expired jobs what it costs with 5,000`() async throws {
    let (few, many) = (try await bite(of: 5_000), try await bite(of: Self.crowd))
    for (work, report) in [few, many] {
      #expect(report.hasMore)
      #expect((10_000...200_000).contains(work.steps), "\(work.steps)")
      #expect((work.scans, work.sorts) == (0, 0))
    }
    #expect(abs(Double(many.work.steps) / Double(few.work.steps) - 1) <= 0.01)
    #expect(many.work.runs == few.work.runs)
  }

  @Test(
    "C35 C36 C61 Enqueue, and settle with claim, cost with a crowd of rows in the way what they cost with few",
    arguments: Crowd.allCases)
  func flat(crowd: Crowd) async throws {
    // A claim makes a thousand of those ready that are due.
    let few = try await cost(of: crowd, crowd == .due ? 5_000 : 1_000)
    let many = try await cost(of: crowd, Self.crowd)
    for (few, many) in [(few.enqueue, many.enqueue), (few.turn, many.turn)] {
      #expect(few.steps > 5_000)
      #expect(abs(Double(many.steps) / Double(few.steps) - 1) <= 0.01)
      #expect(many.runs == few.runs)
      #expect(many.scans == 0)
      #expect(many.sorts == 0)
    }
  }
}
