import Foundation

/// A name on a store: enqueue, watch, control. A value without state: any number of copies are the same queue.
///
///     let queue = JobQueue(store: try SQLiteStore(path: "jobs.sqlite"))
///     try await queue.enqueue(Greet(name: "world"))
///
/// Verbs that take an id reach any job of the store; verbs that take a filter, and all reads, stay in this queue.
public struct JobQueue: Sendable, Hashable {
  public let name: String
  public let store: any JobStore
  /// What jobs get that are enqueued by this value, where neither they, nor their kind, nor the call says otherwise.
  public let defaults: JobOptions
  /// What stands around the jobs that this value enqueues, and those that a worker runs which was made with it.
  public let middleware: [any JobMiddleware]

  public init(
    _ name: String = "default", store: any JobStore, defaults: JobOptions = JobOptions(),
    middleware: [any JobMiddleware] = []
  ) {
    self.name = name
    self.store = store
    self.defaults = defaults
    self.middleware = middleware
  }

  public static func == (a: JobQueue, b: JobQueue) -> Bool { a.name == b.name && a.store === b.store }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(ObjectIdentifier(store))
  }
}
