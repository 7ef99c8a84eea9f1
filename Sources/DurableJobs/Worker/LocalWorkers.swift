/// The workers of a store that run in this process, each from when it is told to run until its run is over.
package final class LocalWorkers: Sendable {
  private let engines = Lock<[ObjectIdentifier: WorkerEngine]>([:])

  init() {}

  func add(_ engine: WorkerEngine) { engines.withLock { $0[ObjectIdentifier(engine)] = engine } }

  func remove(_ engine: WorkerEngine) { engines.withLock { $0[ObjectIdentifier(engine)] = nil } }

  func kinds(in queue: String, except one: WorkerEngine? = nil) -> Set<String> {
    all.filter { $0 !== one && $0.queues.contains(queue) }.reduce(into: []) { $0.formUnion($1.kinds) }
  }

  func reaches(in queue: String) -> [WorkerReach] { all.filter { $0.queues.contains(queue) }.map(\.reach) }

  /// What those of them can serve that have a free slot for the queue.
  func reaches(withRoomIn queue: String) -> [WorkerReach] {
    all.filter { engine in engine.shared.withLock { $0.state.hasRoom(in: queue) } }.map(\.reach)
  }

  /// Makes all of them give their jobs back. For stores, before they close.
  package func giveBack() async { for engine in all { await engine.giveBack() } }

  package var isEmpty: Bool { engines.withLock { $0.isEmpty } }

  private var all: [WorkerEngine] { engines.withLock { Array($0.values) } }
}
