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
let network = Network(folder: folder)

struct SendRequest: Job {
  var text: String
  static let kind = "send-request"
  /// One after the other, so that they arrive in order, and none without a network. One that is lost on its way is tried
  /// again, as often as it takes.
  static let retry = RetryPolicy.exponential(base: .milliseconds(250), cap: .seconds(1))
  static let options = JobOptions(maxAttempts: 1000, lane: "server", requires: [.network])

  func run(in context: JobContext) async throws {
    try network.send(text, id: context.id)
    say("sent: \(text)")
  }
}

let queue = JobQueue("requests", store: try SQLiteStore(path: folder.appending(path: "jobs.sqlite").path))
let worker = JobWorker(queue)
worker.register(SendRequest.self)
worker.provide(.network, network)

let texts = CommandLine.arguments.dropFirst(2)
try await queue.enqueue(contentsOf: texts.map { SendRequest(text: $0) })
say("stored \(texts.count) requests, \(try await queue.counts().unfinished) are to be sent")

worker.start()
let telling = Task { for await isThere in network.changes() where !isThere { say("no network: they wait") } }
try await queue.waitUntilFinished(where: .kind(SendRequest.self))
telling.cancel()
await worker.stop()
say("all requests have arrived")
