import DurableJobs

/// The routes of the store as last read, and conditions set by hand. Other processes may have added or set some since,
/// which `changes` shows. A route with required conditions is deleted with its last job, maybe by another process, so
/// each transaction looks it up again before adding a job to it. Numbers are never reused.
final class RouteCache {
  @exclusivity(unchecked) private(set) var byID: [Int64: Route] = [:]
  /// Routes by conditions, queue and kind: those without conditions, and the others that this transaction has looked up.
  @exclusivity(unchecked) private var ids: [Set<JobConstraint>: [String: [String: Int64]]] = [:]
  /// The one without conditions that was last looked up: the next job's is mostly the same.
  @exclusivity(unchecked) private var last: Route?
  private var setByHand: [JobConstraint: Bool] = [:]
  private(set) var limits: [String: JobLimits] = [:]
  /// `durable_meta.changes` when all routes were read.
  private var changes: Int64 = -1
  private var served: (kinds: Set<String>, queues: Set<String>, satisfied: Set<JobConstraint>, routes: [Route])?

  /// Reads all routes, unless nothing has changed since they were last read.
  func refresh(changes: Int64? = nil, on connection: WriterConnection) throws {
    if changes == self.changes { return }
    forget()
    for totals in try RouteTotals.read(isCounting: false, on: connection.handle) { add(totals.route) }
    setByHand = try readConstraints(on: connection.handle)
    limits = try readLimits(on: connection.handle)
    self.changes = changes ?? -1
  }

  /// The number of a route, which is created if necessary.
  func intern(
    queue: String, kind: String, requires: Set<JobConstraint>, on connection: WriterConnection
  ) throws -> Int64 {
    if requires.isEmpty, let last, last.kind == kind, last.queue == queue { return last.id }
    if let id = ids[requires]?[queue]?[kind] {
      if requires.isEmpty { last = byID[id] }
      return id
    }
    let known = try connection[.findQueue].with(queue.composed).first { ($0.int(0), $0.int(1) != 0) }
    if known == nil { try connection[.insertQueue].with(queue.composed).run() }
    let (queueID, isPaused) = known ?? (connection.lastInsertedID, false)
    let name = (kind.composed, Route.text(of: requires))
    let id: Int64
    if let known = try connection[.findRoute].with(queueID, name.0, name.1).first({ $0.int(0) }) {
      id = known
    } else {
      try connection[.insertRoute].with(queueID, name.0, name.1).run()
      id = connection.lastInsertedID
      try connection[.bumpChanges].run()
    }
    add(Route(id: id, queue: queue, kind: kind, requires: requires, isPaused: isPaused))
    return id
  }

  /// Deletes routes with required conditions that have no jobs left.
  func dropEmpty(on connection: WriterConnection) throws {
    let drop = try connection[.dropRoutes]
    try drop.run()
    guard drop.changes > 0 else { return }
    try connection[.bumpChanges].run()
    forget()
  }

  func route(_ id: Int64, on connection: WriterConnection) throws -> Route? {
    if let route = last?.id == id ? last : byID[id] { return route }
    try refresh(on: connection)
    return byID[id]
  }

  /// All routes, newly read.
  func all(on connection: WriterConnection) throws -> [Route] {
    try refresh(on: connection)
    return Array(byID.values)
  }

  func served(kinds: Set<String>, queues: Set<String>, satisfied: Set<JobConstraint>) -> [Route] {
    if let served, served.kinds == kinds, served.queues == queues, served.satisfied == satisfied {
      return served.routes
    }
    let holding = setByHand.holding(satisfied)
    let routes = byID.values.filter {
      !$0.isPaused && queues.contains($0.queue) && kinds.contains($0.kind) && $0.requires.isSubset(of: holding)
    }.sorted { $0.id < $1.id }
    served = (kinds, queues, satisfied, routes)
    return routes
  }

  func beginTransaction() { for requires in ids.keys where !requires.isEmpty { ids[requires] = nil } }

  /// Forgets everything after a rollback, since some of it may never have existed.
  func forget() { (byID, ids, last, served, changes) = ([:], [:], nil, nil, -1) }

  private func add(_ route: Route) {
    byID[route.id] = route
    ids[route.requires, default: [:]][route.queue, default: [:]][route.kind] = route.id
    served = nil
  }
}
