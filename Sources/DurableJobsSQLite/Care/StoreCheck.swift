import DurableJobs

extension SQLiteStore {
  /// Checks the file: recomputes from the jobs what is derived from them (what waits for what, lanes, batches, unique
  /// keys, keys, tags, deadlines, counts), compares it with what is stored, and runs SQLite's own checks. There are no
  /// findings for a sound store, even while others work on it.
  ///
  /// With `mending`, all but `StoreFinding.Subject.file` is corrected in one transaction, and jobs of which a part is
  /// lost are suspended; writers wait, and jobs that waited in error may run. Returns what was found before, and of each
  /// whether a second look did not find it. Reads all rows: a million jobs take seconds.
  public func check(mending: Bool = false) async throws -> [StoreFinding] {
    guard mending else { return try await engine.read { try StoreCheck.findings(on: $0) } }
    var found = try await engine.write(.other) { transaction in
      let findings = try StoreCheck.findings(on: transaction.connection.handle)
      if findings.contains(where: { $0.subject != .file }) { try transaction.mendAll() }
      return findings
    }
    guard !found.isEmpty else { return [] }
    let left = Set(try await check().map(\.subject)).union([.damaged])
    for index in found.indices { found[index].isMended = !left.contains(found[index].subject) }
    return found
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
    SELECT j.id,j.state,j.links,
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
  /// Unfinished jobs of which a part is lost, and which.
  static let damaged = """
    SELECT id,min(why) why FROM(
      SELECT id,'what was asked for is missing' why FROM durable_job
      WHERE state IN(2,3,4,6) AND id NOT IN(SELECT id FROM durable_spec)
      UNION ALL SELECT id,'\(lostWait)' FROM(\(waits)) w WHERE state=2 AND links&\(Links.parents.rawValue)<>0 AND n=0
        AND(known>0 OR NOT EXISTS(SELECT 1 FROM durable_edge WHERE child=w.id))
      UNION ALL SELECT e.child,'\(lostWait)' FROM durable_edge e JOIN durable_job j ON j.id=e.child
      WHERE j.state IN(2,3,4) AND e.need<=\(Edge.never) AND e.parent NOT IN(SELECT id FROM durable_job)
    ) GROUP BY id
    """
  static let lostWait = "what it waits for is missing"

  /// A table whose rows follow from the rows and the options of jobs: what is wrong in it, and what puts it right.
  struct Derived {
    let subject: StoreFinding.Subject
    let wrong: [String]
    let mending: [String]

    /// `columns`: those beside `job`, and what each is of a job `j` with the spec `s`. A job that `has` a row has one if the
    /// first is not null. Options that are lost tell nothing.
    init(
      _ subject: StoreFinding.Subject, _ table: String, _ columns: KeyValuePairs<String, String>, has: String,
      mayHave: String = "1"
    ) {
      let isRight = columns.map { "x.\($0) IS \($1)" }.joined(separator: " AND ")
      let isStray = """
        EXISTS(SELECT 1 FROM durable_job j LEFT JOIN durable_spec s ON s.id=j.id WHERE j.id=x.job
          AND NOT((\(mayHave)) AND(s.id IS NULL OR NOT ifnull(json_valid(s.options),1) OR \(isRight))))
        """
      let missing = """
        SELECT j.id,\(columns.map(\.value).joined(separator: ",")) FROM durable_job j JOIN durable_spec s ON s.id=j.id
        WHERE(\(has)) AND \(columns[0].value) NOT NULL
          AND NOT EXISTS(SELECT 1 FROM durable_\(table) x WHERE \(isRight) AND x.job=j.id)
        """
      let names = columns.map(\.key).joined(separator: ",")
      self.subject = subject
      wrong = ["SELECT x.job FROM durable_\(table) x WHERE \(isStray)", missing]
      mending = [
        "DELETE FROM durable_\(table) AS x WHERE \(isStray)",
        "INSERT OR REPLACE INTO durable_\(table)(job,\(names)) \(missing)",
      ]
    }
  }
  private static func option(_ name: String) -> String {
    "CASE WHEN json_valid(s.options) THEN durable_json_value(s.options->'$.\(name)') END"
  }
  private static func unfinished(_ link: Links) -> String { "j.state BETWEEN 2 AND 6 AND j.links&\(link.rawValue)<>0" }
  private static let seat = "(j.links&\(Links.seated.rawValue)<>0)"
  private static let isInLane = "\(unfinished(.lane)) OR \(seat)"
  static let derived = [
    Derived(.lanes, "lane", ["name": option("lane"), "seat": seat], has: isInLane, mayHave: isInLane),
    Derived(.names, "job_key", ["key": option("key")], has: "j.state BETWEEN 2 AND 10"),
    Derived(.names, "batch_job", ["batch": option("batch")], has: "j.state BETWEEN 2 AND 10"),
    Derived(
      .uniqueKeys, "uniq", ["key": option("unique"), "until": option("uniqueUntil")], has: unfinished(.unique)),
    Derived(
      .deadlines, "deadline", ["at": "ifnull(\(option("endBy")),\(option("startBy")))"], has: unfinished(.deadline)),
  ]
  static let freeSeats = """
    SELECT l.name FROM durable_lane l LEFT JOIN durable_lane_width w ON w.name=l.name
    GROUP BY l.name HAVING sum(l.seat<>0)<max(ifnull(w.width,1),1) AND min(l.seat)=0
    """
  static let members = """
    FROM durable_batch_job m JOIN durable_job j ON j.id=m.job AND j.state<>\(stubCode) WHERE m.batch=b.id
    """
  static let liveMembers = "(SELECT count(*) \(members) AND j.state<7)"
  static let wrongBatches = """
    SELECT b.id FROM durable_batch b WHERE b.live<>\(liveMembers) OR b.jobs<>(SELECT count(*) \(members))
      OR b.done=0 AND b.live<=0 OR (b.done=1 AND b.jobs<=0)<>(b.empty_at NOT NULL)
    """
  static let missingTags = """
    SELECT j.id,durable_json_value(s.options->t.fullkey) name FROM durable_job j JOIN durable_spec s ON s.id=j.id
      JOIN json_each(CASE WHEN json_valid(s.options) THEN s.options END,'$.tags') t
    WHERE j.state BETWEEN 2 AND 10 AND name NOT NULL
      AND NOT EXISTS(SELECT 1 FROM durable_tag WHERE tag=name AND job=j.id)
    """
  /// The numbers of a route, each by what it counts of its jobs.
  private static let numbers = [("jobs", "1")] + RouteTotals.counted.map { ($0.rawValue, "state=\($0.code)") }
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
    Statement.addJSONValue(to: connection)
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
    try look(.remains, beside.map { "SELECT x.\($1) FROM durable_\($0) x WHERE \(isNoJob.replacing("%@", with: $1))" })
    try look(.damaged, [damaged])
    try look(.waits, [wrongWaits])
    try look(.batches, [wrongBatches])
    let others = [StoreFinding.Subject.lanes: [freeSeats], .names: [missingTags]]
    for table in derived { try look(table.subject, table.wrong + (others[table.subject] ?? [])) }
    try look(.counts, [wrongCounts])
    return findings
  }
}

extension WriteTransaction {
  /// Corrects what ``StoreCheck`` finds, taking the jobs' own rows as correct.
  fileprivate func mendAll() throws {
    func run(_ sql: String) throws { try Statement(sql, on: connection.handle).run() }
    // What is lost is held, before what is left of it looks like all.
    let damaged = try Statement(StoreCheck.damaged, on: connection.handle).map { ($0.id(0), $0.text(1) ?? "") }
    for (id, why) in damaged { try setAside(id, because: why) }
    for (table, column) in StoreCheck.beside {
      let isNoJob = StoreCheck.isNoJob.replacing("%@", with: column)
      try run("DELETE FROM durable_\(table) AS x WHERE \(isNoJob)")
    }
    try derive()
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
    try run("INSERT OR IGNORE INTO durable_tag(job,tag) \(StoreCheck.missingTags)")
    let batches = try Statement(StoreCheck.wrongBatches, on: connection.handle)
    while try batches.step() { news.touch(BatchID(rawValue: batches.int(0))) }
    try run(
      """
      UPDATE durable_batch AS b SET live=\(StoreCheck.liveMembers),jobs=(SELECT count(*) \(StoreCheck.members)),
        empty_at=CASE WHEN done=1 AND NOT EXISTS(SELECT 1 \(StoreCheck.members)) THEN \(now) END
      WHERE id IN(\(StoreCheck.wrongBatches))
      """)
    isMiscounted = true
    let lanes = try Statement(StoreCheck.freeSeats, on: connection.handle).map { $0.text(0) ?? "" }
    for name in lanes { try setLane(name) }
    memory.routes.forget()
    news.tell(.all)
  }

  /// Makes the rows of these tables follow from the jobs.
  func derive() throws {
    Statement.addJSONValue(to: connection.handle)
    for sql in StoreCheck.derived.flatMap(\.mending) { try Statement(sql, on: connection.handle).run() }
  }
}
