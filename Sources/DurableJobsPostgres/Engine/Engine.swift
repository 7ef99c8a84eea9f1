#if Postgres
  import DurableJobs
  import Foundation

  /// The core of a store: connections and their threads, signals, and what it remembers of its workers.
  final class Engine: Sendable {
    let server: ServerName
    let configuration: PostgresStore.Configuration
    let context: StoreContext
    let signals = StoreSignals()
    let clock: any JobClock
    /// Nil if a test moves time by hand.
    let serverClock: ServerClock?
    let time: StoreTime
    /// `meta.epoch` when it was last read: how often the clock was set back.
    let epoch: Lock<Int64>
    let doubts = Lock(Doubts())
    let pruning = Lock(PruningCursor())
    /// How many jobs a look for those past their retention examines: fewer, where that has taken too long.
    let pruningRows = Lock(PruningPass.mostRows)
    /// How many jobs past their retention are deleted at once: fewer, where that has taken too long.
    let pruningBite = Lock(RecoveryRequest().limit)
    /// Jobs past their retention that were locked when they were to be deleted: the next sweep comes to them again.
    let passedOver = Lock<[JobID]>([])
    /// How many sweeps pass before the next look for jobs that run for no worker.
    let sweepsBeforeStrays = Lock(0)
    /// Damaged rows that were found, to be included in the next report.
    let unreadable = Lock<[JobID]>([])
    /// What ``lookForNews()`` found last.
    let outlook = Lock<Outlook?>(nil)
    let notices: Notices
    /// Other processes of this machine that have workers.
    let deathWatch: DeathWatch
    /// How many deaths are still to be recovered from.
    let deaths = Lock(0)
    /// The version of the store before it was opened; nil if there was none.
    let versionBefore: Int64?
    /// Where this machine keeps what belongs beside the store.
    let path: String?
    /// See ``Tallies``: other processes have others.
    let firstShare = Int64.random(in: 0..<Tallies.usualShares)
    private let pool: Pool
    private let isLeaving = Lock(false)
    private let process = getpid()

    /// Connects, and creates the tables if there are none. Blocks.
    init(server: ServerName, configuration: PostgresStore.Configuration) throws {
      self.server = server
      self.configuration = configuration
      let schema = configuration.schema
      serverClock = configuration.clock == nil ? ServerClock() : nil
      clock = configuration.clock ?? serverClock ?? SystemClock()
      let seed = Schema.lockSeed(schema)
      let folder = try configuration.folder.map { try Self.made(folder: $0) }
      let found = try Opening.open(server, seed: seed, configuration: configuration, clock: serverClock)
      time = StoreTime(clock: clock, latest: found.latest)
      context = StoreContext(
        time: time, policy: configuration.policy, session: UUID().uuidString, channel: Notices.channel(of: schema),
        process: .current(sharing: folder), workers: OwnWorkers(), lockSeed: seed,
        isPooled: configuration.isPooled, statementLimit: configuration.callLimit, table: found.table,
        notedAt: Lock(found.latest))
      epoch = Lock(found.epoch)
      versionBefore = found.before
      path = folder.flatMap { found.home?.path(in: $0, of: found.identity) }
      pool = Pool(size: configuration.connections)
      notices = Notices(server: server, channel: context.channel, session: context.session)
      deathWatch = DeathWatch(own: context.process)
      // From here on the engine is fully initialized, and may be referred to.
      deathWatch.begin { [weak self] in self?.recoverAfterDeath() }
      notices.begin(
        post: { [signals] in signals.post(.changedElsewhere($0)) },
        send: { [weak self] in self?.send($0, on: $1) },
        isBack: { [weak self] in self?.lookForNeighbours() },
        meet: { [weak self] in self?.deathWatch.watch($0) })
      if configuration.listens {
        signals.onInterest { [weak self] isWanted in self?.notices.listen(isWanted) }
      } else {
        signals.onInterest { [weak self] isWanted in
          self?.notices.poll(isWanted, each: configuration.pollInterval) { [weak self] in self?.lookForNews() }
          if isWanted { self?.lookForNeighbours() }
        }
      }
    }

    /// The same by an absolute path.
    private static func made(folder: String) throws -> String {
      let path = URL(fileURLWithPath: folder).path
      do {
        try FileManager.default.createDirectory(
          atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return path
      } catch {
        throw JobError(.unusableFile, "can't make the folder \(path), which is to be this machine's", cause: error)
      }
    }

    // MARK: Calls

    var isClosed: Bool { pool.isClosed }
    var closedError: JobError { JobError(.closed, "the store \(server) was closed") }

    func run<R: Sendable>(
      as sort: Request.Sort = .call, inserting insertion: JobInsertion? = nil, within limit: Duration? = nil,
      _ body: @escaping @Sendable (Session, Duration) throws -> R
    ) async throws -> R {
      guard getpid() == process else {
        throw JobError(
          .closed,
          "the store \(server) was opened by process \(process), of which this one is a fork. Start another program (exec), "
            + "and open the store there")
      }
      try Task.checkCancellation()
      let deadline = SystemClock().uptime + min(limit ?? configuration.callLimit, configuration.callLimit)
      let name = server.description
      return try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<R, any Error>) in
        let sort = insertion == nil ? sort : .insertion
        var request = Request(sort: sort, deadline: deadline, insertion: insertion) { session in
          continuation.resume(returning: try body(session, deadline))
        } fail: { error in
          continuation.resume(throwing: (error as? CallersError)?.error ?? JobError(error, server: name))
        }
        if insertion != nil {
          request.stored = { jobs in
            if let reply = InsertionReply(jobs) as? R { continuation.resume(returning: reply) }
          }
        }
        pool.add(request, for: self)
      }
    }

    func write<R: Sendable>(_ body: @escaping @Sendable (Transaction) throws -> R) async throws -> R {
      guard !WorkerLoop.isWaiting else { return try await writeForWorker(body) }
      return try await run { try $0.write(until: $1, body) }
    }

    /// For a worker, which does nothing else meanwhile. Throws `JobError.Code.locked` if somebody keeps a lock too long.
    func writeForWorker<R: Sendable>(
      as sort: Request.Sort = .worker, within limit: Duration? = nil,
      _ body: @escaping @Sendable (Transaction) throws -> R
    ) async throws -> R {
      let patience = configuration.lockPatience
      return try await run(as: sort, within: limit) { try $0.write(until: $1, waitingForLocks: patience, body) }
    }

    func read<R: Sendable>(_ body: @escaping @Sendable (Reader) throws -> R) async throws -> R {
      guard WorkerLoop.isWaiting else { return try await run { try $0.read(until: $1, body) } }
      return try await run(as: .worker, within: configuration.lockPatience * 2) { try $0.read(until: $1, body) }
    }

    func connect(until deadline: Duration) throws -> Connection {
      let connection = try Connection(server, configuration, until: deadline)
      if !configuration.isPooled {
        connection.send(Connection.settingsSQL, [.bool(false)])
        connection.limitCalls(to: configuration.callLimit, inTransaction: false)
        connection.send("SELECT \(Transaction.lifeSQL)") { [unowned connection] in connection.life = $0.text(0, 0) }
      }
      try connection.sync()
      return connection
    }

    /// The time by both clocks; nil while the server's was only guessed. What waits for a time is not moved by a guess.
    var knownMoment: (now: Int64, uptime: Duration)? {
      let estimate = serverClock?.estimate
      let moment = time.moment
      return estimate?.isSure != false && serverClock?.estimate == estimate ? moment : nil
    }

    // MARK: News

    /// Reports that a transaction is committed, by the session that did it.
    func tell(_ transaction: Transaction, on session: Session) {
      if !transaction.signsOfLife.isEmpty { doubts.withLock { $0.answered(by: transaction.signsOfLife) } }
      if !transaction.unreadable.isEmpty { unreadable.withLock { $0 += transaction.unreadable } }
      let news = transaction.news
      if !news.transitions.isEmpty { signals.post(.committed(news.transitions)) }
      // Those that began to listen while it was carried out hear that there was something.
      let here = transaction.isHeard ? news.here : news.here.union(news.elsewhere)
      if !here.isEmpty { signals.post(.changedElsewhere(here)) }
      notices.tellOthers(news.elsewhere, on: session)
    }

    /// A lost notice wakes nobody, and has no other effect: others also look by themselves.
    private func send(_ payload: String, on session: Session?) {
      guard session?.post(Notices.notifySQL, [.text(notices.channel), .text(payload)]) != true else { return }
      send(payload, as: .call, within: configuration.callLimit)
    }

    private func send(
      _ payload: String, as sort: Request.Sort, within limit: Duration, failed: @escaping @Sendable () -> Void = {}
    ) {
      let (channel, deadline) = (notices.channel, SystemClock().uptime + limit)
      pool.add(
        Request(sort: sort, deadline: deadline) { session in
          let soon = SystemClock().uptime + Notices.patience
          try session.execute(Notices.notifySQL, [.text(channel), .text(payload)], until: min(deadline, soon))
        } fail: { [weak self] error in
          if (error as? PostgresFailure)?.kind == .timedOut { self?.notices.rest() }
          failed()
        }, for: self)
    }

    /// Asks another session's worker for a sign of life. It has longer for that where it can't be told of it, or may not be:
    /// behind a pooler, nobody listens.
    func ask(_ worker: Int64, of session: String) {
      if !configuration.listens { doubts.withLock { $0.couldNotAsk(worker) } }
      send(notices.doubt(of: session), as: .worker, within: Notices.patience) { [weak self] in
        self?.doubts.withLock { $0.couldNotAsk(worker) }
      }
    }

    /// Sends what is unsent at the end: no more is sent automatically. Others would find out without it, if late.
    func tellLast(on session: Session) {
      guard session.connection != nil, let payload = notices.takeLast() else { return }
      let deadline = SystemClock().uptime + .seconds(5)
      try? session.execute(Notices.notifySQL, [.text(notices.channel), .text(payload)], until: deadline)
    }

    /// Has workers give back their jobs, closes, and returns once what was pending is carried out.
    func leave() async {
      guard getpid() == process else { return }
      if !isLeaving.exchange(true) {
        // In a task of its own, since who is cancelled waits for nothing.
        await Task { [self] in
          await context.lateEnds.end()
          await signals.localWorkers.giveBack()
          await giveBackLate()
        }.value
        close()
      }
      await pool.end()
    }

    /// Ends everything, once pending work is carried out.
    func close() {
      guard getpid() == process else { return }
      context.lateEnds.close()
      notices.end()
      deathWatch.end()
      pool.close()
      signals.close()
    }
  }
#endif
