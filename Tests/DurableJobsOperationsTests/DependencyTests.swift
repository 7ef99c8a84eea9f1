import DurableJobs
import DurableJobsOperations
import Foundation
import Logging
import Testing

/// Which operation another waits for, and what is refused.
@Suite struct DependencyTests {
  @Test func `Queues and ids with slashes in them are told apart`() async throws {
    let store = InMemoryStore()
    func queue(_ name: String) -> DurableOperationQueue { DurableOperationQueue(name: name, store: store) }
    let (names, ids) = (["mail", "mail/in", "mail%2Fin"], ["in/7", "7", "7"])
    let operations = ids.map(Bench.work)
    for (name, operation) in zip(names, operations) {
      let queue = queue(name)
      await queue.add(operation)
      await queue.stop()
    }
    let keys = try await store.jobs(JobQuery()).map(\.key)
    #expect(keys == ["mail/in/7", "mail%2Fin/7", "mail%252Fin/7"])
    for (name, id) in zip(names, ids) {
      let queue = queue(name)
      #expect(await onThread { queue.durableOperations.map(\.id) } == [id])
      await onThread { queue.cancelAllOperations() }
      await queue.finished()
      await queue.stop()
    }
    withExtendedLifetime(operations) {}
  }

  // MARK: After it was added

  @Test func `A dependency of what is stored is left out and logged, and one of what still waits counts`() async throws
  {
    let (bench, log) = (Bench(), Record())
    let queue = DurableOperationQueue(
      name: "logged", store: bench.store, logger: Logger(label: "test") { _ in LogRecord(record: log) })
    queue.register("work") { operation, _ in bench.record.add(operation.id) }
    let (stored, waiting, last) = (Bench.work("stored"), Bench.work("waiting"), Bench.work("last"))
    let (gate, second) = (BlockOperation { bench.record.add("gate") }, BlockOperation { bench.record.add("second") })
    queue.isSuspended = true
    waiting.addDependency(gate)
    await queue.add(stored, waiting)
    stored.addDependency(waiting)
    waiting.addDependency(last, mustSucceed: true)
    waiting.addDependency(second)
    #expect(stored.dependencies == [])
    #expect(log.all == ["an operation that is stored gets no more dependencies: waiting of stored"])
    queue.isSuspended = false
    await stored.finished()
    await queue.add(gate)
    await gate.finished()
    await queue.add(second)
    await second.finished()
    await queue.add(last)
    await queue.finished()
    #expect(bench.record.all == ["stored", "gate", "second", "last", "waiting"])
    await queue.stop()
    await bench.queue.stop()
  }
}

/// Writes down warnings about operations.
private struct LogRecord: LogHandler {
  let record: Record
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.warning

  func log(event: LogEvent) {
    guard event.level == .warning else { return }
    let (dependency, operation) = (event.metadata?["dependency"], event.metadata?["operation"])
    record.add("\(event.message): \(dependency ?? "") of \(operation ?? "")")
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }
}
