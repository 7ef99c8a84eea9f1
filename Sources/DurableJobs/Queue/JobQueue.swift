/// A named queue on a store, to enqueue, watch and control jobs. A stateless value: all copies are the same queue.
///
///     let queue = JobQueue(store: try SQLiteStore(path: "jobs.sqlite"))
///     try await queue.enqueue(Greet(name: "world"))
///
/// Methods that take an id reach any job of the store; those that take a filter, and all reads, stay in this queue.
public struct JobQueue: Sendable, Hashable {
  public let name: String
  public let store: any JobStore
  /// Options for jobs that this value enqueues, where neither the job, its kind nor the call sets them.
  public let defaults: JobOptions
  /// Middleware for the jobs that this value enqueues, and for those run by a worker made with this value.
  public let middleware: [any JobMiddleware]

  public init(
    _ name: String = "default", store: any JobStore, defaults: JobOptions = JobOptions(),
    middleware: [any JobMiddleware] = []
  ) { (self.name, self.store, self.defaults, self.middleware) = (name, store, defaults, middleware) }

  public static func == (a: JobQueue, b: JobQueue) -> Bool { a.name == b.name && a.store === b.store }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(ObjectIdentifier(store))
  }
}
