import DurableJobs
import DurableJobsOperations
import DurableJobsSQLite
import Foundation

// An OperationQueue whose tasks outlive the process: task types with handlers, dependencies, retries, a completion block.
//
//     operation-queue FOLDER [add]
//
// Adds two tasks, the dependent one first, and runs them. Killed in the middle and started again without "add", it runs the
// rest: the handlers are registered, and no task is added.

/// At once, also into a pipe.
func say(_ line: String) {
  print(line)
  fflush(nil)
}

let store = try SQLiteStore(path: URL(filePath: CommandLine.arguments[1]).appending(path: "jobs.sqlite").path)

let queue = DurableOperationQueue(name: "cells", store: store, maxConcurrency: 2, maxRetries: 3) { error, task in
  say("\(task.id) \(error.map { "failed: \($0)" } ?? "has ended")")
}

queue.register("cell") { task, context in
  let text = try task.decode([String: String].self)["text"] ?? ""
  say("\(task.id) runs, attempt \(task.attempt): \(text)")
  try await Task.sleep(for: .seconds(1))
}

if CommandLine.arguments.last == "add" {
  let t1 = try DurableOperation(id: "t1", kind: "cell", payload: ["text": "upload"])
  let t2 = try DurableOperation(id: "t2", kind: "cell", payload: ["text": "tell them"])
  t2.addDependency(t1)
  queue.addOperation(t2)  // the dependent first
  queue.addOperation(t1)
}

queue.waitUntilAllOperationsAreFinished()
await queue.stop()
say("\(try await queue.jobs.counts()[.succeeded]) tasks have succeeded")
