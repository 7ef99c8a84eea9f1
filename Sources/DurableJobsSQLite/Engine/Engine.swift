import DurableJobs
import Foundation
import GRDB

/// Everything that a process has for one file: connections, the writer, signals, and its presence to other processes.
final class Engine: Sendable {
  let path: String
  let resolvedPath: String
  let configuration: SQLiteStore.Configuration
  let signals = StoreSignals()
  let folder: MeetingFolder
  let time: StoreTime
  let pool: DatabasePool
  let writer: Writer
  let doubts = Lock(Doubts())
  let pruning = Lock(PruningCursor())
  /// Dead sessions whose cleanup is under way.
  let gone = Lock<Set<String>>([])
  /// Damaged rows that were met, to be told with the next report.
  let unreadable = Lock<[JobID]>([])
  private let presence: Presence
  let turnstile = Turnstile()
  private let process = getpid()

  /// `lent`: the app's own pool on the file, if there is one.
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
      latest: file.latest, epoch: file.epoch, isHeard: { signals.hasListeners },
      tell: { done in
        if !done.signsOfLife.isEmpty { doubts.withLock { $0.answered(by: done.signsOfLife) } }
        presence.note(hasWorkers: !done.memory.workers.isEmpty)
        if !done.unreadable.isEmpty { unreadable.withLock { $0 += done.unreadable } }
        let (news, told, here) = (done.news, done.news.elsewhere, done.news.here)
        if !news.transitions.isEmpty { signals.post(.committed(news.transitions)) }
        // Listeners that subscribed during the transaction learn that something happened.
        let change = news.isHeard ? here : here.union(told)
        if !change.isEmpty { signals.post(.changedElsewhere(change)) }
        presence.tellOthers(told)
      })
    // From here on, all properties are initialized and `self` may be captured.
    presence.begin(
      onSignal: { signals.post(.changedElsewhere($0)) },
      onDeath: { [weak self] session in self?.recoverAfterDeath(of: session) })
    signals.onInterest { isWanted in
      // A process that can't receive signals still finds others' commits by its own sweep.
      if isWanted { _ = try? presence.session() }
    }
  }

  func write<R: Sendable>(
    _ order: WriteRequest.Order, _ act: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R { try await write([WriteRequest.Part(order: order) { transaction, _ in try act(transaction) }]) }

  func write<R: Sendable>(_ parts: [WriteRequest.Part<R>]) async throws -> R {
    try checkProcess()
    return try await turnstile.pass {
      // Who claims must be known: others could not tell whether it is alive.
      if parts.contains(where: { $0.order == .claim }) { try makeKnown() }
      return try await withCheckedThrowingContinuation { writer.add(WriteRequest($0, parts)) }
    }
  }

  /// Ends current work, releases all locks, and makes new callers wait.
  func suspend() async {
    let resumptions = presence.resumptions
    await turnstile.close()
    // Runs after everything that the writer does once it has answered its callers.
    try? await Turnstile.$isInside.withValue(true) { try await write(.other) { _ in } }
    presence.suspend(unlessResumedSince: resumptions)
  }

  func resume() {
    presence.resume()
    if signals.hasListeners { _ = try? presence.session() }
    turnstile.open()
    signals.post(.changedElsewhere([.all, .doubt]))  // others went on, and workers' rows name a session that is gone
  }

  /// Does `act` in the app's own transaction, on the pool that it lent.
  func join<R>(_ db: Database, _ act: (WriteTransaction) throws -> R) throws -> R {
    try checkProcess()
    do { return try writer.join(db, act) } catch { throw JobError(error, path: path) }
  }

  /// Runs `body` on a consistent snapshot of the file.
  func read<R: Sendable>(_ body: @escaping @Sendable (OpaquePointer) throws -> R) async throws -> R {
    try checkProcess()
    try writer.checkOpen()
    try writer.checkFile()  // who only watches would wait for ever
    // What is read must not depend on whether anything was written since the clock was set back.
    let moment = time.moment
    if time.setBack(at: moment) > 0 { try await write(.other) { _ in } } else { time.saw(moment) }
    do {
      return try await turnstile.pass { try await pool.read { [path] in try body($0.handle(of: path)) } }
    } catch {
      try writer.checkOpen()
      if Task.isCancelled { throw CancellationError() }
      try writer.checkFile()
      throw JobError(error, path: path)
    }
  }

  private func makeKnown() throws { do { _ = try presence.session() } catch { throw JobError(error, path: path) } }

  /// False in a forked copy of the process, which has neither the threads nor the locks, and would wait forever.
  var isOfThisProcess: Bool { getpid() == process }

  func checkProcess() throws {
    try require(
      isOfThisProcess,
      "the store \(path) was opened by process \(process), of which this one is a fork. Start another program (exec), "
        + "and open the store there", code: .closed)
  }

  /// The name of this process's session; nil until it has claimed or listened.
  var session: String? { presence.name }

  /// Of the file and its log, in bytes.
  var fileSize: Int64 { [resolvedPath, resolvedPath + "-wal"].reduce(0) { $0 + (FileStat($1)?.size ?? 0) } }

  /// Shuts down once pending requests are written.
  func close() {
    guard isOfThisProcess else { return }
    presence.end()
    writer.close()
    turnstile.open()
    signals.close()
  }
}
