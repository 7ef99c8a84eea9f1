#if Postgres
  import DurableJobs

  /// The store's routes and the settings of conditions, as one connection last read them. What is missing here, or was
  /// set, may be news from another process, and `changes` tells that. A route that requires something is removed with
  /// the last of its jobs: so it is locked by those that add to it. No number is used twice.
  final class RouteMemory {
    private(set) var byID: [Int64: Route] = [:]
    private var ids: [Key: Int64] = [:]
    private var setByHand: [JobConstraint: Bool] = [:]
    /// The limits of limited queues.
    private(set) var limits: [String: JobLimits] = [:]
    /// `meta.changes` when all routes were read.
    private(set) var changes: Int64 = -1

    struct Key: Hashable {
      let queue: String
      let kind: String
      let requires: Set<JobConstraint>
    }

    static let routesSQL =
      "SELECT r.id,q.name,r.kind,q.paused,r.requires FROM §route r JOIN §queue q ON q.id=r.queue ORDER BY r.id"
    static let conditionsSQL = "SELECT name,satisfied FROM §condition ORDER BY name"

    static let limitsSQL = """
      SELECT name,running,rate,period,burst FROM §queue WHERE running IS NOT NULL OR rate IS NOT NULL ORDER BY name
      """

    subscript(key: Key) -> Int64? { ids[key] }

    /// Sends a query for all of them.
    func read(on connection: Connection, changes: Int64) {
      connection.send(Self.routesSQL) { [self] rows in
        forget()
        for route in Self.routes(rows) {
          byID[route.id] = route
          ids[Key(queue: route.queue, kind: route.kind, requires: route.requires)] = route.id
        }
        self.changes = changes
      }
      connection.send(Self.conditionsSQL) { [self] in setByHand = Self.conditions($0) }
      connection.send(Self.limitsSQL) { [self] in limits = Self.limits($0) }
    }

    /// Reads the rows of ``routesSQL``.
    static func routes(_ rows: Rows) -> [Route] {
      (0..<rows.count).map { row in
        Route(
          id: rows.int(row, 0), queue: rows.text(row, 1) ?? "", kind: rows.text(row, 2) ?? "",
          requires: Set(list: rows.text(row, 4)), isPaused: rows.bool(row, 3))
      }
    }

    static func limits(_ rows: Rows) -> [String: JobLimits] {
      (0..<rows.count).reduce(into: [:]) { all, row in
        all[rows.text(row, 0) ?? ""] = JobLimits(
          running: rows.intOrNull(row, 1), count: rows.intOrNull(row, 2), period: rows.intOrNull(row, 3),
          burst: rows.intOrNull(row, 4))
      }
    }

    static func conditions(_ rows: Rows) -> [JobConstraint: Bool] {
      (0..<rows.count).reduce(into: [:]) { all, row in
        all[JobConstraint(rawValue: rows.text(row, 0) ?? "")] = rows.bool(row, 1)
      }
    }

    /// The routes that a worker can serve now.
    func served(_ request: ClaimRequest) -> [Route] {
      let holding = setByHand.holding(request.satisfied)
      return byID.values.filter {
        !$0.isPaused && request.queues.contains($0.queue) && request.free[$0.queue] ?? 0 > 0
          && request.kinds.contains($0.kind) && $0.requires.isSubset(of: holding)
      }.sorted { $0.id < $1.id }
    }

    /// After a rollback: some of it may never have existed.
    func forget() {
      byID = [:]
      ids = [:]
      changes = -1
    }
  }
#endif
