import DurableJobs
import DurableJobsSQLite
import Foundation

// Requests that are made without a network, and sent when it is back.
//
//     offline-requests FOLDER [TEXT…]
//
// Stores a request for each text, and sends what there is, in order, until all of it has arrived. The network is a stand-in:
// it is gone as long as there is a file FOLDER/offline, and what it delivers is a line of FOLDER/server.

/// At once, also into a pipe.
func say(_ line: String) {
  print(line)
  fflush(nil)
}

let folder = URL(filePath: CommandLine.arguments[1])

struct SendRequest: Job {
  var text: String
  static let kind = "send-request"
  /// Tried again and again, as nobody knows when the network returns; one after the other, so that they arrive in order.
  static let retry = RetryPolicy.exponential(base: .milliseconds(250), cap: .seconds(1))
  static let options = JobOptions(maxAttempts: 1000, lane: "server")

  func run(in context: JobContext) async throws {
    do {
      try Network(folder: folder).send(text, id: context.id)
      say("sent: \(text)")
    } catch {
      say("no network: \(text) waits")
      throw error
    }
  }
}

let queue = JobQueue("requests", store: try SQLiteStore(path: folder.appending(path: "jobs.sqlite").path))
let worker = JobWorker(queue)
worker.register(SendRequest.self)

let texts = CommandLine.arguments.dropFirst(2)
try await queue.enqueue(contentsOf: texts.map { SendRequest(text: $0) })
say("stored \(texts.count) requests, \(try await queue.counts().unfinished) are to be sent")
try await worker.runUntilIdle()
say("all requests have arrived")
