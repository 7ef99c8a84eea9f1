import DurableJobs
import GRDB

/// A store's share in the engine of its file. A process has one engine per file, whatever paths lead to it.
final class SharedEngine: Sendable {
  let engine: Engine
  private let key: FileStat.Key
  private let isOpen = Lock(true)

  private struct Entry {
    let engine: Engine
    var shares: Int
  }

  private static let engines = Lock<[FileStat.Key: Entry]>([:])

  init(path: String, configuration: SQLiteStore.Configuration, lent: DatabasePool? = nil) throws {
    (engine, key) = try Self.engines.withLock { engines in
      if let key = FileStat(path)?.key, let entry = engines[key] {
        try entry.engine.checkProcess()
        try require(
          lent == nil || lent === entry.engine.pool,
          "the store \(path) is open in this process already, in another way. Make SQLiteStore(pool:) before any other, "
            + "and of one pool", code: .wrongStore)
        engines[key]!.shares += 1
        return (entry.engine, key)
      }
      let engine = try Engine(path: path, configuration: configuration, lent: lent)
      guard let key = FileStat(path)?.key else {
        engine.close()
        throw JobError(.unusableFile, "the store \(path) vanished while it was opened")
      }
      engines[key] = Entry(engine: engine, shares: 1)
      return (engine, key)
    }
  }

  deinit { if letGo() { engine.close() } }

  func close() async {
    guard letGo(), engine.isOfThisProcess else { return }
    // In a task of its own, since who is cancelled waits for nothing.
    await Task { [engine] in
      engine.turnstile.open()  // workers of a suspended store give back, too
      await engine.signals.localWorkers.giveBack()
      engine.close()
      await engine.writer.waitUntilClosed()
    }.value
  }

  /// Returns true if this was the last share and the engine must be closed.
  private func letGo() -> Bool {
    guard isOpen.exchange(false) else { return false }
    return Self.engines.withLock { engines in
      guard var entry = engines[key] else { return false }
      entry.shares -= 1
      engines[key] = entry.shares == 0 ? nil : entry
      return entry.shares == 0
    }
  }
}
