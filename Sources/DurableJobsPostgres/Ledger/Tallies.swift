#if Postgres
  import DurableJobs

  /// To which shares of the counts a connection adds. Commits that change the same row wait for each other: so the
  /// connections of all processes have shares of their own, as far as chance allows.
  ///
  /// While a transaction stays open anywhere in the database, the server keeps each version of a row, and who changes it
  /// passes over all of them. A row with many is left as it is then, for another share. After ``rest`` milliseconds the
  /// shares that were left are added to the usual one.
  final class Tallies {
    private let usual: Int64
    private(set) var share: Int64
    /// When the usual one was left. What others left, who ended since, is added with the first change.
    private var leftAt: Int64? = 0
    /// How many entries of the counts' index the last change of a row met. One stands for some fifty versions.
    private(set) var met: Int64 = 0

    /// How many shares are in use if nothing is held open. The SQL functions have those from 1000 on.
    static let usualShares: Int64 = 32
    private static let left = usualShares..<1000
    static let bearable: Int64 = 20
    static let rest: Int64 = 60_000

    init(share: Int64) { (usual, self.share) = (share, share) }

    static let metSQL = "pg_stat_get_xact_tuples_returned('§tally_pkey'::regclass)"
    private static let adding = """
      ON CONFLICT(route,share) DO UPDATE SET jobs=t.jobs+excluded.jobs,blocked=t.blocked+excluded.blocked,
        scheduled=t.scheduled+excluded.scheduled,suspended=t.suspended+excluded.suspended,
        succeeded=t.succeeded+excluded.succeeded,failed=t.failed+excluded.failed,
        cancelled=t.cancelled+excluded.cancelled,skipped=t.skipped+excluded.skipped
      """
    static let countSQL = """
      WITH b AS MATERIALIZED(SELECT \(metSQL) AS met),i AS(
        INSERT INTO §tally AS t SELECT u.* FROM b,unnest($1,$2,$3,$4,$5,$6,$7,$8,$9,$10) u WHERE b.met>=0
        \(adding) RETURNING 1)
      SELECT n,(SELECT \(metSQL)-met FROM b) FROM(SELECT count(*) AS n FROM i) c
      """
    /// Nobody waits for those that others are changing.
    static let foldSQL = """
      WITH d AS(
        DELETE FROM §tally t USING(
          SELECT route,share FROM §tally WHERE route=ANY($1) AND share>=\(left.lowerBound) AND share<\(left.upperBound)
          ORDER BY 1,2 FOR UPDATE SKIP LOCKED) o
        WHERE t.route=o.route AND t.share=o.share RETURNING t.*)
      INSERT INTO §tally AS t SELECT route,$2,sum(jobs),sum(blocked),sum(scheduled),sum(suspended),sum(succeeded),
        sum(failed),sum(cancelled),sum(skipped) FROM d GROUP BY route ORDER BY route
      \(adding)
      """

    /// Adds these changes to the counts, by route.
    func write(_ tallies: [Int64: [Int64]], on connection: Connection, now: Int64) {
      let stored = [0, 2, 3, 6, 7, 8, 9, 10]  // ready and running are not
      let counts = tallies.filter { tally in stored.contains { tally.value[$0] != 0 } }.sorted { $0.key < $1.key }
      guard !counts.isEmpty else { return }
      let routes = Value.ints(counts.map(\.key))
      // A clock that was set back also makes it due.
      if !isSimple(at: now) {
        (share, leftAt) = (usual, nil)
        connection.send(Self.foldSQL, [routes, .int(usual)])
      }
      connection.send(
        Self.countSQL,
        [routes, .ints(counts.map { _ in share })] + stored.map { state in .ints(counts.map { $0.value[state] }) }
      ) { [self] rows in saw(rows.int(0, 1), changing: rows.int(0, 0), now: now) }
    }

    /// Whether a change of one count may be written by a statement that adds to ``share`` and does nothing else.
    func isSimple(at now: Int64) -> Bool { leftAt.map { ($0..<$0 + Self.rest).contains(now) } ?? true }

    /// So many entries were met by a change of so many rows.
    func saw(_ met: Int64, changing rows: Int64, now: Int64) {
      self.met = met
      guard met > Self.bearable * rows else { return }
      leftAt = leftAt ?? now
      share = .random(in: Self.left)
    }
  }
#endif
