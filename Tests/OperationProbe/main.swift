import DurableJobs
import DurableJobsOperations
import DurableJobsPostgres
import DurableJobsSQLite
import Foundation

// A process for tests to kill: an operation queue on a store, which writes a line for each operation that it runs.
//
//     OperationProbe STORE RECORD add ID…      adds operations, each of which depends on the one before it, and runs them
//     OperationProbe STORE RECORD go           adds none, and runs what there is
//
// An operation whose id begins with "die" kills the process in its first life.

let arguments = CommandLine.arguments
let record = open(arguments[2], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)

func say(_ line: String) {
  let line = Array("\(getpid()) \(line)\n".utf8)
  guard write(record, line, line.count) == line.count else { abort() }
}

func opened(_ place: String) async throws -> any JobStore {
  #if Postgres
    if place.contains("schema=") {
      let parts = place.split(separator: " schema=")
      var configuration = PostgresStore.Configuration()
      configuration.schema = String(parts[1])
      return try await PostgresStore(String(parts[0]), configuration: configuration)
    }
  #endif
  var configuration = SQLiteStore.Configuration()
  configuration.busyTimeout = .seconds(864_000)  // no machine is too slow
  return try SQLiteStore(path: place, configuration: configuration)
}

let store = try await opened(arguments[1])
let queue = DurableOperationQueue(name: "probe", store: store, maxConcurrency: 2) { error, operation in
  say("ended \(operation.id)" + (error.map { " \($0)" } ?? ""))
}
if arguments[3] == "add" {
  var last: DurableOperation?
  for id in arguments.dropFirst(4) {
    let operation = DurableOperation(id: id, kind: "work")
    if let last { operation.addDependency(last) }
    queue.addOperation(operation)
    last = operation
  }
}
queue.register("work") { operation, context in
  say("run \(operation.id)")
  if operation.id.hasPrefix("die"), try await queue.jobs.job(context.id).crashes == 0 { kill(getpid(), SIGKILL) }
}
queue.waitUntilAllOperationsAreFinished()
await queue.stop()
