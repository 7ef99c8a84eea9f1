import DurableJobs
import Foundation

/// The routes of the store, as the writer last read them, and what was set of constraints. What is not here, or what was set,
/// may be news of another process, and `changes` tells. A route that requires something goes with the last of its jobs, also
/// by another process: so in each transaction it is looked for anew before a job is added to it. No number is used twice.
final class RouteCache {
  private(set) var byID: [Int64: Route] = [:]
  /// By queue and kind, of those that require nothing; and of the others that this transaction has seen.
  private var ids: [String: [String: Int64]] = [:]
  private var constrained: [Set<JobConstraint>: [String: [String: Int64]]] = [:]
  private var setByHand: [JobConstraint: Bool] = [:]
  /// Of limited queues.
  private(set) var limits: [String: JobLimits] = [:]
  /// `durable_meta.changes` when all routes were read.
  private var changes: Int64 = -1
  private var served: (kinds: Set<String>, queues: Set<String>, satisfied: Set<JobConstraint>, routes: [Route])?

  /// Reads all routes if something changed since they were last read.
  func refresh(changes: Int64, on connection: WriterConnection) throws {
    if changes != self.changes { try read(on: connection, changes: changes) }
  }

  private func read(on connection: WriterConnection, changes: Int64) throws {
    forget()
    for totals in try RouteTotals.read(isCounting: false, on: connection.handle) { add(totals.route) }
    setByHand = try readConstraints(on: connection.handle)
    limits = try readLimits(on: connection.handle)
    self.changes = changes
  }

  /// The number of a route, which is made if there is none yet.
  func intern(
    queue: String, kind: String, requires: Set<JobConstraint>, on connection: WriterConnection
  ) throws -> Int64 {
    if let id = requires.isEmpty ? ids[queue]?[kind] : constrained[requires]?[queue]?[kind] { return id }
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

  /// Those that require something and have no job any more go.
  func dropEmpty(on connection: WriterConnection) throws {
    let drop = try connection[.dropRoutes]
    try drop.run()
    guard drop.changes > 0 else { return }
    try connection[.bumpChanges].run()
    forget()
  }

  /// The route with that number; nil if the row names none that exists.
  func route(_ id: Int64, on connection: WriterConnection) throws -> Route? {
    if byID[id] == nil { try read(on: connection, changes: -1) }
    return byID[id]
  }

  /// Every route, freshly read.
  func all(on connection: WriterConnection) throws -> [Route] {
    try read(on: connection, changes: -1)
    return Array(byID.values)
  }

  /// The routes that a worker can serve now.
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

  func beginTransaction() { constrained = [:] }

  /// After a rollback: some of it may never have been.
  func forget() {
    byID = [:]
    ids = [:]
    constrained = [:]
    served = nil
    changes = -1
  }

  private func add(_ route: Route) {
    byID[route.id] = route
    if route.requires.isEmpty {
      ids[route.queue, default: [:]][route.kind] = route.id
    } else {
      constrained[route.requires, default: [:]][route.queue, default: [:]][route.kind] = route.id
    }
    served = nil
  }
}
