import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

/// Files that earlier versions wrote, kept as they were.
@Suite struct FormatTests {
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
      "Fixtures/v1.sqlite")
    try FileManager.default.copyItem(atPath: fixture.path, toPath: folder.path())
    store = try folder.store()
  }

  @Test func `C74 A file of version 1 opens, and has all that was in it`() async throws {
    let jobs = try await store.jobs(JobQuery(detail: .all))
    #expect(jobs.map(\.state) == [.succeeded, .scheduled, .suspended, .scheduled, .running, .cancelled])
    #expect(jobs[0].payload == Data(#"{"name":"world"}"#.utf8))
    #expect(jobs[0].output == Data(#""hi""#.utf8))
    #expect((jobs[0].key, jobs[0].tags, jobs[0].priority) == ("hello", ["a", "b"], .high))
    #expect((jobs[0].maxAttempts, jobs[0].timeout) == (3, .seconds(90)))
    #expect(jobs[1].failures.map(\.message) == ["not now"])
    #expect(jobs[1].runAt == Date(timeIntervalSince1970: 3_000_000_000))
    #expect(jobs[2].reason == "waits for a callback")
    #expect(jobs[2].progress == JobProgress(fraction: 0.5, message: "half"))
    #expect(jobs[3].startedAt == nil)
    #expect(jobs[5].reason == "not needed")
    #expect(try await store.settings() == [.queue("second", isPaused: true)])
    let counts = try await store.counts(where: .all)
    #expect(counts == JobCounts([.succeeded: 1, .scheduled: 2, .suspended: 1, .running: 1, .cancelled: 1]))
  }

  @Test func `A file of version 1 becomes one of this version, and knows unique keys from then on`() async throws {
    #expect(try await store.numbers("SELECT version FROM durable_meta") == [Schema.version])
    let first = try await store.insert(JobInsertion([.unique("u")])).jobs[0]
    #expect(first.disposition == .inserted)
    await store.close()
    let again = try folder.store()
    #expect(
      try await again.insert(JobInsertion([.unique("u")])).jobs == [InsertedJob(id: first.id, disposition: .kept)])
    #expect(try await again.counts(where: .all).total == 7)
    let rate = StoreSetting.laneRate("l", JobRate(1, per: .seconds(60)))
    try await again.configure([rate])
    #expect(try await again.settings() == [.queue("second", isPaused: true), rate])
  }

  @Test func `C74 A file of version 1 goes on: new jobs run, and what was left waits`() async throws {
    let new = try await store.insert(.plain("greet"))
    #expect(new.map(\.rawValue) == [7])
    let jobs = try await store.claim(.of(9, kinds: ["greet", "other"])).jobs
    #expect(jobs.map(\.token.job) == new)
    #expect(ClaimNumber(rawValue: jobs[0].token.claim).worker == 65538)
    #expect(try await store.settle([jobs[0].settled()], thenClaim: nil).replies[0].isAccepted)
    try await store.change(.resume, JobID(rawValue: 3))
    #expect(try await store.claim(.of(9, kinds: ["greet"])).jobs.map(\.token.job.rawValue) == [3])
  }
}
