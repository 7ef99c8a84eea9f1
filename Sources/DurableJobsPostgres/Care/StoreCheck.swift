#if Postgres
  import DurableJobs

  extension PostgresStore {
    /// Recomputes from the jobs what is stored beside them, and reports where the store differs: waits, lanes, batches,
    /// unique keys, keys, tags, deadlines, counts. An intact store has no findings, whoever uses it meanwhile. The
    /// server's own files are not checked: use `pg_amcheck` for that.
    ///
    /// With `mending`, everything is repaired in one transaction, while others wait; jobs that waited for nothing may
    /// run then. Returns what was found before. It reads all rows, within ``Configuration/callLimit``.
    public func check(mending: Bool = false) async throws -> [StoreFinding] {
      guard mending else {
        return try await engine.read { reader in try StoreCheck(connection: reader.connection).findings().map(\.told) }
      }
      return try await engine.write { transaction in
        transaction.begin()
        transaction.connection.send(StoreCheck.lockSQL)
        let check = StoreCheck(connection: transaction.connection)
        let findings = try check.findings()
        if !findings.isEmpty { try transaction.mend(check) }
        return findings.map(\.told)
      }
    }
  }

  /// What is stored beside jobs, recomputed from their rows.
  struct StoreCheck {
    let connection: Connection

    struct Finding {
      let subject: StoreFinding.Subject
      /// The ids of jobs, batches or routes, or the names of lanes.
      let concerned: [String]

      var told: StoreFinding {
        var finding = StoreFinding(subject)
        (finding.count, finding.details) = (concerned.count, Array(concerned.prefix(5)))
        return finding
      }
    }

    /// Locks everything that others may write, except signs of life.
    static let lockSQL = """
      LOCK TABLE §job,§spec,§route,§tally,§lane,§wait,§edge,§edge_key,§uniq,§job_key,§tag,§deadline,§batch,§batch_job
      IN EXCLUSIVE MODE
      """
    /// Rows of these tables belong to a job, by this column.
    static let beside = [
      ("spec", "id"), ("job_key", "job"), ("tag", "job"), ("output", "id"), ("failure", "job"), ("progress", "id"),
      ("crash", "job"), ("note", "job"), ("edge", "child"), ("edge_key", "child"), ("wait", "job"), ("lane", "job"),
      ("step", "job"), ("deadline", "job"), ("batch_job", "job"), ("uniq", "job"),
    ]
    static func isNoJob(_ column: String) -> String { "NOT EXISTS(SELECT 1 FROM §job j WHERE j.id=x.\(column))" }

    /// The unfinished jobs, what each waits for (`n`, by its edges and place in its lane), and what is stored of that.
    static let wrongWaits = """
      SELECT id,n FROM(
        SELECT j.id,j.state,(SELECT count(*) FROM §edge e JOIN §job p ON p.id=e.parent WHERE e.child=j.id AND p.state<7)
          +(SELECT count(*) FROM §edge_key WHERE child=j.id)
          +(j.links&\(Links.lane.rawValue)<>0 AND j.links&\(Links.seated.rawValue)=0)::int AS n,
          coalesce((SELECT n FROM §wait WHERE job=j.id),0) AS known
        FROM §job j WHERE j.state<7) x
      WHERE n<>known OR (state=2)<>(n>0) AND state<5
      UNION ALL SELECT job,0 FROM §wait JOIN §job j ON j.id=job WHERE j.state BETWEEN 7 AND 9
      """
    /// Places that belong to no job, and jobs without their place.
    static let strayPlaces = """
      SELECT x.job FROM §lane x JOIN §job j ON j.id=x.job
      WHERE(x.seat=1)<>(j.links&\(Links.seated.rawValue)<>0) OR j.state>=7 AND j.links&\(Links.seated.rawValue)=0
      """
    static let missingPlaces = """
      SELECT j.id,s.lane,(j.links&\(Links.seated.rawValue)<>0)::int AS seat FROM §job j JOIN §spec s ON s.id=j.id
      WHERE(j.state<7 AND j.links&\(Links.lane.rawValue)<>0 OR j.links&\(Links.seated.rawValue)<>0) AND s.lane IS NOT NULL
        AND NOT EXISTS(SELECT 1 FROM §lane l WHERE l.name=s.lane AND l.job=j.id)
      """
    static let freeSeats = """
      SELECT l.name FROM §lane l LEFT JOIN §lane_width w ON w.name=l.name
      GROUP BY l.name HAVING sum(l.seat)<greatest(max(w.width),1) AND min(l.seat)=0
      """
    static let members = "FROM §batch_job m JOIN §job j ON j.id=m.job WHERE m.batch=b.id"
    static let liveMembers = "(SELECT count(*) \(members) AND j.state<7)"
    static let wrongBatches = """
      SELECT b.id FROM §batch b WHERE b.live<>\(liveMembers) OR b.jobs<>(SELECT count(*) \(members))
        OR NOT b.done AND NOT b.open AND b.live<=0
      """
    static let missingDeadlines = """
      SELECT j.id,s.deadline AS at FROM §job j JOIN §spec s ON s.id=j.id
      WHERE j.state<7 AND j.links&\(Links.deadline.rawValue)<>0 AND s.deadline IS NOT NULL
        AND NOT EXISTS(SELECT 1 FROM §deadline d WHERE d.at=s.deadline AND d.job=j.id)
      """
    private static let states = [
      "blocked": 2, "scheduled": 3, "suspended": 6, "succeeded": 7, "failed": 8, "cancelled": 9, "skipped": 10,
    ].sorted { $0.value < $1.value }
    static let wrongCounts = """
      SELECT r.id FROM §route r
        LEFT JOIN(SELECT route,sum(jobs) AS jobs,\(states.map { "sum(\($0.key)) AS \($0.key)" }.joined(separator: ","))
          FROM §tally GROUP BY route) t ON t.route=r.id
        LEFT JOIN(SELECT route,count(*) AS jobs,
          \(states.map { "count(*) FILTER(WHERE state=\($0.value)) AS \($0.key)" }.joined(separator: ","))
          FROM §job GROUP BY route) n ON n.route=r.id
      WHERE \((["jobs"] + states.map(\.key)).map { "coalesce(t.\($0),0)<>coalesce(n.\($0),0)" }.joined(separator: " OR "))
      """

    func findings() throws -> [Finding] {
      // All rows are read, for which other plans are better than those of a turn.
      connection.send(Connection.callersSettingsSQL)
      let remains =
        Self.beside.map { "SELECT x.\($1) FROM §\($0) x WHERE \(Self.isNoJob($1))" } + [
          "SELECT j.id FROM §job j WHERE NOT EXISTS(SELECT 1 FROM §spec s WHERE s.id=j.id)"
        ]
      let all: [(StoreFinding.Subject, [String])] = [
        (.remains, remains), (.lanes, [Self.strayPlaces, Self.missingPlaces, Self.freeSeats]),
        (.waits, [Self.wrongWaits]), (.batches, [Self.wrongBatches]), (.deadlines, [Self.missingDeadlines]),
        (.counts, [Self.wrongCounts]),
      ]
      var findings: [Finding] = []
      for (subject, statements) in all {
        let concerned = try statements.flatMap { try texts("SELECT a::text FROM(\($0)) x(a)") }
        if !concerned.isEmpty { findings.append(Finding(subject: subject, concerned: concerned)) }
      }
      let names = try missingNames()
      for (subject, jobs) in [
        (StoreFinding.Subject.uniqueKeys, names.uniques.map(\.job)),
        (.names, names.keys.map(\.job) + names.tags.map(\.job)),
      ] where !jobs.isEmpty {
        findings.append(Finding(subject: subject, concerned: Set(jobs).sorted().map { "\($0)" }))
      }
      return findings
    }

    func texts(_ sql: String) throws -> [String] {
      var texts: [String] = []
      connection.send(sql, isFixed: false) { rows in texts = (0..<rows.count).compactMap { rows.text($0, 0) } }
      try connection.sync()
      return texts
    }

    // MARK: Names

    /// What a job should be found by, and is not.
    struct Names {
      var uniques: [(job: JobID, hold: KeyHold)] = []
      var keys: [(name: String, job: JobID)] = []
      var tags: [(name: String, job: JobID)] = []
    }

    private static let namedSQL = """
      SELECT j.id,j.state<7 AND j.links&\(Links.unique.rawValue)<>0,s.options FROM §spec s JOIN §job j ON j.id=s.id
      WHERE s.id>$1 AND s.options IS NOT NULL ORDER BY s.id LIMIT 10000
      """
    private static func missingSQL(_ table: String, _ column: String) -> String {
      """
      SELECT u.ord FROM unnest($1,$2) WITH ORDINALITY u(name,job,ord)
      WHERE NOT EXISTS(SELECT 1 FROM §\(table) x WHERE x.\(column)=u.name AND x.job=u.job) ORDER BY 1
      """
    }

    /// The terms of a job are read here: the server must not fail on a damaged one.
    func missingNames() throws -> Names {
      var missing = Names()
      var last = JobID(rawValue: 0)
      while true {
        var named = Names()
        var count = 0
        connection.send(Self.namedSQL, [.int(last.rawValue)], isFixed: false) { rows in
          count = rows.count
          for row in 0..<rows.count {
            let id = rows.id(row, 0)
            last = id
            guard let terms = try? StoredTerms(text: rows.text(row, 2)) else { continue }
            if rows.bool(row, 1), let hold = terms.keyHold { named.uniques.append((id, hold)) }
            if let key = terms.key { named.keys.append((key, id)) }
            named.tags += (terms.tags ?? []).map { ($0, id) }
          }
        }
        try connection.sync()
        let uniques = named.uniques.map { (name: $0.hold.key, job: $0.job) }
        missing.uniques += try gaps(in: uniques, "uniq", "key").map { named.uniques[$0] }
        missing.keys += try gaps(in: named.keys, "job_key", "key").map { named.keys[$0] }
        missing.tags += try gaps(in: named.tags, "tag", "tag").map { named.tags[$0] }
        if count < 10000 { return missing }
      }
    }

    private func gaps(in names: [(name: String, job: JobID)], _ table: String, _ column: String) throws -> [Int] {
      guard !names.isEmpty else { return [] }
      var gaps: [Int] = []
      let values: [Value] = [.texts(names.map(\.name.composed)), .ids(names.map(\.job))]
      connection.send(Self.missingSQL(table, column), values, isFixed: false) { rows in
        gaps = (0..<rows.count).map { rows.count($0, 0) - 1 }
      }
      try connection.sync()
      return gaps
    }
  }
#endif
