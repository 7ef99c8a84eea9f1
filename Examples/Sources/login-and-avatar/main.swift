import DurableJobs
import DurableJobsSQLite
import Foundation

// Three asynchronous tasks in a row, each with what the one before it brought, and one place for errors.
//
//     login-and-avatar FOLDER [USER]
//
// Killed in the middle and started again without a user, it goes on where it was: nobody logs in twice.

/// At once, also into a pipe.
func say(_ line: String) {
  print(line)
  fflush(nil)
}

let folder = URL(filePath: CommandLine.arguments[1])

struct Session: Codable, Sendable { var user: String, token: String }
struct Avatar: Codable, Sendable { var user: String, picture: Data }
struct WrongUser: Error {}

struct Login: Job {
  var user: String
  static let kind = "login"

  func run(in context: JobContext) async throws -> Session {
    say("login: \(user)")
    guard user != "nobody" else { throw .permanent(WrongUser()) }
    return Session(user: user, token: "secret")
  }
}

struct FetchAvatar: Job {
  @JobInput var session: Session
  var size: Int
  static let kind = "fetch-avatar"

  func run(in context: JobContext) async throws -> Avatar {
    say("fetch the avatar of \(session.user) with token \(session.token)")
    try await Task.sleep(for: .seconds(1))  // a slow server
    return Avatar(user: session.user, picture: Data(repeating: 7, count: size))
  }
}

struct SaveAvatar: Job {
  @JobInput var avatar: Avatar
  static let kind = "save-avatar"

  func run(in context: JobContext) async throws -> URL {
    let file = folder.appending(path: "\(avatar.user).png")
    try avatar.picture.write(to: file, options: .atomic)
    say("saved \(file.lastPathComponent), \(avatar.picture.count) bytes")
    return file
  }
}

struct ReportFailure: Job {
  @JobInput var failure: JobFailure
  static let kind = "report-failure"

  func run(in context: JobContext) async throws { say("failed: \(failure)") }
}

let queue = JobQueue(store: try SQLiteStore(path: folder.appending(path: "jobs.sqlite").path))
let worker = JobWorker(queue)
worker.register(Login.self)
worker.register(FetchAvatar.self)
worker.register(SaveAvatar.self)
worker.register(ReportFailure.self)

if let user = CommandLine.arguments.dropFirst(2).first {
  let chain = JobChain(Login(user: user))
    .then { FetchAvatar(session: $0, size: 64) }
    .then { SaveAvatar(avatar: $0) }
    .catch { ReportFailure(failure: $0) }
  try await queue.enqueue(chain)
  say("the chain is stored")
}
try await worker.runUntilIdle()
