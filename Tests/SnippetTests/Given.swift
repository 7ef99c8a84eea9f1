import DurableJobs
import Foundation
import GRDB

// What the snippets of README.md and docs take as given.

let store = InMemoryStore()
let queue = JobQueue(store: store)
let worker = JobWorker(queue)
/// An app's own database. Nothing opens it.
let pool = try! DatabasePool(path: "app.sqlite")
let id = JobID(rawValue: 1)
let photo = UploadPhoto(file: URL(filePath: "photo.jpg"))

struct RemoteID: Codable, Sendable {
  var name: String
}

/// A job as the README declares it.
struct UploadPhoto: Job {
  var file: URL
  static let kind = "upload-photo"

  func run(in context: JobContext) async throws -> RemoteID { RemoteID(name: file.lastPathComponent) }
}

struct SendMessage: JobPayload, Equatable {
  var text: String
  static let kind = "send-message"
}

/// Something of the app's own that does the work.
struct Server: Sendable {
  struct Busy: Error {
    var retryAfter: Duration
  }

  struct Refused: Error {}

  var token: String { "" }
  func send(_ text: String) async throws {}
  func upload(_ file: URL, progress: (Double) throws -> Void) async throws -> RemoteID {
    RemoteID(name: file.lastPathComponent)
  }
  func beginUpload(_ file: URL, as id: JobID) {}
  func login(_ user: String) async throws -> Session { Session() }
  func avatar(of session: Session, size: Int) async throws -> Avatar { Avatar() }
  func save(_ avatar: Avatar) async throws -> URL { URL(filePath: "avatar.png") }
  func scan(_ scan: Scan) async throws -> Report { Report(isClean: true) }
}

let server = Server()

/// The same as it was written before `async`.
final class OldService: Sendable {
  func login(_ user: String, completion: @escaping @Sendable (Session?, (any Error)?) -> Void) {
    completion(Session(), nil)
  }
  func avatar(of session: Session, completion: @escaping @Sendable (Avatar?, (any Error)?) -> Void) {
    completion(Avatar(), nil)
  }
  func save(_ avatar: Avatar, completion: @escaping @Sendable (URL?, (any Error)?) -> Void) {
    completion(URL(filePath: "avatar.png"), nil)
  }
  func beginSync() { NotificationCenter.default.post(name: .syncEnded, object: nil) }
}

let service = OldService()

protocol UploaderDelegate: AnyObject, Sendable {
  func uploader(_ uploader: Uploader, didFinishWith id: RemoteID)
  func uploader(_ uploader: Uploader, didFailWith error: any Error)
}

final class Uploader: Sendable {
  func start(_ file: URL, delegate: any UploaderDelegate) {
    delegate.uploader(self, didFinishWith: RemoteID(name: file.lastPathComponent))
  }
  func cancel() {}
}

extension Notification.Name {
  static let syncEnded = Notification.Name("sync-ended")
}

let checksum = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

let planID = PlanID(rawValue: "album-1")

struct Session: Codable, Sendable {}
struct Avatar: Codable, Sendable {}
struct Page: Codable, Sendable {}

struct Report: Codable, Sendable {
  var isClean: Bool
}

struct Album: Codable, Sendable {
  var title: String
  var pages: [Page]
  var isClean: Bool
}

struct Login: JobPayload {
  typealias Output = Session
  var user: String
  static let kind = "login"
}

struct FetchAvatar: JobPayload {
  typealias Output = Avatar
  @JobInput var session: Session
  var size: Int
  static let kind = "fetch-avatar"
}

struct SaveAvatar: JobPayload {
  typealias Output = URL
  @JobInput var avatar: Avatar
  static let kind = "save-avatar"
}

struct ReportFailure: JobPayload {
  @JobInput var failure: JobFailure
  static let kind = "report-failure"
}

struct Fetch: JobPayload {
  typealias Output = Page
  var page: Int
  static let kind = "fetch"
}

struct Scan: JobPayload {
  typealias Output = Report
  static let kind = "scan"
}

struct MakeIndex: JobPayload {
  typealias Output = [String]
  var pages: [JobInput<Page>]
  static let kind = "make-index"
}
