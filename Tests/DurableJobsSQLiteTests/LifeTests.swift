import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct LifeTests {
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store()
  }

  @Test func `A job is stored, claimed, settled and read back`() async throws {
    let terms = JobTerms(priority: .high, maxAttempts: 3, timeout: .seconds(5), key: "k", tags: ["a", "b"])
    let ids = try await store.insert(.plain(), .plain(terms: terms, payload: "[1]"))
    let batch = try await store.claim(.of(1))
    #expect(batch.jobs.map(\.token.job) == [ids[1]])
    #expect(batch.hasMore)
    #expect(batch.jobs[0].payload == Data("[1]".utf8))
    #expect(batch.jobs[0].maxAttempts == 3)
    #expect(batch.jobs[0].timeout == .seconds(5))
    let next = try await store.settle([batch.jobs[0].settled(.succeeded(output: Data("7".utf8)))], thenClaim: .of(1))
    #expect(next.replies == [SettlementReply(isAccepted: true, state: .succeeded)])
    #expect(next.claimed?.jobs.map(\.token.job) == [ids[0]])
    #expect(next.claimed?.hasMore == false)

    let job = try #require(await store.job(ids[1]))
    #expect(job.state == .succeeded)
    #expect(job.output == Data("7".utf8))
    #expect(job.key == "k")
    #expect(job.tags == ["a", "b"])
    #expect(job.attempt == 1)
    #expect(job.finishedAt != nil)
    let counts = try await store.counts(where: .all)
    #expect(counts == JobCounts([.succeeded: 1, .running: 1]))
    #expect(try await store.jobs(JobQuery(.tag("a"))).map(\.id) == [ids[1]])
    #expect(try await store.jobs(JobQuery(.key("k"))).map(\.id) == [ids[1]])
  }

  @Test func `A store that is closed and opened again has its jobs`() async throws {
    let id = try await store.insert(.plain())[0]
    await store.close()
    let again = try folder.store()
    #expect(try await again.job(id)?.state == .ready)
    #expect(try await again.claim(.of(1)).jobs.count == 1)
  }

  @Test func `A closed store refuses calls, and leaves nothing of itself behind`() async throws {
    weak var engine: Engine?
    try await {
      let other = try folder.store("other.sqlite")
      let subscription = other.signals.listen { _ in }
      defer { withExtendedLifetime(subscription) {} }
      engine = other.engine
      try await other.insert(.plain())
      _ = try await other.claim(.of(1))
      await other.close()
      let error = await #expect(throws: JobError.self) { try await other.insert(.plain()) }
      #expect(error?.message.contains(other.engine.path) == true)
    }()
    #expect(engine == nil)
    #expect(!FileManager.default.fileExists(atPath: folder.path("other.sqlite-wal")))
  }

  @Test func `A second store on the same file shares the engine of the first`() async throws {
    let link = folder.path("link.sqlite")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path())
    let other = try SQLiteStore(path: link)
    #expect(other.engine === store.engine)
    await store.close()
    #expect(try await other.insert(.plain()).count == 1)
  }
}
