import DurableJobs
import Foundation

extension JobWorker {
  /// A worker whose only job runs until the gate is opened.
  package static func busy(on queue: JobQueue, until mayEnd: Gate) async throws -> JobWorker {
    let (worker, began) = (JobWorker(queue), Gate())
    worker.register(kind: "k") { _, _ in
      began.open()
      await mayEnd.pass()
      return nil
    }
    try await queue.enqueue(kind: "k", payload: Data())
    worker.start()
    await began.pass()
    return worker
  }
}
