import DurableJobs
import DurableJobsOperations
import Foundation
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
}
