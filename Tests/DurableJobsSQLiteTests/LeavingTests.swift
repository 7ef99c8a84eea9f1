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
