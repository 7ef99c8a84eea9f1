import DurableJobs

extension SQLiteStore {
  /// Checks the file: recomputes from the jobs what is derived from them (what waits for what, lanes, batches, unique
  /// keys, keys, tags, deadlines, counts), compares it with what is stored, and runs SQLite's own checks. There are no
  /// findings for a sound store, even while others work on it.
  ///
  /// With `mending`, all but ``StoreFinding/Subject/file`` is corrected in one transaction; writers wait, and jobs that
  /// waited in error may run. Returns what was found before. Reads all rows: a million jobs take seconds.
  public func check(mending: Bool = false) async throws -> [StoreFinding] {
    guard mending else { return try await engine.read { try StoreCheck.findings(on: $0) } }
    return try await engine.write(.other) { transaction in
      let findings = try StoreCheck.findings(on: transaction.connection.handle)
      if findings.contains(where: { $0.subject != .file }) { try transaction.mendAll() }
      return findings
    }
  }
}

/// Queries for data derived from the rows of jobs.
enum StoreCheck {
  /// Tables with rows that belong to a job, and the column with its id.
  static let beside = [
    ("spec", "id"), ("job_key", "job"), ("tag", "job"), ("output", "id"), ("failure", "job"), ("progress", "id"),
    ("crash", "job"), ("note", "job"), ("edge", "child"), ("edge_key", "child"), ("wait", "job"), ("lane", "job"),
    ("step", "job"), ("deadline", "job"), ("batch_job", "job"), ("uniq", "job"),
  ]
  static let isNoJob = "NOT EXISTS(SELECT 1 FROM durable_job j WHERE j.id=x.%@)"

  /// How much each job waits for by the rules (`n`, from its edges and its place in a lane), and what is stored of it.
  static let waits = """
    SELECT j.id,j.state,j.run_at,
      (SELECT count(*) FROM durable_edge e JOIN durable_job p ON p.id=e.parent WHERE e.child=j.id AND p.state<7)
      +(SELECT count(*) FROM durable_edge_key WHERE child=j.id)
      +(j.links&\(Links.lane.rawValue)<>0 AND j.links&\(Links.seated.rawValue)=0) n,
      ifnull((SELECT n FROM durable_wait WHERE job=j.id),0) known
    FROM durable_job j WHERE j.state BETWEEN 2 AND 6
    """
  static let wrongWaits = """
    SELECT id,n FROM (\(waits)) WHERE n<>known OR (state=2)<>(n>0) AND state BETWEEN 2 AND 4
    UNION ALL SELECT job,0 FROM durable_wait JOIN durable_job j ON j.id=job WHERE j.state BETWEEN 7 AND 9
    """
  /// Places without a job, and jobs without their place.
  static let strayPlaces = """
    SELECT x.job FROM durable_lane x JOIN durable_job j ON j.id=x.job WHERE x.seat<>(j.links&\(Links.seated.rawValue)<>0)
      OR j.state BETWEEN 7 AND 10 AND j.links&\(Links.seated.rawValue)=0
    """
  static let missingPlaces = """
    SELECT j.id,\(option("lane")) lane,j.links&\(Links.seated.rawValue)<>0 seat
    FROM durable_job j JOIN durable_spec s ON s.id=j.id
    WHERE (j.state BETWEEN 2 AND 6 AND j.links&\(Links.lane.rawValue)<>0 OR j.links&\(Links.seated.rawValue)<>0)
      AND lane NOT NULL AND NOT EXISTS(SELECT 1 FROM durable_lane l WHERE l.name=lane AND l.seat IN(0,1) AND l.job=j.id)
    """
  private static func option(_ name: String) -> String {
    "CASE WHEN json_valid(s.options) THEN json_extract(s.options,'$.\(name)') END"
  }
  static let freeSeats = """
    SELECT l.name FROM durable_lane l LEFT JOIN durable_lane_width w ON w.name=l.name
    GROUP BY l.name HAVING sum(l.seat)<max(ifnull(w.width,1),1) AND min(l.seat)=0
    """
  static let members = """
    FROM durable_batch_job m JOIN durable_job j ON j.id=m.job AND j.state<>\(stubCode) WHERE m.batch=b.id
    """
  static let liveMembers = "(SELECT count(*) \(members) AND j.state<7)"
  static let wrongBatches = """
    SELECT b.id FROM durable_batch b WHERE b.live<>\(liveMembers) OR b.jobs<>(SELECT count(*) \(members))
      OR b.done=0 AND b.live<=0 OR (b.done=1 AND b.jobs<=0)<>(b.empty_at NOT NULL)
    """
  static let missingKeys = """
    SELECT j.id,\(option("unique")) name,\(option("uniqueUntil")) until
    FROM durable_job j JOIN durable_spec s ON s.id=j.id
    WHERE j.state BETWEEN 2 AND 6 AND j.links&\(Links.unique.rawValue)<>0 AND name NOT NULL
      AND NOT EXISTS(SELECT 1 FROM durable_uniq u WHERE u.key=name AND u.job=j.id)
    """
  static let missingNames = """
    SELECT j.id FROM durable_job j JOIN durable_spec s ON s.id=j.id
      LEFT JOIN(SELECT job,count(*) n FROM durable_tag GROUP BY job) t ON t.job=j.id
    WHERE j.state BETWEEN 2 AND 10 AND json_valid(s.options)
      AND (json_extract(s.options,'$.key') NOT NULL AND j.id NOT IN(SELECT job FROM durable_job_key)
        OR json_array_length(s.options,'$.tags')>ifnull(t.n,0))
    """
  static let missingDeadlines = """
    SELECT j.id,ifnull(\(option("endBy")),\(option("startBy"))) due
    FROM durable_job j JOIN durable_spec s ON s.id=j.id
    WHERE j.state BETWEEN 2 AND 6 AND j.links&\(Links.deadline.rawValue)<>0 AND due NOT NULL
      AND NOT EXISTS(SELECT 1 FROM durable_deadline d WHERE d.job=j.id AND d.at=due)
    """
  /// The numbers of a route, each by what it counts of its jobs.
  private static let numbers = [
    ("jobs", "1"), ("blocked", "state=2"), ("scheduled", "state=3"), ("suspended", "state=6"),
    ("succeeded", "state=7"), ("failed", "state=8"), ("cancelled", "state=9"), ("skipped", "state=10"),
  ]
  private static let counted = """
    SELECT route,\(list { "sum(\($1)) \($0)" }) FROM durable_job WHERE state BETWEEN 2 AND 10 GROUP BY route
    """
  static let wrongCounts = """
    SELECT r.id FROM durable_route r LEFT JOIN(\(counted)) n ON n.route=r.id
    WHERE (\(list { name, _ in "r.\(name)" })) IS NOT (\(list { name, _ in "ifnull(n.\(name),0)" }))
    """
  static let recount = """
    WITH n AS MATERIALIZED(\(counted)) UPDATE durable_route
    SET (\(list { name, _ in name }))=(SELECT \(list { name, _ in "ifnull(max(n.\(name)),0)" }) FROM n WHERE n.route=durable_route.id)
    """

  private static func list(_ text: (String, String) -> String) -> String { numbers.map(text).joined(separator: ",") }

  static func findings(on connection: OpaquePointer) throws -> [StoreFinding] {
    var findings: [StoreFinding] = []
    func look(_ subject: StoreFinding.Subject, _ sql: [String]) throws {
      var finding = StoreFinding(subject)
      for sql in sql {
        let rows = try Statement(sql, on: connection)
        while try rows.step() {
          guard let text = rows.text(0), text != "ok" else { continue }
          finding.count += 1
          if finding.details.count < 5 { finding.details.append(text) }
        }
      }
      if finding.count > 0 { findings.append(finding) }
    }
    try look(.file, ["PRAGMA integrity_check(100)"])
    try look(
      .remains,
      beside.map { "SELECT x.\($1) FROM durable_\($0) x WHERE \(isNoJob.replacing("%@", with: $1))" }
        + [
          "SELECT j.id FROM durable_job j WHERE j.state BETWEEN 2 AND 10 AND NOT EXISTS(SELECT 1 FROM durable_spec s WHERE s.id=j.id)"
        ])
    try look(.lanes, [strayPlaces, missingPlaces, freeSeats])
    try look(.waits, [wrongWaits])
    try look(.batches, [wrongBatches])
    try look(.uniqueKeys, [missingKeys])
    try look(.names, [missingNames])
    try look(.deadlines, [missingDeadlines])
    try look(.counts, [wrongCounts])
    return findings
  }
}

extension WriteTransaction {
  /// Corrects what ``StoreCheck`` finds, taking the jobs' own rows as correct.
  fileprivate func mendAll() throws {
    func run(_ sql: String) throws { try Statement(sql, on: connection.handle).run() }
    for (table, column) in StoreCheck.beside {
      let isNoJob = StoreCheck.isNoJob.replacing("%@", with: column)
      try run("DELETE FROM durable_\(table) AS x WHERE \(isNoJob)")
    }
    try run("DELETE FROM durable_lane WHERE job IN(\(StoreCheck.strayPlaces))")
    try run("INSERT OR IGNORE INTO durable_lane(name,seat,job) SELECT lane,seat,id FROM(\(StoreCheck.missingPlaces))")
    // The stored waits and states are derived from what a job waits for.
    try run("CREATE TEMP TABLE durable_mend AS \(StoreCheck.wrongWaits)")
    try run("DELETE FROM durable_wait WHERE job IN(SELECT id FROM durable_mend)")
    try run("INSERT INTO durable_wait(job,n) SELECT id,n FROM durable_mend WHERE n>0")
    try run(
      """
      UPDATE durable_job SET state=CASE WHEN m.n>0 THEN 2 WHEN ifnull(run_at,0)>\(now) THEN 3 ELSE 4 END,
        rank=CASE WHEN m.n=0 AND ifnull(run_at,0)>\(now) THEN run_at ELSE -priority END
      FROM durable_mend m WHERE m.id=durable_job.id AND state BETWEEN 2 AND 4
      """)
    try run("DROP TABLE durable_mend")
    try run("INSERT OR IGNORE INTO durable_uniq(key,job,until) SELECT name,id,until FROM(\(StoreCheck.missingKeys))")
    for id in try Statement(StoreCheck.missingNames, on: connection.handle).map({ $0.id(0) }) {
      guard let row = try load(id) else { continue }
      if let key = row.key { try self.run(.insertKey, key.composed, id) }
      for tag in row.tags { try self.run(.insertTag, tag.composed, id) }
    }
    try run("INSERT OR IGNORE INTO durable_deadline(at,job) SELECT due,id FROM(\(StoreCheck.missingDeadlines))")
    let batches = try Statement(StoreCheck.wrongBatches, on: connection.handle)
    while try batches.step() { news.touch(BatchID(rawValue: batches.int(0))) }
    try run(
      """
      UPDATE durable_batch AS b SET live=\(StoreCheck.liveMembers),jobs=(SELECT count(*) \(StoreCheck.members)),
        empty_at=CASE WHEN done=1 AND NOT EXISTS(SELECT 1 \(StoreCheck.members)) THEN \(now) END
      WHERE id IN(\(StoreCheck.wrongBatches))
      """)
    try recount()
    let lanes = try Statement(StoreCheck.freeSeats, on: connection.handle).map { $0.text(0) ?? "" }
    for name in lanes { try setLane(name) }
    memory.routes.forget()
    news.tell(.all)
  }
}
