#if Postgres
  import DurableJobs

  extension Transaction {
    private static let holdSQL = """
      WITH d AS(\(StoreCheck.damaged)), u AS(
        UPDATE §job j SET state=6,rank=-priority,entered_at=$1,links=links|\(Links.note.rawValue) FROM d
        WHERE d.id=j.id AND j.state<5 RETURNING j.id,d.why
      )
      INSERT INTO §note(job,text) SELECT id,'its row in the store is damaged: '||why FROM u
      ON CONFLICT(job) DO UPDATE SET text=excluded.text,cause=NULL
      """
    private static let mendWaitsSQL = [
      "CREATE TEMP TABLE durable_mend ON COMMIT DROP AS \(StoreCheck.wrongWaits)",
      "DELETE FROM §wait WHERE job IN(SELECT id FROM durable_mend)",
      "INSERT INTO §wait SELECT id,n FROM durable_mend WHERE n>0",
    ]
    /// Rows of waits and states follow from what a job waits for.
    private static let mendStatesSQL = """
      UPDATE §job j SET state=CASE WHEN m.n>0 THEN 2 WHEN coalesce(run_at,0)>$1 THEN 3 ELSE 4 END,
        rank=CASE WHEN m.n=0 AND coalesce(run_at,0)>$1 THEN run_at ELSE -priority END
      FROM durable_mend m WHERE m.id=j.id AND state BETWEEN 2 AND 4
      """
    private static let mendBatchesSQL = """
      UPDATE §batch b SET live=\(StoreCheck.liveMembers),jobs=(SELECT count(*) \(StoreCheck.members))
      WHERE id IN(\(StoreCheck.wrongBatches)) RETURNING id
      """

    private static let straysSQL = """
      SELECT id FROM §job j WHERE id=ANY($1) AND state+0=5
        AND NOT EXISTS(SELECT 1 FROM §worker WHERE id=j.claim>>\(ClaimNumber.bits))
      """

    /// Gives back those of these jobs that run for no worker. That is looked up by a statement after the one that locks them.
    func giveBack(strays ids: [JobID]) throws {
      begin()
      var strays: [JobID] = []
      connection.send(Self.lockFreeJobsSQL, [.ids(ids.sorted())]) { rows in
        strays = (0..<rows.count).map { rows.id($0, 0) }
      }
      try sync()
      connection.send(Self.straysSQL, [.ids(strays)]) { rows in strays = (0..<rows.count).map { rows.id($0, 0) } }
      try sync()
      _ = try change(.reset, strays, limit: strays.count)
    }

    /// Repairs what ``StoreCheck`` found, trusting the jobs' own rows. Nobody else writes meanwhile.
    func mend(_ check: StoreCheck) throws {
      func run(_ sql: String, _ values: [Value] = []) { connection.send(sql, values, isFixed: false) }
      // What is lost is held, before what is left of it looks like all.
      run(Self.holdSQL, [.int(now)])
      for (table, column) in StoreCheck.beside { run("DELETE FROM §\(table) x WHERE \(StoreCheck.isNoJob(column))") }
      for sql in StoreCheck.derived.flatMap(\.mending) { run(sql) }
      for sql in Self.mendWaitsSQL { run(sql) }
      run(Self.mendStatesSQL, [.int(now)])
      connection.send(Self.mendBatchesSQL, isFixed: false) { [self] rows in
        for row in 0..<rows.count { news.touch(BatchID(rawValue: rows.int(row, 0))) }
      }
      try sync()
      let names = try check.missingNames()
      takeKeys(names.uniques)
      if !names.keys.isEmpty {
        connection.send(Self.namesSQL, [.texts(names.keys.map(\.name.composed)), .ids(names.keys.map(\.job))])
      }
      if !names.tags.isEmpty {
        connection.send(Self.tagsSQL, [.texts(names.tags.map(\.name.composed)), .ids(names.tags.map(\.job))])
      }
      run("DELETE FROM §tally")
      run(PostgresStore.tallySQL)
      try sync()
      // The store's own statements use its own plans again.
      connection.send(Connection.settingsSQL, [.bool(true)])
      for name in try check.texts(StoreCheck.freeSeats) { try setLane(name) }
      try giveBack(strays: try check.texts(StoreCheck.strays).compactMap { Int64($0).map(JobID.init(rawValue:)) })
      routes.forget()
      news.tell(.all)
    }
  }
#endif
