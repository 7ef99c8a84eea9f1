import DurableJobs
import DurableJobsSQLite
import Foundation

private struct Greet: Job {
  var name: String
  static let kind = "greet"
  func run(in context: JobContext) async throws { say("hello", name) }
}

/// A program as the README has it, which closes nothing. With `isLeft`, it ends while its worker goes on.
func runProgram(databasePath: String, isLeft: Bool) async throws {
  let queue = JobQueue(store: try SQLiteStore(path: databasePath))
  let worker = JobWorker(queue)
  worker.register(Greet.self)
  let job = try await queue.enqueue(Greet(name: "world"))
  if isLeft {
    worker.start()
    try await job.value
  } else {
    try await worker.runUntilIdle()
  }
  withExtendedLifetime(worker) { exit(0) }
}
