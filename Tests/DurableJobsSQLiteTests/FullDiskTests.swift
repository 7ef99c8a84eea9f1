#if os(Linux)
  import DurableJobs
  import Foundation
  import GRDB
  import Glibc
  import Testing

  @testable import DurableJobsSQLite

  /// It is unmounted with this value.
  private final class SmallDisk {
    static let mayBeMounted = (try? SmallDisk()) != nil

    let folder: StoreFolder
    private var filler: String { folder.path("filler") }

    init() throws {
      folder = try StoreFolder()
      guard mount("none", folder.path, "tmpfs", 0, "size=4m") == 0 else {
        throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EPERM)
      }
    }

    deinit { umount2(folder.path, Int32(MNT_DETACH)) }

    /// Takes so many pages, or all that are left.
    func fill(pages: Int = .max) {
      let file = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
      defer { close(file) }
      let bytes = [UInt8](repeating: 1, count: 4096)
      var left = pages
      while left > 0, write(file, bytes, bytes.count) > 0 { left -= 1 }
    }

    func empty() throws { try FileManager.default.removeItem(atPath: filler) }
  }

  extension SQLiteStore {
    /// All of the log is taken into the file, or it throws.
    fileprivate func checkpoint() async throws {
      try await engine.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }
  }

  /// On a disk of 4 MB, where this user may mount one.
  @Suite(.enabled(if: SmallDisk.mayBeMounted, "only root may mount a small disk"))
  struct FullDiskTests {
    private func isFull(_ body: () async throws -> Void) async throws -> Bool {
      do {
        try await body()
        return false
      } catch let error as JobError where error.code == .diskFull || error.code == .storeFailed {
        #expect(error.message.contains("room") || error.message.contains("space"))
        return true
      }
    }

    @Test func `C71 A disk that is full at enqueue, settle or checkpoint loses nothing, and work goes on with room`()
      async throws
    {
      let disk = try SmallDisk()
      let store = try disk.folder.store()
      disk.fill(pages: 512)
      let large = String(repeating: "x", count: 20_000)
      var stored: [JobID] = []
      let wasFull = try await isFull {
        while stored.count < 1000 { stored += try await store.insert(.plain(payload: large)) }
      }
      #expect(wasFull && stored.count > 20)
      #expect(try await store.jobs(JobQuery()).map(\.id) == stored)

      try disk.empty()
      _ = try await store.change(.remove, where: .all, after: stored[19], limit: 1000)
      stored = Array(stored[..<20])
      try await store.compact()
      let claimed = try await store.claim(.of(2)).jobs
      #expect(claimed.count == 2)
      disk.fill()
      let output = Data(repeating: 7, count: 1_000_000)
      let settlement = claimed[0].settled(.succeeded(output: output))
      #expect(try await isFull { _ = try await store.settle([settlement], thenClaim: nil) })
      #expect(try await store.job(stored[0])?.state == .running)
      #expect(try await store.check() == [])
      try disk.empty()
      let replies = try await store.settle([settlement], thenClaim: nil).replies
      #expect(replies == [SettlementReply(isAccepted: true, state: .succeeded)])
      #expect(try await store.job(stored[0])?.output == output)

      // The log can't be taken into the file.
      let log = disk.folder.path() + "-wal"
      #expect(try #require(FileStat(log)).size > output.count)
      disk.fill()
      await #expect(throws: DatabaseError.self) { try await store.checkpoint() }
      #expect(try await isFull { try await store.compact() })
      #expect(try #require(FileStat(log)).size > output.count)
      #expect(try await store.counts(where: .all).total == 20)
      try disk.empty()
      try await store.checkpoint()
      #expect(FileStat(log)?.size == 0)
      // There is no log, and the file can't be written anew.
      disk.fill()
      #expect(try await isFull { try await store.compact() })
      #expect(try await store.counts(where: .all).total == 20)
      try disk.empty()
      await store.close()
      let again = try disk.folder.store()
      #expect(try await again.jobs(JobQuery()).map(\.id).prefix(20) == stored[...])
      #expect(try await again.check() == [])
      #expect(try await again.insert(.plain()).count == 1)
      await again.close()
    }
  }
#endif
