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

  /// Gives all files one time, as a file system may that counts it coarsely.
  private func level() throws {
    for name in try names() {
      let path = inbox.folder.appendingPathComponent(name).path
      let date = Date(timeIntervalSince1970: 1_767_608_430)
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }
  }

  @Test func `What was dropped is taken in once, with its queue and options, in order`() async throws {
    #expect(try await inbox.takeIn(to: store) == 0)
    let files = (1...20).map { "\($0)" }
    for name in files {
      try inbox.drop(
        Upload(file: name), on: "uploads", options: JobOptions(start: .after(.seconds(60)), tags: ["shared"]))
    }
    #expect(try names().count == 20)
    try level()
    #expect(try await inbox.takeIn(to: store) == 20)
    #expect(try await inbox.takeIn(to: store) == 0)
    #expect(try names() == [])
    let jobs = try await JobQueue("uploads", store: store).jobs(of: Upload.self, where: .tag("shared"))
    #expect(jobs.map(\.payload.file) == files)
    #expect(Set(jobs.map(\.job.state)) == [.scheduled])
    try FileManager.default.removeItem(at: inbox.folder)
  }

  @Test func `A file that is left behind after its job was stored brings no second one`() async throws {
    try inbox.drop(Upload(file: "a"), on: "default")
    store.fail(.insert, with: JobError(.locked, "the answer is lost"), isDone: true)
    await #expect(throws: JobError.self) { try await inbox.takeIn(to: store) }
    #expect(try names().count == 1)
    #expect(try await inbox.takeIn(to: store) == 0)
    #expect(try names() == [])
    #expect(try await store.counts(where: .all) == JobCounts([.ready: 1]))
    try FileManager.default.removeItem(at: inbox.folder)
  }

  @Test func `What is no job stays, and keeps nobody up; what is being written is not looked at`() async throws {
    try inbox.drop(Upload(file: "a"), on: "default")
    try Data("no job".utf8).write(to: inbox.folder.appendingPathComponent("x.job"))
    try Data("half".utf8).write(to: inbox.folder.appendingPathComponent(".y"))
    #expect(try await inbox.takeIn(to: store) == 1)
    #expect(try names().sorted() == [".y", "x.unreadable"])
    try FileManager.default.removeItem(at: inbox.folder)
  }

  @Test func `Of drops that replace each other the last is stored, and those behind them too`() async throws {
    func drop(_ name: String, _ policy: UniqueKey.Policy?) throws {
      try inbox.drop(
        Upload(file: name), on: "default", options: JobOptions(unique: policy.map { UniqueKey("sync", policy: $0) }))
    }
    for (name, policy) in [("a", UniqueKey.Policy.keep), ("b", .replace), ("c", nil), ("d", .replace), ("e", .keep)] {
      try drop(name, policy)
      try level()
    }
    #expect(try await inbox.takeIn(to: store) == 3)
    #expect(try names() == [])
    let jobs = try await JobQueue(store: store).jobs(of: Upload.self)
    #expect(jobs.map(\.payload.file) == ["c", "d"])
    try FileManager.default.removeItem(at: inbox.folder)
  }

  @Test func `What a refused drop was to replace is stored, and what that replaced never is`() async throws {
    func drop(_ name: String, _ policy: UniqueKey.Policy = .replace) throws {
      try inbox.drop(Upload(file: name), on: "default", options: JobOptions(unique: UniqueKey("sync", policy: policy)))
      try level()
    }
    try drop("a")
    try drop("b")
    let files = try names()
    try drop("c")
    let last = try #require(try names().max())
    let url = inbox.folder.appendingPathComponent(last)
    var job = try JSONDecoder().decode(NewJob.self, from: Data(contentsOf: url))
    job.edges = [JobEdge(.job(JobID(rawValue: 99)))]
    try JSONEncoder().encode(job).write(to: url)
    for name in files {
      try FileManager.default.copyItem(
        at: inbox.folder.appendingPathComponent(name), to: inbox.folder.appendingPathComponent(name + ".kept"))
    }
    #expect(try await inbox.takeIn(to: store) == 1)
    #expect(try await JobQueue(store: store).jobs(of: Upload.self).map(\.payload.file) == ["b"])
    #expect(try names().filter { !$0.hasSuffix(".kept") } == [last.replacingOccurrences(of: ".job", with: ".refused")])
    // As after a death between the store's commit and the end of the files.
    for name in files {
      try FileManager.default.moveItem(
        at: inbox.folder.appendingPathComponent(name + ".kept"), to: inbox.folder.appendingPathComponent(name))
    }
    #expect(try await inbox.takeIn(to: store) == 0)
    #expect(try await JobQueue(store: store).jobs(of: Upload.self).map(\.payload.file) == ["b"])
    try FileManager.default.removeItem(at: inbox.folder)
  }

  @Test func `A job that the store refuses is set aside, and keeps nobody up`() async throws {
    try inbox.drop(Upload(file: "a"), on: "default")
    let orphan = NewJob(
      queue: "default", kind: "upload", payload: Data("{}".utf8), edges: [JobEdge(.job(JobID(rawValue: 99)))])
    try JSONEncoder().encode(orphan).write(to: inbox.folder.appendingPathComponent("x.job"))
    try inbox.drop(Upload(file: "b"), on: "default")
    #expect(try await inbox.takeIn(to: store) == 2)
    #expect(try names() == ["x.refused"])
    #expect(try await inbox.takeIn(to: store) == 0)
    try FileManager.default.removeItem(at: inbox.folder)
  }

  @Test func `A file that can't be read now stays until it can, and keeps nobody up`() async throws {
    try inbox.drop(Upload(file: "a"), on: "default")
    let (file, locked) = (inbox.folder.appendingPathComponent("x.job"), inbox.folder.appendingPathComponent("locked"))
    try FileManager.default.moveItem(
      at: inbox.folder.appendingPathComponent(try #require(try names().first)), to: locked)
    try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: "not-yet")
    try inbox.drop(Upload(file: "b"), on: "default")
    await #expect(throws: (any Error).self) { try await inbox.takeIn(to: store) }
    #expect(try names().sorted() == ["locked", "x.job"])
    #expect(try await JobQueue(store: store).jobs(of: Upload.self).map(\.payload.file) == ["b"])
    try FileManager.default.moveItem(at: locked, to: inbox.folder.appendingPathComponent("not-yet"))
    #expect(try await inbox.takeIn(to: store) == 1)
    #expect(try await JobQueue(store: store).jobs(of: Upload.self).map(\.payload.file) == ["b", "a"])
    try FileManager.default.removeItem(at: inbox.folder)
  }

  @Test func `What no store could take is refused where it is dropped`() throws {
    #expect(throws: JobError.self) { try inbox.drop(Upload(file: "a"), on: "") }
    #expect(!FileManager.default.fileExists(atPath: inbox.folder.path))
  }
}
