#if Postgres
  import DurableJobs

  extension PostgresStore {
    /// Recomputes from the jobs what is stored beside them, and reports where the store differs: waits, lanes, batches,
    /// unique keys, keys, tags, deadlines, counts. An intact store has no findings, whoever uses it meanwhile. The
    /// server's own files are not checked: use `pg_amcheck` for that.
    ///
    /// With `mending`, everything is repaired in one transaction, while others wait, and jobs of which a part is lost are
    /// suspended; jobs that waited for nothing may run then. Returns what was found before, and of each whether a second
    /// look did not find it. It reads all rows, within ``Configuration/callLimit``.
    public func check(mending: Bool = false) async throws -> [StoreFinding] {
      guard mending else {
        return try await engine.read { reader in try StoreCheck(connection: reader.connection).findings().map(\.told) }
      }
      var found = try await engine.write { transaction in
        transaction.begin()
        transaction.connection.send(StoreCheck.lockSQL)
        let check = StoreCheck(connection: transaction.connection)
        let findings = try check.findings()
        if !findings.isEmpty { try transaction.mend(check) }
        return findings.map(\.told)
      }
      guard !found.isEmpty else { return [] }
      let left = Set(try await check().map(\.subject)).union([.damaged])
      for index in found.indices { found[index].isMended = !left.contains(found[index].subject) }
      return found
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

    /// What each unfinished job waits for (`n`, by its edges and place in its lane), and what is stored of that.
    private static let waits = """
      SELECT j.id,j.state,j.links,
        (SELECT count(*) FROM §edge e JOIN §job p ON p.id=e.parent WHERE e.child=j.id AND p.state<7)
        +(SELECT count(*) FROM §edge_key WHERE child=j.id)
        +(j.links&\(Links.lane.rawValue)<>0 AND j.links&\(Links.seated.rawValue)=0)::int AS n,
        coalesce((SELECT n FROM §wait WHERE job=j.id),0) AS known
      FROM §job j WHERE j.state<7
      """
    static let wrongWaits = """
      SELECT id,n FROM(\(waits)) x WHERE n<>known OR (state=2)<>(n>0) AND state<5
      UNION ALL SELECT job,0 FROM §wait JOIN §job j ON j.id=job WHERE j.state BETWEEN 7 AND 9
      """
    /// Unfinished jobs of which a part is lost, and which.
    static let damaged = """
      SELECT id,min(why) AS why FROM(
        SELECT id,'what was asked for is missing' AS why FROM §job j
        WHERE state IN(2,3,4,6) AND NOT EXISTS(SELECT 1 FROM §spec s WHERE s.id=j.id)
        UNION ALL SELECT id,'\(lostWait)' FROM(\(waits)) w WHERE state=2 AND links&\(Links.parents.rawValue)<>0 AND n=0
          AND(known>0 OR NOT EXISTS(SELECT 1 FROM §edge WHERE child=w.id))
        UNION ALL SELECT e.child,'\(lostWait)' FROM §edge e JOIN §job j ON j.id=e.child WHERE j.state IN(2,3,4)
          AND e.need<=\(Edge.never) AND NOT EXISTS(SELECT 1 FROM §job p WHERE p.id=e.parent)
      ) x GROUP BY id
      """
    private static let lostWait = "what it waits for is missing"

    /// A table whose rows follow from the rows of jobs.
    struct Derived {
      let subject: StoreFinding.Subject
      let table: String
      /// Each column beside `job`, and what it is of a job `j` with the spec `s`.
      let columns: [(name: String, value: String)]
      /// Which jobs have a row, if the first column is not null; and which may have one.
      let has: String
      var mayHave = "true"

      private func list(_ text: (String, String) -> String, _ separator: String = ",") -> String {
        columns.map(text).joined(separator: separator)
      }
      private var isRight: String { list({ "x.\($0) IS NOT DISTINCT FROM \($1)" }, " AND ") }
      private var missing: String {
        """
        SELECT j.id,\(list { "\($1) AS \($0)" }) FROM §job j JOIN §spec s ON s.id=j.id WHERE(\(has))
          AND \(columns[0].value) IS NOT NULL AND NOT EXISTS(SELECT 1 FROM §\(table) x WHERE x.job=j.id AND \(isRight))
        """
      }
      private var isStray: String {
        """
        EXISTS(SELECT 1 FROM §job j LEFT JOIN §spec s ON s.id=j.id
          WHERE j.id=x.job AND NOT((\(mayHave)) AND(s.id IS NULL OR \(isRight))))
        """
      }
      var wrong: [String] { ["SELECT x.job FROM §\(table) x WHERE \(isStray)", missing] }
      var mending: [String] {
        [
          "DELETE FROM §\(table) x WHERE \(isStray)",
          "INSERT INTO §\(table)(job,\(list { name, _ in name })) \(missing) ON CONFLICT DO NOTHING",
        ]
      }
    }
    private static let isInLane = """
      j.state<7 AND j.links&\(Links.lane.rawValue)<>0 OR j.links&\(Links.seated.rawValue)<>0
      """
    static let derived = [
      Derived(
        subject: .lanes, table: "lane",
        columns: [("name", "s.lane"), ("seat", "(j.links&\(Links.seated.rawValue)<>0)::int")], has: isInLane,
        mayHave: isInLane),
      Derived(subject: .names, table: "batch_job", columns: [("batch", "j.batch")], has: "true"),
      Derived(
        subject: .deadlines, table: "deadline", columns: [("at", "s.deadline")],
        has: "j.state<7 AND j.links&\(Links.deadline.rawValue)<>0"),
    ]
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
    static let strays = """
      SELECT j.id::text FROM §job j WHERE j.state=5
        AND NOT EXISTS(SELECT 1 FROM §worker WHERE id=j.claim>>\(ClaimNumber.bits))
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
      let remains = Self.beside.map { "SELECT x.\($1) FROM §\($0) x WHERE \(Self.isNoJob($1))" }
      let all: [(StoreFinding.Subject, [String])] =
        [
          (.remains, remains + [Self.strays]), (.damaged, [Self.damaged]), (.waits, [Self.wrongWaits]),
          (.lanes, [Self.freeSeats]),
        ]
        + [(.batches, [Self.wrongBatches]), (.counts, [Self.wrongCounts])]
        + Self.derived.map { ($0.subject, $0.wrong) }
      var found: [StoreFinding.Subject: [String]] = [:]
      for (subject, statements) in all {
        found[subject, default: []] += try statements.flatMap { try texts("SELECT a::text FROM(\($0)) x(a)") }
      }
      let names = try missingNames()
      for (subject, jobs) in [
        (StoreFinding.Subject.uniqueKeys, names.uniques.map(\.job)),
        (.names, names.keys.map(\.job) + names.tags.map(\.job)),
      ] {
        found[subject, default: []] += Set(jobs).sorted().map { "\($0)" }
      }
      return StoreFinding.Subject.allCases.compactMap { subject in
        found[subject].flatMap { $0.isEmpty ? nil : Finding(subject: subject, concerned: $0) }
      }
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
