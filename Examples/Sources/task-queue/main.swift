import DurableJobs
import DurableJobsSQLite
import Foundation

// A task queue as an app has one for its long and important work: an upload, a message, an edit of a video. One task runs at a
// time, and what a server has to answer first does not block the queue: its task is suspended in `run`, and finished from the
// callback, also by a later launch.
//
//     task-queue FOLDER [add]
//
// Killed in the middle and started again without `add`, it goes on where it was, and the server gets nothing twice.

/// At once, also into a pipe.
func say(_ line: String) {
  print(line)
  fflush(nil)
}

let folder = URL(filePath: CommandLine.arguments[1])

/// Takes what it is asked for at once, by its id so that asking twice is asking once, and is ready with it later.
struct Server {
  private let file = folder.appending(path: "server")

  func begin(_ what: String, as id: JobID) throws {
    guard !FileManager.default.fileExists(atPath: folder.appending(path: "asked-\(id)").path) else { return }
    let known = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    try (known + what + "\n").write(to: file, atomically: true, encoding: .utf8)
    try Data().write(to: folder.appending(path: "asked-\(id)"))
  }
}

struct RemoteID: Codable, Sendable { var name: String }

struct UploadImageTask: Job {
  var image: String
  static let kind = "UploadImageTask"
  static let options = JobOptions(priority: .high)

  struct NoImage: Error {}

  func validate() throws {  // prepareForAddToQueue
    if !image.hasSuffix(".jpg") { throw NoImage() }
  }

  func run(in context: JobContext) async throws -> RemoteID {
    try Server().begin("upload \(image)", as: context.id)
    say("uploading \(image)")
    throw .suspend(because: "the upload goes on")  // suspend: the next task runs
  }
}

struct SendMessageTask: Job {
  var text: String
  static let kind = "SendMessageTask"

  func run(in context: JobContext) async throws {
    try Server().begin("message \(text)", as: context.id)
    say("sending \(text)")
    throw .suspend(because: "the server answers later")
  }
}

struct EditVideoTask: Job {
  var video: String
  static let kind = "EditVideoTask"
  static let options = JobOptions(priority: .low)

  func run(in context: JobContext) async throws {
    for percent in [20, 40, 60, 80] {
      say("editing \(video), \(percent) %")
      try context.report(progress: Double(percent) / 100)  // taskSignal
      try await Task.sleep(for: .milliseconds(200))  // the work
    }
    say("edited \(video)")
  }
}

// shareInstance
let tasks = JobQueue("tasks", store: try SQLiteStore(path: folder.appending(path: "tasks.sqlite").path))
let worker = JobWorker(tasks, maxConcurrentJobs: 1)
worker.register(UploadImageTask.self)
worker.register(SendMessageTask.self)
worker.register(EditVideoTask.self)

/// What the server calls once it is ready with a task.
func serverIsReady(with id: JobID, _ kind: String) async throws {
  switch kind {
  case UploadImageTask.kind:
    try await tasks.handle(id, as: UploadImageTask.self).complete(with: RemoteID(name: "\(id).jpg"))  // pop
  default:
    try await tasks.handle(id, as: SendMessageTask.self).complete()
  }
  say("the server is ready with \(kind)")
}

if CommandLine.arguments.dropFirst(2).first == "add" {
  do {
    try await tasks.enqueue(UploadImageTask(image: "notes.txt"))
  } catch is UploadImageTask.NoImage {
    say("no image is refused")  // addTask: answers NO
  }
  try await tasks.enqueue(UploadImageTask(image: "cat.jpg"))  // addTask:
  try await tasks.enqueue(SendMessageTask(text: "hello"))
  try await tasks.enqueue(EditVideoTask(video: "clip.mov"))
} else {
  // What it was ready with while nobody was there to hear it.
  for task in try await tasks.jobs(where: .state(.suspended)) { try await serverIsReady(with: task.id, task.kind) }
}
try await worker.runUntilIdle()
let finished = try await tasks.counts(where: .state(.succeeded)).total
say("\(finished) tasks are finished")  // isAllTaskFinish
