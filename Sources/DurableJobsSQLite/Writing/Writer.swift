import DurableJobs
import Foundation
import GRDB
import GRDBSQLite

/// The only thread of this process that writes a file.
///
/// It takes all pending requests, executes them in one transaction, and only then answers the callers: requests that
/// arrive while a commit is being written share the next one. It never waits for a group to fill.
final class Writer: @unchecked Sendable {
  // Checked by hand: `connection`, `memory` and `told` are used in the pool's write access, of which there is one at a
  // time; `log` by the thread alone, which `init` starts last, and which may read `memory.workers`, as it alone changes
  // them; what callers use is inside `waiting`.

  private struct Waiting {
    var requests: [WriteRequest] = []
    var isAsleep = false
    var isClosed = false
  }

  private let pool: DatabasePool
  /// Whether the pool belongs to the app, which closes it.
  private let isLent: Bool
  private let lock: WriterLock
  private let time: StoreTime
  private let configuration: SQLiteStore.Configuration
  private let process: OwnProcess
  private let path: String
  /// The file, and where it was when it was opened.
  private let file: (key: FileStat.Key?, path: String)
  private let isHeard: @Sendable () -> Bool
  private let tell: @Sendable (WriteTransaction) -> Void
  private let waiting = Lock(Waiting())
  private let bell = DispatchSemaphore(value: 0)
  private let ended = Gate()

  private let connection: WriterConnection
  private let memory: WriterMemory
  @exclusivity(unchecked) private var log: WriteAheadLog
  /// The log that is known to have the store's mark.
  @exclusivity(unchecked) private var markedLog: Int64?
  /// What to report once the app's own transaction is committed.
  private var told: WriteTransaction?

  init(
    pool: DatabasePool, isLent: Bool, lock: WriterLock, path: String, configuration: SQLiteStore.Configuration,
    process: OwnProcess, time: StoreTime, latest: Int64, epoch: Int64,
    isHeard: @escaping @Sendable () -> Bool, tell: @escaping @Sendable (WriteTransaction) -> Void
  ) throws {
    connection = try pool.writeWithoutTransaction { WriterConnection(handle: try $0.handle(of: path)) }
    let resolved = resolvedPath(path) ?? path
    file = (FileStat(resolved)?.key, resolved)
    (self.lock, self.path, self.configuration, self.process) = (lock, path, configuration, process)
    memory = WriterMemory(epoch: epoch, notedAt: latest)
    log = WriteAheadLog(path: resolved + "-wal")
    (self.pool, self.isLent, self.isHeard, self.tell, self.time) = (pool, isLent, isHeard, tell, time)
    let thread = Thread { self.loop() }  // keeps the writer until it is closed
    thread.name = "durable-writer"
    thread.start()
  }

  func add(_ request: WriteRequest) {
    let (isClosed, mustRing) = waiting.withLock { waiting in
      if waiting.isClosed { return (true, false) }
      waiting.requests.append(request)
      return (false, exchange(&waiting.isAsleep, with: false))
    }
    if isClosed { request.finish(JobError(.closed, "the store \(path) was closed")) }
    if mustRing { bell.signal() }
  }

  func checkOpen() throws { try require(!waiting.withLock(\.isClosed), "the store \(path) was closed", code: .closed) }

  /// The number of requests that wait for the next commit.
  var waitingCount: Int { waiting.withLock { $0.requests.count } }

  /// Executes pending requests, then ends the thread and closes the file. `ended` opens once that is done.
  func close() {
    let mustRing = waiting.withLock { waiting in
      waiting.isClosed = true
      return exchange(&waiting.isAsleep, with: false)
    }
    if mustRing { bell.signal() }
  }

  func waitUntilClosed() async { await ended.pass() }

  private func loop() {
    while true {
      let (requests, isClosed) = waiting.withLock { waiting in
        defer { waiting.requests.removeAll(keepingCapacity: true) }
        waiting.isAsleep = waiting.requests.isEmpty && !waiting.isClosed
        return (waiting.requests, waiting.isClosed)
      }
      if !requests.isEmpty {
        #if canImport(Darwin)
          autoreleasepool { take(requests) }
        #else
          take(requests)
        #endif
      } else if isClosed {
        break
      } else {
        bell.wait()
      }
    }
    pool.writeWithoutTransaction { _ in
      connection.finish()
      // What took the file's place has a log of the same name, which this connection would delete as its own.
      var keepsLog: Int32 = 1
      if !hasFile { sqlite3_file_control(connection.handle, nil, SQLITE_FCNTL_PERSIST_WAL, &keepsLog) }
    }
    if !isLent {
      // Readers first: SQLite moves the log into the file when the last connection closes, if that one may write.
      pool.invalidateReadOnlyConnections()
      try? pool.close()
    }
    ended.open()
  }

  // MARK: A group in one commit

  private func take(_ requests: [WriteRequest]) {
    var done: [WriteTransaction] = []
    var ends: [(WriteRequest, (any Error)?)] = []
    var patience = Patience(configuration.busyTimeout)
    // Queues up with the writers of all processes. One who is at work is waited for, however long that takes.
    var rest = patience
    if !rest.wait({ lock.take(within: $0) }) { patience = rest }
    func carryOut(_ parts: [[WriteRequest]]) throws {
      for (part, transaction) in zip(parts, try commit(parts, &patience)) {
        if transaction.failure == nil { done.append(transaction) }
        for request in part { ends.append((request, transaction.failure)) }
      }
    }
    do { try carryOut([requests]) } catch let error where requests.count == 1 || error is NotBegun {
      ends = requests.map { ($0, error) }
    } catch {
      // One caller's error must not affect the others: each gets a part of its own, which costs some statements, but
      // only in a group with an error. A transaction of its own it gets only where nothing of them can be committed
      // together, as on a full disk.
      do { try carryOut([[]] + requests.map { [$0] }) } catch {
        for request in requests { do { try carryOut([[request]]) } catch { ends.append((request, error)) } }
      }
    }
    lock.giveBack()
    for transaction in done { tell(transaction) }
    for (request, error) in ends { request.finish(error.map { JobError(($0 as? NotBegun)?.cause ?? $0, path: path) }) }
    if log.mustLook(), log.isTooLarge {
      pool.writeWithoutTransaction { db in
        guard let handle = try? db.handle(of: path), let usual = try? usualPatience() else { return }
        log.shorten(on: handle)
        usual.tell(handle)
      }
    }
  }

  /// What the connection has again once we have waited on it in our own way; nil for an app's code, which could not be put
  /// back: it decides for us, too.
  private func usualPatience() throws -> Patience? {
    guard isLent else { return Patience(configuration.busyTimeout) }
    if case .callback = pool.configuration.busyMode { return nil }
    // The app may have set another time than its pool was told.
    return Patience(.milliseconds(try connection[.busyTimeout].first { $0.int(0) } ?? 0))
  }

  /// A transaction may concern very many jobs: others see by the lock that it goes on, each few hundred thousand steps of
  /// SQLite's, and what stopped gives no such sign. An app's connection may have a handler of its own, of which it has one.
  private func showWork(on handle: OpaquePointer) {
    sqlite3_progress_handler(
      handle, 200_000,
      { lock in
        Unmanaged<WriterLock>.fromOpaque(lock!).takeUnretainedValue().showWork()
        return 0
      }, Unmanaged.passUnretained(lock).toOpaque())
  }

  private struct NotBegun: Error { let cause: any Error }

  /// The path still names the file that is open: what is written into one that was deleted or moved, nobody would find.
  private var hasFile: Bool {
    guard let there = FileStat(file.path) else { return errno != ENOENT && errno != ENOTDIR }
    return there.key == file.key
  }

  func checkFile() throws { if !hasFile { throw fileGone } }

  private var fileGone: JobError {
    JobError(
      .fileGone,
      "the store's file \(path) is gone: it was deleted, moved or replaced while it was open, and nothing was stored. "
        + "Close the store, and open what is there now")
  }

  /// Does all parts in one transaction. Of several, each leaves nothing if it fails; of a single one, this throws.
  private func commit(_ parts: [[WriteRequest]], _ patience: inout Patience) throws -> [WriteTransaction] {
    try pool.writeWithoutTransaction { db in
      let handle = try db.handle(of: path)
      let usual = try usualPatience()
      if usual != nil { patience.tell(handle) }
      if !isLent { showWork(on: handle) }
      defer {
        if !isLent { sqlite3_progress_handler(handle, 0, nil, nil) }
        usual?.tell(handle)
      }
      do { try patience.wait { _ in try connection[.begin].run() } } catch {
        throw NotBegun(cause: hasFile ? error : fileGone)
      }
      let (moment, isHeard) = (time.moment, isHeard())
      var transactions: [WriteTransaction] = []
      do {
        let isNewLog = StoreMark.log(on: handle) != markedLog
        if isNewLog { try StoreMark.copy(on: handle) }
        for requests in parts {
          let transaction = WriteTransaction(
            connection: connection, memory: memory, policy: configuration.policy, process: process,
            now: moment.now, isHeard: isHeard)
          transactions.append(transaction)
          if transactions.count == 1 { try transaction.rebaseWaits(by: time.setBack(at: moment)) }
          if parts.count > 1 { try connection[.beginPart].run() }
          do { try transaction.carryOut(requests) } catch let error where parts.count > 1 && connection.isInTransaction
          {
            try connection[.rollbackPart].run()
            transaction.rolledBack()
            transaction.failure = error
          }
          if parts.count > 1 { try connection[.endPart].run() }
        }
        FaultPoint.commitBefore.reach()
        try checkFile()
        // GRDB notifies observers of the app's pool of each commit.
        if isLent { try db.commit() } else { try connection[.commit].run() }
        FaultPoint.commitAfter.reach()
        log.hasGrown(by: handle)
        if isNewLog { markedLog = StoreMark.log(on: handle) }
      } catch {
        // After some errors, SQLite has already rolled back.
        if connection.isInTransaction { try? connection[.rollback].run() }
        for transaction in transactions.reversed() { transaction.rolledBack() }
        throw error
      }
      time.saw(moment)
      for transaction in transactions where transaction.failure == nil { transaction.committed() }
      return transactions
    }
  }

  // MARK: Within a transaction of the app's own

  /// Does `act` on the lent pool's connection inside the caller's transaction: all of it, or nothing if it throws. The
  /// effects are reported once the caller has committed.
  func join<R>(_ db: Database, _ act: (WriteTransaction) throws -> R) throws -> R {
    try checkOpen()
    try checkFile()
    try require(
      isLent && db.isInsideTransaction && db.handle(of: path) == connection.handle,
      "this is no transaction on the store \(path). Write in the pool that the store was made with: SQLiteStore(pool:)",
      code: .wrongStore)
    var result: R?
    // What the app inserted last is still that afterwards.
    let lastInserted = db.lastInsertedRowID
    defer { sqlite3_set_last_insert_rowid(connection.handle, lastInserted) }
    try db.inSavepoint {
      let moment = time.moment
      // It must not remember anything, since nothing reports whether the caller rolls back, even to a savepoint.
      let transaction = WriteTransaction(
        connection: connection, memory: WriterMemory(copying: memory), policy: configuration.policy, process: process,
        now: moment.now, isHeard: false)
      try transaction.rebaseWaits(by: time.setBack(at: moment))
      result = try act(transaction)
      try transaction.settleBatches()
      try transaction.writeCounts()
      // Only of use for a minute, if the caller rolls back.
      memory.notedAt = transaction.memory.notedAt
      tellAfterCommit(of: db, transaction)
      return .commit
    }
    return result!
  }

  private func tellAfterCommit(of db: Database, _ transaction: WriteTransaction) {
    if told == nil {
      db.afterNextTransaction { [self] _ in
        if let told { tell(told) }
        told = nil
      } onRollback: { [self] _ in
        told = nil
      }
    }
    let all = told ?? transaction
    all.news.tell(transaction.news.elsewhere)
    told = all
  }
}

extension Database {
  /// SQLite's connection, as long as it is open.
  func handle(of path: String) throws -> OpaquePointer {
    guard let handle = sqliteConnection else { throw JobError(.closed, "the store \(path) was closed") }
    return handle
  }
}
