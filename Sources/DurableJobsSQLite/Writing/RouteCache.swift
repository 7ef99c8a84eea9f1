/// What a worker must be able to serve to run a job: its queue and its kind, as one number.
struct Route: Hashable, Sendable {
  let id: Int64
  let queue: String
  let kind: String
  var isPaused: Bool
}

/// The routes of the store, as the writer last read them. A route is never deleted, so what is here stays true; what is
/// not, or a pause, may be news of another process, and `changes` tells.
final class RouteCache {
  private(set) var byID: [Int64: Route] = [:]
  private var ids: [String: [String: Int64]] = [:]
  /// `durable_meta.changes` when all routes were read.
  private var changes: Int64 = -1
  private var served: (kinds: Set<String>, queues: Set<String>, routes: [Route])?

  /// Reads all routes if something changed since they were last read.
  func refresh(changes: Int64, on connection: WriterConnection) throws {
    if changes != self.changes { try read(on: connection, changes: changes) }
  }

  private func read(on connection: WriterConnection, changes: Int64) throws {
    forget()
    let routes = try connection[.routes]
    while try routes.step() {
      add(
        Route(
          id: routes.int(0), queue: routes.text(1) ?? "", kind: routes.text(2) ?? "", isPaused: routes.int(3) != 0))
    }
    self.changes = changes
  }

  /// The number of a route, which is made if there is none yet.
  func intern(queue: String, kind: String, on connection: WriterConnection) throws -> Int64 {
    if let id = ids[queue]?[kind] { return id }
    let findQueue = try connection[.findQueue]
    findQueue.bind(1, name: queue)
    let queueID: Int64
    var isPaused = false
    if try findQueue.step() {
      queueID = findQueue.int(0)
      isPaused = findQueue.int(1) != 0
      findQueue.reset()
    } else {
      let insert = try connection[.insertQueue]
      insert.bind(1, name: queue)
      try insert.run()
      queueID = connection.lastInsertedID
    }
    let find = try connection[.findRoute]
    find.bind(1, queueID)
    find.bind(2, name: kind)
    let id: Int64
    if try find.step() {
      id = find.int(0)
      find.reset()
    } else {
      let insert = try connection[.insertRoute]
      insert.bind(1, queueID)
      insert.bind(2, name: kind)
      try insert.run()
      id = connection.lastInsertedID
      try connection[.bumpChanges].run()
    }
    add(Route(id: id, queue: queue, kind: kind, isPaused: isPaused))
    return id
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
  func served(kinds: Set<String>, queues: Set<String>) -> [Route] {
    if let served, served.kinds == kinds, served.queues == queues { return served.routes }
    let routes = byID.values
      .filter { !$0.isPaused && queues.contains($0.queue) && kinds.contains($0.kind) }
      .sorted { $0.id < $1.id }
    served = (kinds, queues, routes)
    return routes
  }

  /// After a rollback: some of it may never have been.
  func forget() {
    byID = [:]
    ids = [:]
    served = nil
    changes = -1
  }

  private func add(_ route: Route) {
    byID[route.id] = route
    ids[route.queue, default: [:]][route.kind] = route.id
    served = nil
  }
}
