import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

/// What a process leaves in the folder beside the database when it ends.
@Suite struct LeavingTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private var files: [String] { MeetingFolder.files(in: folder.path() + "-durable").filter { $0 != "turn" }.sorted() }

  private func run(_ program: String) async throws {
    let probe = try ProcessProbe(program, folder.path())
    #expect(try await probe.hear("hello") == ["world"])
    await #expect(throws: ProcessProbe.Ended.self) { try await probe.hear("nothing") }
  }

  @Test func `The README's program leaves nothing`() async throws {
    for _ in 0..<3 { try await run("run") }
    #expect(files == [])
  }

  @Test func `What a process leaves that ended while its worker went on goes when the next one looks`() async throws {
    for _ in 0..<3 { try await run("leave") }
    #expect(files.count == 3)
    let store = try folder.store()
    let subscription = store.signals.listen { _ in }
    // Not by a time: its listener has begun, and looks.
    while files.count != 3 || !files.allSatisfy({ $0.hasPrefix(store.engine.session ?? "none") }) { await Task.yield() }
    withExtendedLifetime(subscription) {}
    #expect(try await store.numbers("SELECT count(*) FROM durable_worker") == [0])
    await store.close()
    #expect(files == [])
  }

  /// As on a full disk: a worker can't be deleted from this file, nor a job be given back.
  @Test
  func `Who closes a store and could not take its worker back is seen to be dead at once, and its jobs come back`()
    async throws
  {
    let store = try folder.store()
    try await store.insert(.plain())
    #expect(try await store.claim(.of(1)).jobs.count == 1)
    try await store.execute(
      "CREATE TRIGGER no BEFORE DELETE ON durable_worker BEGIN SELECT raise(ABORT,'no room'); END")
    await #expect(throws: JobError.self) {
      _ = try await store.recover(RecoveryRequest(worker: "w", isRetiring: true))
    }
    await store.close()
    let next = try folder.store()
    #expect(try await next.workers().map(\.standing) == [.dead])
    try await next.execute("DROP TRIGGER no")
    #expect(try await next.recover(RecoveryRequest()).recovered == 1)
    #expect(try await next.counts(where: .all) == JobCounts([.ready: 1]))
    await next.close()
    #expect(files == [])
  }

  @Test func `A dead session without a worker goes too`() async throws {
    let store = try folder.store()
    for name in ["00000001", "00000002"] {
      let path = SessionFile.lock.path(of: name, in: folder.path() + "-durable")
      #expect(FileManager.default.createFile(atPath: path, contents: nil))
    }
    let subscription = store.signals.listen { _ in }
    while files.contains(where: { $0.hasPrefix("0000000") }) { await Task.yield() }
    withExtendedLifetime(subscription) {}
    await store.close()
  }
}
