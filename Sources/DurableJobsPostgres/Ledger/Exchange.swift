#if Postgres
  import DurableJobs
  import Foundation

  /// The results collected while a pipeline is read.
  final class PipelineAnswer {
    var reply = LedgerReply()
    /// Rows of jobs, and whether the worker that claimed each still stands. Their kinds may have to be looked up.
    var stored: [(row: StoredRow, isStanding: Bool)] = []
    var locked: Set<JobID> = []
    /// What was locked by ``Needs/heldBy``, and is not read yet.
    var held: [JobID] = []
    /// Jobs that have succeeded and had needed others.
    var dependents: [JobID] = []
  }

  extension Transaction: JobLedger {
    func exchange(_ request: LedgerRequest) throws -> LedgerReply {
      if isLone, let reply = try addAlone(request) { return reply }
      begin()
      if !request.add.isEmpty {
        try intern(request.add.lazy.map(\.job))
        if !request.add.allSatisfy(\.isPlain) { try reserveIDs(request.add.count) }
      }
      if !request.load.isEmpty { keepRows() }
      if let changes = request.save { try save(changes) }
      if request.take != nil, ahead == nil { try prepareClaim() }

      let answer = PipelineAnswer()
      if expectedIDs > ids.count, request.add.isEmpty { sendForIDs(expectedIDs - ids.count) }
      if let renewal = request.renew {
        renew(renewal.worker, until: renewal.leaseUntil, ifShort: request.hold == nil, answer)
      }
      if let tokens = request.hold { hold(tokens, answer) }
      if !request.finish.isEmpty { finish(request.finish, answer) }
      if let worker = expectedWorker, ownRows[worker] == nil, request.load.worker == nil, request.take == nil {
        look(at: worker)
      }
      if let batch = request.batch { try enter(batch, answer) }
      if !request.add.isEmpty { try add(request.add, in: request.batch, answer) }
      if !request.tally.isEmpty { count(request.tally, answer) }
      if let (batch, job) = request.complete { complete(batch, followedBy: job) }
      drop(request.forget.map(\.rawValue))
      if !request.dispossess.isEmpty { dispossess(request.dispossess, answer) }
      if let limit = request.promote { promoteAll(limit: limit, answer) }
      assume()
      let claim = request.take.flatMap { sendClaim($0, answer) }
      load(request.load, answer)
      if let worker = request.load.worker {
        if ownRows[worker] == nil { look(at: worker) }
      }
      try sync()
      try confirm()
      // By a statement of its own, which sees what others stored while that which ended the jobs waited for them.
      if !answer.dependents.isEmpty { connection.send(Self.dropWaitsSQL, [.ids(answer.dependents)]) }
      try placeMoves()
      try claim?.finish(self, answer)
      try loadHeld(request.load, answer)
      ends += answer.reply.overdue + (request.load.passesOverLocked ? answer.reply.held : [])
      try loadAgain(request.load, answer)
      if let worker = request.load.worker { answer.reply.workers = context.workers.counted(ownRows[worker] ?? []) }
      if !request.load.limitsOf.isEmpty { answer.reply.limits = try limits(of: request.load.limitsOf) }
      try addRows(answer)
      return answer.reply
    }

    /// Makes rows of what was read: the kind of each is in its route.
    private func addRows(_ answer: PipelineAnswer) throws {
      guard !answer.stored.isEmpty else { return }
      if answer.stored.contains(where: { routes.byID[$0.row.route] == nil }) { try readRoutes() }
      for (row, isStanding) in answer.stored {
        let kind = routes.byID[row.route]?.kind ?? ""
        if let job = row.job(kind: kind, isStanding: { _ in isStanding }) { answer.reply.jobs.append(job) }
      }
    }

    // MARK: Success

    /// Jobs that nobody waits for, that were asked nothing, and that have nothing to release.
    static let finishSQL = """
      WITH f AS(
        UPDATE §job j SET state=7,entered_at=$5 FROM unnest($1,$2,$3,$4) u(ord,id,claim,output)
        WHERE j.id=u.id AND j.claim=u.claim AND j.state+0=5 AND j.links&\(slowLinks.rawValue)=0
          AND u.claim>>\(ClaimNumber.bits)=ANY(ARRAY(
            SELECT id FROM §worker WHERE id=ANY(ARRAY(SELECT c>>\(ClaimNumber.bits) FROM unnest($3) c))
              AND lease_until<>\(WorkerRow.taken)))
        RETURNING j.id,j.route,j.batch,j.links,u.ord,u.output
      ),o AS(
        INSERT INTO §output SELECT id,output FROM f WHERE output IS NOT NULL
        ON CONFLICT(id) DO UPDATE SET bytes=excluded.bytes
      )
      SELECT ord,id,route,batch,links&\(Links.parents.rawValue) FROM f ORDER BY ord
      """
    static let slowLinks: Links = Links.stopAsked.union(.slow).union([.unique, .deadline])

    private func finish(_ finishes: [Finish], _ answer: PipelineAnswer) {
      let sorted = finishes.sorted { $0.token.job < $1.token.job }
      connection.send(
        Self.finishSQL,
        [
          .ints(sorted.map { Int64($0.index) }), .ids(sorted.map(\.token.job)), .ints(sorted.map(\.token.claim)),
          .datas(sorted.map(\.output)), .int(now),
        ]
      ) { [self] rows in
        if rows.count > 0 { FaultPoint.settleMarked.reach() }
        for row in 0..<rows.count {
          answer.reply.finished.append(Int(rows.int(row, 0)))
          if rows.int(row, 4) != 0 { answer.dependents.append(rows.id(row, 1)) }
          moved(rows.id(row, 1), route: rows.int(row, 2), from: .running, to: .succeeded)
          news.moved(in: rows.intOrNull(row, 3).map(BatchID.init(rawValue:)), from: .running, to: .succeeded)
        }
      }
    }

    // MARK: Batches

    static let makeBatchSQL =
      "INSERT INTO §batch(id,name,completion,open) VALUES(nextval('§batch_id'),$1,$2,$3) RETURNING id"
    static let closeBatchSQL = "UPDATE §batch SET open=false WHERE id=$1"
    static let tallySQL = """
      WITH t AS(
        UPDATE §batch b SET total=b.total+u.total,live=b.live+u.live,succeeded=b.succeeded+u.succeeded,jobs=b.jobs+u.jobs
        FROM unnest($1,$2,$3,$4,$5) u(id,total,live,succeeded,jobs) WHERE b.id=u.id
        RETURNING b.id,b.live,b.done,CASE WHEN b.live<=0 AND NOT b.done THEN b.completion END,b.open
      ) SELECT * FROM t ORDER BY 1
      """
    static let dropBatchesSQL =
      "DELETE FROM §batch WHERE id=ANY($1) AND NOT open AND jobs<=0 AND(done OR completion IS NULL)"
    static let completeSQL =
      "UPDATE §batch SET done=true,follower=$2,empty_at=CASE WHEN jobs<=0 THEN $3::bigint END WHERE id=$1"
    static let lockBatchSQL = "SELECT id FROM §batch WHERE id=$1 FOR UPDATE"
    static let batchSQL = "SELECT id,live,done,completion,open FROM §batch WHERE id=$1"

    private func enter(_ membership: BatchMembership, _ answer: PipelineAnswer) throws {
      answer.reply.batch = membership.known
      if case .close(let id) = membership {
        connection.send(Self.closeBatchSQL, [.int(id.rawValue)])
        news.closed(id)
      }
      guard let (name, whenDone, isOpen) = membership.made else { return }
      let completion = try whenDone.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
      connection.send(Self.makeBatchSQL, [.text(name.composed), .text(completion), .bool(isOpen)]) { [self] rows in
        let id = BatchID(rawValue: rows.int(0, 0))
        answer.reply.batch = id
        madeBatch = (id, name.composed)
        news.touch(id)
      }
    }

    private func count(_ tallies: [BatchID: BatchTally], _ answer: PipelineAnswer) {
      let all = tallies.sorted { $0.key.rawValue < $1.key.rawValue }
      connection.send(
        Self.tallySQL,
        [
          .ints(all.map(\.key.rawValue)), .ints(all.map(\.value.total)), .ints(all.map(\.value.live)),
          .ints(all.map(\.value.succeeded)), .ints(all.map(\.value.jobs)),
        ]
      ) { rows in answer.reply.batches += (0..<rows.count).map { Self.batch(rows, $0) } }
      let shrunk = all.filter { $0.value.jobs < 0 }.map(\.key.rawValue)
      drop(shrunk)
    }

    /// Drops those of these batches that have no jobs.
    private func drop(_ batches: [Int64]) {
      if !batches.isEmpty { connection.send(Self.dropBatchesSQL, [.ints(batches)]) }
    }

    private func complete(_ batch: BatchID, followedBy job: JobID?) {
      connection.send(Self.completeSQL, [.int(batch.rawValue), .int(job?.rawValue), .int(now)])
    }

    static func batch(_ rows: Rows, _ row: Int) -> BatchRow {
      // A completion that is unreadable, or not allowed, does not stop any job of the batch.
      let whenDone = rows.text(row, 3).flatMap { try? JSONDecoder().decode(NewJob.self, from: Data($0.utf8)) }
        .flatMap { job in (try? BatchMembership.new(name: "any", whenDone: job).check()).map { job } }
      return BatchRow(
        id: BatchID(rawValue: rows.int(row, 0)), live: rows.int(row, 1), isDone: rows.bool(row, 2),
        isOpen: rows.bool(row, 4),
        whenDone: whenDone)
    }
  }
#endif
