import DurableJobs
import Foundation
import GRDB
import GRDBSQLite

/// All that a process has of one file: connections, the writer, signals, and its presence among other processes.
final class Engine: Sendable {
  let path: String
  /// The same, absolute and without symbolic links.
  let resolvedPath: String
  let configuration: SQLiteStore.Configuration
  let signals = StoreSignals()
  let folder: MeetingFolder
  let time: StoreTime
  let pool: DatabasePool
  let writer: Writer
  let doubts = Lock(Doubts())
  let pruning = Lock(PruningCursor())
  /// Sessions that were found dead, and are being cleared up after.
  let gone = Lock<Set<String>>([])
  /// Damaged rows that were met, to be told with the next report.
  let unreadable = Lock<[JobID]>([])
  private let presence: Presence
  let turnstile = Turnstile()
  private let process = getpid()

  /// `lent`: an app's own pool on the file.
  init(path: String, configuration: SQLiteStore.Configuration, lent: DatabasePool? = nil) throws {
    let file = try lent.map { try StoreFile(lent: $0) } ?? StoreFile(path: path, busyTimeout: configuration.busyTimeout)
    self.path = path
    resolvedPath = DurableJobsSQLite.resolvedPath(path) ?? path
    self.configuration = configuration
    folder = file.folder
    pool = file.pool
    time = StoreTime(clock: configuration.clock, latest: file.latest)
    presence = Presence(folder: file.folder)
    let (presence, signals, doubts, unreadable) = (presence, signals, doubts, unreadable)
    writer = try Writer(
      pool: file.pool, isLent: lent != nil, lock: file.lock, path: path, configuration: configuration,
      process: OwnProcess(session: { try presence.session() }, firstClaim: configuration.firstClaim), time: time,
      epoch: file.epoch, isHeard: { signals.hasListeners },
      tell: { news in
        if !news.signsOfLife.isEmpty { doubts.withLock { $0.answered(by: news.signsOfLife) } }
        presence.hasWorkers = news.hasWorkers
        if !news.unreadable.isEmpty { unreadable.withLock { $0 += news.unreadable } }
        if !news.transitions.isEmpty { signals.post(.committed(news.transitions)) }
        // Who began to listen while it was carried out hears that there was something.
        let here = news.isHeard ? news.here : news.here.union(news.elsewhere)
        if !here.isEmpty { signals.post(.changedElsewhere(here)) }
        presence.tellOthers(news.elsewhere)
      })
    // From here on the engine is whole, and may be referred to.
    presence.begin(
      onSignal: { signals.post(.changedElsewhere($0)) },
      onDeath: { [weak self] session in self?.recoverAfterDeath(of: session) })
    signals.onInterest { isWanted in
      // A process that can't be told of others' commits still finds them by its own sweep.
      if isWanted { _ = try? presence.session() }
    }
  }

  func write<R: Sendable>(
    _ order: WriteRequest.Order, _ act: @escaping @Sendable (WriteTransaction) throws -> R,
    thenClaim: (@Sendable (WriteTransaction, R) throws -> R)? = nil
  ) async throws -> R {
    try checkProcess()
    return try await turnstile.pass {
      try await withCheckedThrowingContinuation { continuation in
        writer.add(WriteRequest(order, continuation, act, thenClaim: thenClaim))
      }
    }
  }

  /// Ends what goes on, lets go of all locks, and keeps who comes waiting.
  func suspend() async {
    await turnstile.close()
    // Behind what the writer does after its callers have their answers.
    _ = try? await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      writer.add(WriteRequest(.other, done) { _ in })
    }
    presence.suspend()
  }

  func resume() {
    presence.resume()
    if signals.hasListeners { _ = try? presence.session() }
    turnstile.open()
    signals.post(.changedElsewhere(.all))  // whatever others did meanwhile
  }

  /// Does `act` in a transaction of the app's own, on the pool that it lent.
  func join<R>(_ db: Database, _ act: (WriteTransaction) throws -> R) throws -> R {
    try checkProcess()
    do { return try writer.join(db, act) } catch { throw JobError(error, path: path) }
  }

  /// Runs `body` on a consistent snapshot of the file.
  func read<R: Sendable>(_ body: @escaping @Sendable (OpaquePointer) throws -> R) async throws -> R {
    try checkProcess()
    try writer.checkOpen()
    // What is read must not depend on whether somebody has written since the clock was set back.
    let moment = time.moment
    if time.setBack(at: moment) > 0 { try await write(.other) { _ in } } else { time.saw(moment) }
    do {
      return try await turnstile.pass {
        try await pool.read { db in
          guard let connection = db.sqliteConnection else { throw SQLiteFailure(code: SQLITE_MISUSE, on: nil) }
          return try body(connection)
        }
      }
    } catch {
      try writer.checkOpen()
      if Task.isCancelled { throw CancellationError() }
      throw JobError(error, path: path)
    }
  }

  /// Throws if this process can't be known to the others: they could not tell whether it lives.
  func makeKnown() throws {
    try checkProcess()
    do { _ = try presence.session() } catch { throw JobError(error, path: path) }
  }

  /// A copy of the process has neither its threads nor its locks, and would wait for them for ever.
  var isOfThisProcess: Bool { getpid() == process }

  func checkProcess() throws {
    guard !isOfThisProcess else { return }
    throw JobError(
      .closed,
      "the store \(path) was opened by process \(process), of which this one is a fork. Start another program (exec), "
        + "and open the store there")
  }

  /// This process's name among the others; nil as long as it neither claimed nor listened.
  var session: String? { presence.name }

  /// Of the file and its log, in bytes.
  var fileSize: Int64 { [resolvedPath, resolvedPath + "-wal"].reduce(0) { $0 + (FileStatus($1)?.size ?? 0) } }

  /// Ends everything, once what waits is written.
  func close() {
    guard isOfThisProcess else { return }
    presence.end()
    writer.close()
    turnstile.open()
    signals.post(.changedElsewhere(.all))  // who waits looks, and finds it closed
  }
}
