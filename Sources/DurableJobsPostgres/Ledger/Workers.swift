#if Postgres
  import DurableJobs
  import Foundation

  /// Rows of workers: leases, and what is held under them. A worker's row is locked by each claim under it, so that
  /// nobody removes it meanwhile.
  ///
  /// A server that was restored, or a fail-over, may have lost a row and given its number to another process: a row is
  /// this process's own if it also has its session.
  extension Transaction {
    private static let standingSQL = """
      SELECT id,lease_until FROM §worker WHERE id=ANY($1) AND session=$2 AND lease_until<>\(WorkerRow.taken) ORDER BY id
      """
    static let lookSQL = "\(standingSQL) FOR NO KEY UPDATE"
    /// Nobody takes them meanwhile, and all others may go on.
    static let keepSQL = "\(standingSQL) FOR KEY SHARE"
    static let keepFreeSQL = keepSQL + " SKIP LOCKED"
    static let workerIDSQL = "SELECT nextval('§worker_id')"
    static let insertWorkerSQL = """
      INSERT INTO §worker(
        id,lease_until,name,session,kinds,queues,satisfied,absent,host,pid,started_at,machine,process_start)
      VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13)
      """
    static let grantSQL =
      "UPDATE §worker SET lease_until=$3,kinds=$4,queues=$5,satisfied=$6,absent=$7 WHERE id=$1 AND session=$2"
    static let renewSQL = """
      UPDATE §worker SET lease_until=$3 WHERE id=ANY($1) AND session=$2 AND lease_until<>\(WorkerRow.taken)
      RETURNING id,lease_until
      """
    static let renewFreeSQL = """
      UPDATE §worker SET lease_until=$3
      WHERE id=ANY(ARRAY(SELECT id FROM(\(standingSQL) FOR NO KEY UPDATE SKIP LOCKED) w)) AND lease_until<$3
      """
    static let certainSQL = """
      SELECT u.ord FROM unnest($1,$2,$3) u(ord,id,claim) JOIN §job j ON j.id=u.id
      WHERE j.claim=u.claim AND j.state+0=5 AND j.links&\(Links.stopAsked.rawValue)=0
        AND EXISTS(SELECT 1 FROM §worker w
          WHERE w.id=u.claim>>\(ClaimNumber.bits) AND w.session=$4 AND w.lease_until<>\(WorkerRow.taken))
      ORDER BY 1
      """
    /// What runs under these rows. The planner's settings would have the server compare each with a whole list of others.
    static let ownClaimsSQL = "SELECT h.id,h.claim FROM \(whatRuns) WHERE h.claim>>\(ClaimNumber.bits)=ANY($1)"
    /// Without those that are locked, as by a process that was stopped in the middle of its claim: the next sweep comes
    /// to them again.
    static let dispossessSQL = """
      UPDATE §worker SET lease_until=\(WorkerRow.taken) WHERE id=ANY(ARRAY(
        SELECT w.id FROM unnest($1,$2) u(id,lease_until) JOIN §worker w ON w.id=u.id AND w.lease_until=u.lease_until
        ORDER BY w.id FOR UPDATE OF w SKIP LOCKED)) RETURNING id
      """
    /// Own rows, and those that were taken.
    static let burySQL =
      "DELETE FROM §worker WHERE id=ANY($1) AND (session=$2 OR lease_until=\(WorkerRow.taken))"

    /// Reads the standing rows of a worker of this process into ``ownRows``.
    func look(at worker: WorkerID) {
      read(rowsOf: worker, Self.lookSQL) { [self] rows in if let id = rows.last?.id { signsOfLife.append(id) } }
    }

    /// Locks ``rowsToKeep``, those that nobody keeps locked.
    func keepRows() {
      guard !rowsToKeep.isEmpty else { return }
      connection.send(Self.keepFreeSQL, [.ints(rowsToKeep.sorted()), .text(context.session)])
      rowsToKeep = []
    }

    private func read(
      rowsOf worker: WorkerID, _ sql: String, _ values: [Value] = [], then: @escaping ([WorkerRow]) -> Void = { _ in }
    ) {
      let known = context.workers.rows(of: worker)
      guard !known.isEmpty else { return ownRows[worker] = [] }
      connection.send(sql, [.ints(known.compactMap(\.id)), .text(context.session)] + values) { [self] rows in
        var leases: [Int64: Int64] = [:]
        for row in 0..<rows.count { leases[rows.int(row, 0)] = rows.int(row, 1) }
        missedRows.formUnion(known.compactMap(\.id).filter { leases[$0] == nil })
        ownRows[worker] = known.compactMap { row in
          var row = row
          guard let lease = leases[row.id ?? 0] else { return nil }
          row.leaseUntil = lease
          return row
        }
        then(ownRows[worker] ?? [])
      }
    }

    func save(_ rows: [WorkerRow]) throws {
      for row in rows {
        var row = row
        var own = ownRows[row.worker] ?? context.workers.rows(of: row.worker)
        let what: [Value] = [
          .text(nameList(row.kinds)), .text(nameList(row.queues)), .text(row.satisfied.list), .text(row.absent.list),
        ]
        if let id = row.id {
          connection.send(Self.grantSQL, [.int(id), .text(context.session), .int(row.leaseUntil)] + what)
          own = own.map { $0.id == id ? row : $0 }
        } else {
          connection.send(Self.workerIDSQL) { row.id = $0.int(0, 0) }
          try sync()
          connection.send(
            Self.insertWorkerSQL,
            [.int(row.id), .int(row.leaseUntil), .text(row.worker.name), .text(context.session)] + what + [
              .text(ProcessInfo.processInfo.hostName), .int(Int64(ProcessInfo.processInfo.processIdentifier)),
              .int(now), .text(context.process?.machine), .int(context.process?.start),
            ])
          if let process = context.process, !context.isUnannounced.exchange(false) {
            introducesWorker = true
            let introduction = Notices.introduction(of: process, session: context.session)
            connection.send(Notices.notifySQL, [.text(context.channel), .text(introduction)])
          }
          own.append(row)
        }
        ownRows[row.worker] = own
      }
    }

    /// A heartbeat writes one row, the worker's, however many jobs it holds. Steps, which `ifShort` tells, don't while much of
    /// the lease is left: each would keep the row till its commit, and all else of the worker wait for that.
    func renew(_ worker: WorkerID, until leaseUntil: Int64, ifShort: Bool, _ answer: PipelineAnswer) {
      let known = context.workers.rows(of: worker)
      let isLong = ifShort && known.allSatisfy { !$0.isShort(of: leaseUntil, at: now) }
      read(rowsOf: worker, isLong ? Self.keepSQL : Self.renewSQL, isLong ? [] : [.int(leaseUntil)]) { [self] rows in
        answer.reply.workers = rows
        signsOfLife += rows.compactMap(\.id)
      }
    }

    /// A sign of life, and nothing else: the lease is written however much of it is left.
    func renew(_ worker: WorkerID, for lease: Duration) throws {
      begin()
      renew(worker, until: WorkerRow.lease(lease, from: now), ifShort: false, PipelineAnswer())
      try sync()
    }

    /// Those of them that nobody keeps locked. What took long does it last: till its worker comes to that, others would find a
    /// lease that has lapsed meanwhile.
    func renew(_ rows: Set<Int64>, for lease: Duration, from time: Int64) {
      let leaseUntil = WorkerRow.lease(lease, from: time)
      connection.send(Self.renewFreeSQL, [.ints(rows.sorted()), .text(context.session), .int(leaseUntil)])
    }

    /// Rows of other workers of this process are filtered by the result of the renewal.
    func hold(_ tokens: [ClaimToken], _ answer: PipelineAnswer) {
      if !tokens.isEmpty {
        connection.send(
          Self.certainSQL,
          [
            .ints(tokens.indices.map(Int64.init)), .ids(tokens.map(\.job)), .ints(tokens.map(\.claim)),
            .text(context.session),
          ]
        ) { [self] rows in
          answer.reply.certain = (0..<rows.count).map { Int(rows.int($0, 0)) }
          // Whoever stores a late result has its job locked.
          let (known, late) = (Set(answer.reply.certain), context.lateEnds.claims)
          answer.reply.certain += tokens.indices.filter { late.contains(tokens[$0]) && !known.contains($0) }
        }
      }
      let listed = Set(tokens)
      let rows = context.workers.allIDs
      guard !rows.isEmpty else { return }
      connection.send(Self.ownClaimsSQL, [.ints(rows.sorted())]) { rows in
        let standing = Set(answer.reply.workers.compactMap(\.id))
        for row in 0..<rows.count {
          let token = ClaimToken(job: rows.id(row, 0), claim: rows.int(row, 1))
          if standing.contains(token.worker), !listed.contains(token) {
            answer.reply.unlisted.append(token.job)
          }
        }
      }
    }

    func dispossess(_ losses: [WorkerRow], _ answer: PipelineAnswer) {
      let seen = losses.compactMap { row in row.id.map { (id: $0, leaseUntil: row.leaseUntil) } }
      let sorted = seen.sorted { $0.id < $1.id }
      connection.send(Self.dispossessSQL, [.ints(sorted.map(\.id)), .ints(sorted.map(\.leaseUntil))]) { rows in
        let taken = Set((0..<rows.count).map { rows.int($0, 0) })
        answer.reply.dispossessed = seen.map(\.id).filter(taken.contains)
      }
    }

    func bury(_ workers: [Int64]) {
      connection.send(Self.burySQL, [.ints(workers.sorted()), .text(context.session)])
      goneRows.formUnion(workers)
    }
  }

  extension ClaimToken {
    /// The row of the worker that has the claim.
    var worker: Int64 { ClaimNumber(rawValue: claim).worker }
  }
#endif
