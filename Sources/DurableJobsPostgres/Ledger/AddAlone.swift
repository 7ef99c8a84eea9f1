#if Postgres
  import DurableJobs
  import Foundation

  /// The only job of a transaction that does nothing else: the usual call of a program that hands in work. One statement
  /// writes its rows and the count, and the caller does not wait for the server before it sends COMMIT. What is needed
  /// to ask for the outcome, if that is not heard, the server tells before it begins with that statement.
  extension Transaction {
    static let addAloneSQL = """
      WITH i AS(INSERT INTO §job(id,route,state,rank,priority,links,attempt,claim,run_at,entered_at,started_at)
          VALUES(currval('§job_id'),$1,$2,$3,$4,$5,0,\(ClaimNumber.nobody.rawValue),$6,$7,$7)),
        s AS(INSERT INTO §spec(id,created_at,options,payload) VALUES(currval('§job_id'),$7,$8,$9))
      INSERT INTO §tally AS t VALUES($1,$10,1,0,CASE WHEN $2=\(JobState.scheduled.code) THEN 1 ELSE 0 END,0,0,0,0,0)
      ON CONFLICT(route,share) DO UPDATE SET jobs=t.jobs+1,scheduled=t.scheduled+excluded.scheduled
      RETURNING \(Tallies.metSQL)
      """

    /// Nil if it has to be stored in the usual way.
    func addAlone(_ request: LedgerRequest) throws -> LedgerReply? {
      guard !hasBegun, let life = connection.life, request.add.count == 1, let row = request.add.first, row.isPlain,
        row.course.state == .ready || row.course.state == .scheduled, row.job.terms.requires.isEmpty,
        request.batch == nil, request.save == nil, tallies.isSimple(at: now)
      else { return nil }
      let route = route(of: row.job)
      guard route > 0 else { return nil }
      let options = try StoredTerms(row.job.terms, nil).text
      var reply = LedgerReply()
      var metBefore: Int64 = 0
      beginAlone(life: life) { id, met in
        reply.added = [id]
        metBefore = met
      }
      connection.endEarlyPart()
      connection.send(
        Self.addAloneSQL,
        [
          .int(route), .int(row.course.state.code), .int(rank(of: row)), .int(row.job.terms.priority.stored),
          .int(row.links(nil).links.rawValue), .int(row.course.runAt?.milliseconds), .int(now),
          .text(options), .data(row.job.payload), .int(tallies.share),
        ]
      ) { [tallies, now] rows in tallies.saw(rows.int(0, 0) - metBefore, changing: 1, now: now) }
      isCounted = true
      try connection.readEarlyPart()
      FaultPoint.insertJob.reach()
      stored += reply.added
      for id in reply.added { moved(id, route: route, from: nil, to: row.course.state) }
      return reply
    }
  }
#endif
