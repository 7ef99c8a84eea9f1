import DurableJobs

extension RouteTotals {
  /// The states that are counted, each in the column of its name, behind `jobs` for all. The others are in the index.
  static let counted: [JobState] = [.blocked, .scheduled, .suspended, .succeeded, .failed, .cancelled, .skipped]
  /// Where ``LedgerNews/tallies`` have what is counted.
  static let places = [0] + counted.map { Int($0.code) }
  static let columns = ["jobs"] + counted.map(\.rawValue)
  private static let ofRoute = columns.map { "r.\($0)" }.joined(separator: ",")
  static let sql = """
    SELECT r.id,q.name,r.kind,q.paused,\(ofRoute),r.requires
    FROM durable_route r CROSS JOIN durable_queue q ON q.id=r.queue
    """
  /// Running jobs are few: never more than workers have slots.
  static let runningSQL = """
    SELECT count(*) FROM durable_job INDEXED BY durable_job_line WHERE route=?1 AND state=5 AND state<>7
    """
  static let dueSQL = """
    SELECT count(*) FROM durable_job INDEXED BY durable_job_line
    WHERE route=?1 AND state=3 AND state<>7 AND rank<=?2
    """
  static let nextSQL = """
    SELECT min((SELECT rank FROM durable_job j INDEXED BY durable_job_line WHERE j.route=r.id AND j.state=3 AND j.state<>7
      ORDER BY rank LIMIT 1)) FROM durable_route r WHERE r.queue=(SELECT id FROM durable_queue WHERE name=?1)
    """
  static let returningSQL = """
    SELECT 1 FROM durable_job INDEXED BY durable_job_line
    WHERE route=?1 AND state=3 AND state<>7 AND rank>?2
      AND (claim<>\(ClaimNumber.nobody.rawValue) OR links&\(Links.paced.rawValue)<>0) LIMIT 1
    """

  /// Without `isCounting`, ready and running jobs are counted among the others: for callers that only need names.
  static func read(isCounting: Bool = true, on connection: OpaquePointer) throws -> [RouteTotals] {
    let routes = try Statement(sql, on: connection)
    let running = isCounting ? try Statement(runningSQL, on: connection) : nil
    return try routes.map { routes in
      var counts = JobCounts()
      for (index, state) in counted.enumerated() { counts[state] = routes.count(Int32(index + 5)) }
      counts[.running] = try running?.with(routes.int(0)).first { $0.count(0) } ?? 0
      let rest = routes.count(4) - counts.total
      if isCounting { counts[.ready] = max(rest, 0) }
      return RouteTotals(
        Route(
          id: routes.int(0), queue: routes.text(1) ?? "", kind: routes.text(2) ?? "",
          requires: Set(list: routes.text(12)), isPaused: routes.int(3) != 0),
        counts: counts,
        isSound: rest >= 0 && (4...11).allSatisfy { routes.isInt($0) && routes.int($0) == routes.count($0) })
    }
  }
}
