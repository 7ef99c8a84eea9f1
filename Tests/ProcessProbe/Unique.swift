import DurableJobs
import DurableJobsSQLite
import Foundation

/// Enqueues jobs under unique keys that others use too: `enqueue ROUNDS`, a key for each round. Answers with how many of
/// them it stored, and with the id that stands for each.
func enqueueUnique(databasePath: String) async throws {
  var configuration = SQLiteStore.Configuration()
  configuration.busyTimeout = asLongAsItTakes
  let store = try SQLiteStore(path: databasePath, configuration: configuration)
  say("ready")
  while let words = listen() {
    guard words.first == "enqueue" else { continue }
    var jobs: [InsertedJob] = []
    for round in 0..<(Int(words[1]) ?? 0) {
      let terms = JobTerms(unique: UniqueKey("u\(round)"))
      let job = NewJob(queue: "default", kind: "work", payload: Data("{}".utf8), terms: terms)
      jobs += try await store.insert(JobInsertion([job])).jobs
    }
    let stored = jobs.count { $0.disposition == .inserted }
    say("enqueued", stored, jobs.map(\.id.description).joined(separator: " "))
  }
}
