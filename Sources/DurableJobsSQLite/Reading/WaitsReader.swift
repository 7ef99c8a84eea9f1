import DurableJobs
import Foundation

/// Reads what keeps unfinished jobs from running, with a few lookups for each, however many other jobs wait.
struct WaitsReader {
  /// ?2: the job's unique key.
  static let needsSQL = """
    SELECT e.parent,NULL,e.need,j.state,EXISTS(SELECT 1 FROM durable_uniq WHERE key=?2 AND job=e.parent)
      FROM durable_edge e CROSS JOIN durable_job j ON j.id=e.parent WHERE e.child=?1 AND j.state<7
    UNION ALL SELECT 0,key,need,NULL,0 FROM durable_edge_key WHERE child=?1 LIMIT \(JobWaits.mostNeeds)
    """
  /// ?2: the job that waits for a seat, if it does.
  static let headSQL = """
    SELECT j.id,j.state FROM durable_lane w CROSS JOIN durable_lane l ON l.name=w.name AND l.seat=1
      CROSS JOIN durable_job j ON j.id=l.job
    WHERE w.name=?1 AND w.seat=0 AND w.job=?2 ORDER BY j.state<>8,l.job LIMIT 1
    """

  private let now: Int64
  private let setByHand: [JobConstraint: Bool]
  private let needs: Statement
  private let head: Statement
  private let seats: Statement
  private let limits: [String: JobLimits]
  private let limitOf: Statement

  init(now: Int64, on connection: OpaquePointer) throws {
    self.now = now
    setByHand = try readConstraints(on: connection)
    limits = try readLimits(on: connection)
    limitOf = try Statement(WriterStatement.limitOf.sql, on: connection)
    needs = try Statement(Self.needsSQL, on: connection)
    head = try Statement(Self.headSQL, on: connection)
    seats = try Statement(WriterStatement.seats.sql, on: connection)
  }

  func read(_ job: JobSnapshot, _ route: RouteTotals) throws -> JobWaits {
    var all = JobWaits(now: Date(milliseconds: now))
    (all.isPaused, all.setByHand) = (route.isPaused, setByHand)
    if let limits = limits[job.queue] {
      all.limit = try limitOf.limit(of: job.queue, limits, at: now).map { JobWaits.Limit($0) }
    }
    let needs = needs.with(job.id, (job.uniqueKey ?? "").composed)
    while try needs.step() {
      guard let edge = Edge(parent: needs.id(0), child: job.id, need: needs.int(2), slot: -1) else { continue }
      let hasKey = needs.int(4) != 0
      if hasKey { all.uniqueKey = job.uniqueKey }
      all.needs.append(
        JobWaits.Need(
          needs.text(1).map { .key($0) } ?? .job(edge.parent), edge.condition,
          state: needs.intOrNull(3).flatMap(JobState.init(code:)), hasUniqueKey: hasKey))
    }
    all.needs.sort { JobEdge.isBefore($0.edge, $1.edge) }
    if let lane = job.lane?.name.composed {
      all.laneHead = try head.with(lane, job.id).first { row in
        JobState(code: row.int(1)).map { JobWaits.LaneHead(job: row.id(0), state: $0) }
      }
      all.laneLimit = try seats.with(lane, 0).first {
        $0.pace(from: 3).map { JobWaits.Limit($0.limit(of: lane, at: now)) }
      }
    }
    return all
  }
}
