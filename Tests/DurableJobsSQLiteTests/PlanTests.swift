import DurableJobs
import Foundation
import GRDBSQLite
import Testing

@testable import DurableJobsSQLite

@Suite struct PlanTests {
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store()
  }

  private func plan(_ sql: String) async throws -> [String] {
    try await store.engine.read { connection in
      Statement.addJSONValue(to: connection)
      let statement = try Statement("EXPLAIN QUERY PLAN \(sql)", on: connection)
      var lines: [String] = []
      while try statement.step() { lines.append(statement.text(3) ?? "") }
      return lines
    }
  }

  /// A list that a caller gave is gone through.
  private func isExpensive(_ line: String) -> Bool {
    let isList = line == "SCAN CONSTANT ROW" || line.hasPrefix("SCAN json_each VIRTUAL TABLE")
    return line.hasPrefix("SCAN") && !isList || line.contains("TEMP B-TREE") || line.contains("AUTOMATIC")
  }

  @Test func `All statements of the writer are looked at`() throws {
    let source = URL(fileURLWithPath: #filePath).appendingPathComponent(
      "../../../Sources/DurableJobsSQLite/Writing/WriterStatement.swift")
    let text = try String(contentsOf: source.standardizedFileURL, encoding: .utf8)
    let others: [WriterStatement] = [
      .begin, .commit, .rollback, .beginPart, .endPart, .rollbackPart, .busyTimeout,
    ]
    #expect(Set(heldStatements).union(others).count == text.components(separatedBy: ": WriterStatement =").count - 1)
  }

  @Test(
    "No statement of the writer goes through a table or sorts, but the lists of routes and of what is set by hand",
    arguments: heldStatements)
  func held(statement: WriterStatement) async throws {
    let lines = try await plan(statement.sql).filter(isExpensive)
    // There are as many routes as there are kinds in queues, and the lists are read only when they changed; of lanes, those
    // that somebody set, when the clock was set back.
    // What runs is counted no further than to the limit. SQLite's own list has a row for each table with rising numbers.
    let short = [
      .limitOf: "SCAN (subquery", .dropRoutes: "SCAN durable_route",
      .rebaseLanes: "SCAN durable_lane_width", .seats: "SCAN (subquery", .insertBatch: "SCAN sqlite_sequence",
    ][statement]
    #expect(lines.allSatisfy { line in short.map { line.hasPrefix($0) } ?? false })
  }

  @Test func `Ready jobs are read in their order from the index`() async throws {
    let lines = try await plan(WriterStatement.pick)
    #expect(lines.first == "SEARCH j USING INDEX durable_job_line (route=? AND state=?)")
    #expect(lines.filter(isExpensive).isEmpty)
  }

  @Test(
    "A page of jobs begins where it is asked to and is not sorted",
    arguments: [
      JobFilter.all, .id(JobID(rawValue: 7)), .queue("default"), .kind("work"), .state(.running), .state(.succeeded),
      .queue("default") && (.state(.running) || .state(.suspended)), .tag("a"), .key("k") && !.state(.failed),
      .batch(BatchID(rawValue: 1)), .tag("a") || .key("k"), .queue("nobody") && .state(.failed),
    ])
  func pages(filter: JobFilter) async throws {
    try await store.insert(.plain(terms: JobTerms(key: "k", tags: ["a"])), .plain())
    _ = try await store.claim(.of(1))
    for order in [JobQuery.Order.oldestFirst, .newestFirst] {
      let sql = try await store.engine.read { connection in
        let query = JobQuery(filter, order: order, after: JobID(rawValue: 5), limit: 10)
        return "SELECT j.id FROM \(try JobPage(query, on: connection).sql)"
      }
      let lines = try await plan(sql)
      #expect(lines.filter(isExpensive).isEmpty, "\(sql): \(lines)")
    }
  }

  @Test(
    "C64 What the way to jobs holds by itself is not asked again of each of them",
    arguments: [JobFilter.tag("a"), .key("k"), .batch(BatchID(rawValue: 1)), .tag("a") && .state(.ready)])
  func once(filter: JobFilter) async throws {
    let page = try await store.engine.read { try JobPage(JobQuery(filter, limit: .max), on: $0) }
    let lines = try await plan("SELECT count(*) FILTER(WHERE j.state=4) FROM \(page.sql)")
    #expect(lines.count == 2 && lines.last == "SEARCH j USING INTEGER PRIMARY KEY (rowid=?)", "\(lines)")
  }

  @Test(
    "C64 Lists that are merged are each read in their order, and from where the page begins",
    arguments: [
      JobFilter.state(.failed), .queue("default") && !.state(.succeeded) && !.tag("a"), .lane("l") && .unfinished,
    ])
  func merged(filter: JobFilter) async throws {
    try await store.insert(.plain(terms: JobTerms(lane: "l")), .plain(terms: JobTerms(lane: "l")), .plain())
    try await store.execute("UPDATE durable_job SET state=8 WHERE id=3")
    for order in [JobQuery.Order.oldestFirst, .newestFirst] {
      let run = try await store.engine.read { connection in
        try statements(on: connection) {
          _ = try JobPage(JobQuery(filter, order: order, after: JobID(rawValue: 2), limit: 10), on: connection)
        }
      }
      let lists = run.filter { $0.contains("?3") && $0.contains("LIMIT") }
      #expect(!lists.isEmpty)
      for sql in lists {
        let lines = try await plan(sql)
        #expect(lines.filter(isExpensive).isEmpty, "\(sql): \(lines)")
        #expect(lines[0].contains(order == .oldestFirst ? ">?)" : "<?)"), "\(sql): \(lines)")
      }
    }
  }

  @Test func `Jobs of a list of ids are looked up one by one`() async throws {
    for order in [JobQuery.Order.oldestFirst, .newestFirst] {
      let page = try await store.engine.read {
        let filter = JobFilter.queue("q") && .ids((1...9).map { JobID(rawValue: $0) })
        return try JobPage(JobQuery(filter, order: order, limit: 10), on: $0)
      }
      let lines = try await plan("SELECT j.id FROM \(page.sql)")
      #expect(lines.first == "SEARCH j USING INTEGER PRIMARY KEY (rowid=?)", "\(lines)")
    }
  }

  @Test func `A check looks up each place in a lane by its whole key`() async throws {
    let lines = try await plan(StoreCheck.derived[0].wrong[1])
    #expect(lines.contains("SEARCH x USING PRIMARY KEY (name=? AND seat=? AND job=?)"), "\(lines)")
  }

  @Test func `What readers ask goes through no table but the short ones`() async throws {
    let short = [
      "SCAN r", "SCAN durable_route", "SCAN durable_worker", "SCAN durable_queue", "SCAN durable_constraint",
    ]
    for sql in [
      JobPage.rankSQL, RouteTotals.sql, RouteTotals.runningSQL, RouteTotals.dueSQL, RouteTotals.returningSQL,
      Census.workersSQL, Census.dueSQL, Census.claimsSQL, Engine.finishedSQL, failuresSQL, edgesSQL, stepsSQL,
      constraintsSQL, limitsSQL, WaitsReader.needsSQL, Engine.emptySQL, Census.nextDeadlineSQL, batchByIDSQL,
      batchByNameSQL,
    ] {
      let lines = try await plan(sql).filter { line in
        isExpensive(line) && !short.contains { line == $0 || line.hasPrefix("\($0) USING COVERING INDEX") }
      }
      #expect(lines.isEmpty, "\(sql): \(lines)")
    }
  }
}

/// What `body` has the connection run.
private func statements(on connection: OpaquePointer, _ body: () throws -> Void) throws -> [String] {
  let all = Lock<[String]>([])
  return try withExtendedLifetime(all) {
    sqlite3_trace_v2(
      connection, UInt32(SQLITE_TRACE_STMT),
      { _, seen, statement, _ in
        let sql = String(cString: sqlite3_sql(OpaquePointer(statement!)))
        Unmanaged<Lock<[String]>>.fromOpaque(seen!).takeUnretainedValue().withLock { $0.append(sql) }
        return 0
      }, Unmanaged.passUnretained(all).toOpaque())
    defer { sqlite3_trace_v2(connection, 0, nil, nil) }
    try body()
    return all.withLock(\.self)
  }
}

/// All statements of the writer but those that begin and end transactions.
private let heldStatements: [WriterStatement] = [
  .insertJob, .replacePayload, .insertSpec, .insertKey, .insertTag, .keyOwners, .takeKey, .releaseKey, .findQueue,
  .insertQueue, .findRoute, .insertRoute, .dropRoutes, .pauseQueue, .setConstraint, .clearConstraint, .setLimits,
  .limitOf, .putTat, .bumpChanges, .count, .beforeClaim, .nextDue, .promote, .routeOf, .pickOnly, .mark, .succeed,
  .insertOutput, .load, .childRows, .save, .seize, .appendFailure, .trimFailures, .putProgress, .putCrash,
  .deleteCrash, .putNote, .deleteNote, .noteDoubt, .putStep, .steps, .deleteSteps, .insertBatch, .closeBatch, .batch,
  .putMember, .deleteMember, .tally, .complete, .deleteBatch, .putDeadline, .deleteDeadline, .forgetDeadlines,
  .overdue, .insertSeat, .deleteSeat, .seats, .waiting, .putWidth, .putPace, .dropLane, .rebaseLanes, .named,
  .waiters, .isKeyAwaited, .waitForKey, .bindKey, .unbindKey, .markBound, .deleteKeyEdges, .insertEdge, .children,
  .parents, .inputs, .putWait, .deleteWait, .neverMet, .deleteParents, .deleteChildren, .insertWorker,
  .grantLease, .workerLease, .renewLease, .takeWorker, .deleteWorker, .heldBy, .epoch, .nextEpoch,
  .noteTime, .rebase, .highestID, .stub, .setStub, .makeStub, .deleteStub, .deleteJob, .deleteSpec, .deleteKey,
  .deleteTag, .deleteOutput, .deleteFailures, .deleteProgress,
]
