import DurableJobs
import DurableJobsOperations
import Foundation
import GRDB

/// A type that is declared in a comment sees no members of `Given`.
let vpn = VPN()

struct VPN: Sendable {
  func follow(_ changes: AsyncStream<Bool>.Continuation) {}
}

/// What the code in the libraries' comments takes as given, beside what the documents do. Names are looked up here first.
enum Given {
  struct Photo: Codable, Sendable {
    var id = 7
  }

  struct Order: Codable, Sendable {
    var id = 17
    func insert(_ db: Database) throws {}
  }

  struct Alarm: Sendable {
    func ring(_ text: String?) async {}
  }

  struct PhotoModel {
    let queue: JobQueue
    func share(_ photo: Photo) async throws {}
  }

  struct Tenants: JobMiddleware {}

  static let photo = Photo()
  static let order = Order()
  static let alarm = Alarm()
  static let encryption = Tenants()
  static let user = "ann"
  static let draft = "a text"
  static let url = URL(filePath: "photo.jpg")
  static let coverURL = url
  static let pageURLs = [url]
  static let file = url
  static let folder = url
  static let group = url
  static let login = queue.handle(id, as: Login.self)
  static let upload = id
  static let scan = id
  static let backup = id
  static let operations = DurableOperationQueue(name: "uploads", store: store)
  static let resize = Operation()
  static func send(_ photo: Photo) async throws {}

  struct Greet: Job {
    var name: String
    static let kind = "greet"
    func run(in context: JobContext) async throws {}
  }

  struct Upload: Job, Equatable {
    var file: URL?
    var photo: Int?
    static let kind = "upload"
    func run(in context: JobContext) async throws {}
  }

  struct Sync: JobPayload {
    var account: Int
    static let kind = "sync"
  }

  struct Save: JobPayload {
    var text: String
    static let kind = "save"
    init(_ text: String) { self.text = text }
  }

  struct Publish: JobPayload {
    static let kind = "publish"
  }

  struct Cleanup: JobPayload {
    static let kind = "cleanup"
  }

  struct SendReceipt: JobPayload {
    var order: Int
    static let kind = "send-receipt"
  }

  struct ShowImage: JobPayload {
    typealias Output = URL
    @JobInput var image: Avatar
    static let kind = "show-image"
  }

  struct Fetch: JobPayload {
    typealias Output = Page
    var url: URL
    static let kind = "fetch"
  }

  struct Bind: JobPayload {
    @JobInput var cover: Page
    var pages: [JobInput<Page>]
    static let kind = "bind"
  }
}
