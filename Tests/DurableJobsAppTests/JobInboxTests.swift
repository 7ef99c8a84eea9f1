import DurableJobs
import DurableJobsApp
import DurableJobsTesting
import Foundation
import Testing

/// What an extension drops, and what the app takes in of it.
@Suite struct JobInboxTests {
  struct Upload: JobPayload, Equatable {
    static let kind = "upload"
    var file: String
  }

  let inbox = JobInbox(
    folder: FileManager.default.temporaryDirectory.appendingPathComponent("inbox-\(UUID().uuidString)"))
  let store = FaultyStore(InMemoryStore())

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: inbox.folder.path).filter { $0 != ".lock" }
  }

  @Test func `What was dropped is taken in once, with its queue and options, in order`() async throws {
    #expect(try await inbox.takeIn(to: store) == 0)
    for name in ["a", "b"] {
      try inbox.drop(
        Upload(file: name), on: "uploads", options: JobOptions(start: .after(.seconds(60)), tags: ["shared"]))
    }
    #expect(try names().count == 2)
    #expect(try await inbox.takeIn(to: store) == 2)
    #expect(try await inbox.takeIn(to: store) == 0)
    #expect(try names() == [])
    let jobs = try await JobQueue("uploads", store: store).jobs(of: Upload.self, where: .tag("shared"))
    #expect(jobs.map(\.payload.file) == ["a", "b"])
    #expect(jobs.map(\.job.state) == [.scheduled, .scheduled])
    try FileManager.default.removeItem(at: inbox.folder)
  }

  @Test func `A file that is left behind after its job was stored brings no second one`() async throws {
    try inbox.drop(Upload(file: "a"))
    store.fail(.insert, with: JobError(.locked, "the answer is lost"), isDone: true)
    await #expect(throws: JobError.self) { try await inbox.takeIn(to: store) }
    #expect(try names().count == 1)
    #expect(try await inbox.takeIn(to: store) == 0)
    #expect(try names() == [])
    #expect(try await store.counts(where: .all) == JobCounts([.ready: 1]))
    try FileManager.default.removeItem(at: inbox.folder)
  }

  @Test func `What is no job stays, and keeps nobody up; what is being written is not looked at`() async throws {
    try inbox.drop(Upload(file: "a"))
    try Data("no job".utf8).write(to: inbox.folder.appendingPathComponent("x.job"))
    try Data("half".utf8).write(to: inbox.folder.appendingPathComponent(".y"))
    #expect(try await inbox.takeIn(to: store) == 1)
    #expect(try names().sorted() == [".y", "x.unreadable"])
    try FileManager.default.removeItem(at: inbox.folder)
  }

  @Test func `What no store could take is refused where it is dropped`() throws {
    #expect(throws: JobError.self) { try inbox.drop(Upload(file: "a"), on: "") }
    #expect(!FileManager.default.fileExists(atPath: inbox.folder.path))
  }
}
