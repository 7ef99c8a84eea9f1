#if Postgres
  import DurableJobs
  import Foundation

  /// What a transaction needs to know of its store.
  struct StoreContext: Sendable {
    let time: StoreTime
    let policy: StorePolicy
    let session: String
    /// What processes tell each other is told there.
    let channel: String
    /// This process, if its system tells.
    let process: WorkerProcess?
    let workers: OwnWorkers
    let lineStarts = LineStarts()
    let dueStarts = DueStarts()
    let lateEnds = LateEnds()
    /// The row of a new worker could not be stored with a notice of it: the next one is stored without.
    let isUnannounced = Lock(false)
    /// Routes of which so many jobs have passed their deadline that a claim would search long for others in their lines: it
    /// ends as many as it may, and leaves the rest of the line to a later one.
    let crowdedRoutes = Lock<Set<Int64>>([])
    /// The seed of the names that transactions lock: each schema has its own.
    let lockSeed: Int64
    /// Whether a pooler may give each transaction another session of the server.
    let isPooled: Bool
    /// How long the server may be at one statement.
    let statementLimit: Duration
    /// The server's number for the table `meta` that was opened: what is remembered is true of no other.
    let table: Int64
    /// The time that the store is known to tell of.
    let notedAt: Lock<Int64>
    /// Limited queues for which a claim has waited too long: somebody keeps their rows locked, and nobody waits for these any
    /// more until one found them free.
    let heldQueues = Lock<Set<String>>([])
    /// How many jobs of a queue a claim gets at most: fewer, where more could not be read in time.
    let largestClaim = Lock(Transaction.largestClaim)

    func check(table: Int64) throws {
      guard table != self.table else { return }
      throw JobError(
        .notAStore,
        "the store was dropped, and made or restored anew, since this process opened it: nothing was stored. Open it "
          + "again")
    }
  }

  /// One transaction: the rows that the rules see. An exchange is a pipeline, which waits for the server once; how it
  /// performs its requests is in the extensions.
  ///
  /// Others write at the same time. So everything loaded is locked, and read in the next statement, which sees what was
  /// committed before the lock was acquired. Transactions that deadlock are run again.
  final class Transaction {
    let connection: Connection
    let routes: RouteMemory
    let context: StoreContext
    var policy: StorePolicy { context.policy }
    /// The store's time, the same for all that one call does, in milliseconds since 1970.
    private(set) var now: Int64
    /// The time of its first call.
    let firstNow: Int64
    let tallies: Tallies
    let isHeard: Bool
    var news: LedgerNews
    /// Moves of jobs whose queue and kind are not known yet.
    private var unplaced: [(id: JobID, route: Int64, from: JobState?, to: JobState?)] = []
    /// Rows of workers that gave a sign of life.
    var signsOfLife: [Int64] = []
    /// Jobs that a claim or a sweep ends, of its own accord.
    var ends: [JobID] = []
    /// It tells others of a new worker by its commit.
    var introducesWorker = false
    /// Damaged rows that were found.
    var unreadable: [JobID] = []
    /// Rows of this process's workers as they will be once this is committed.
    var ownRows: [WorkerID: [WorkerRow]] = [:]
    /// Those that do not stand any more.
    var missedRows: Set<Int64> = []
    var goneRows: Set<Int64> = []
    /// A worker whose rows are read with the first exchange, since they will be needed.
    var expectedWorker: WorkerID?
    /// Rows of the worker whose results these are, if it claims nothing: they are locked once there is more to do than to end
    /// plain jobs, which may take longer than the lease, so that nobody takes them for those of a dead one.
    var rowsToKeep: Set<Int64> = []
    /// The row of the worker that claims, as it is assumed to be. See ``claimsAhead(_:)``.
    var ahead: WorkerRow?
    /// A claim of this transaction looked for what is due a moment ago: the next one, beside plain results, doesn't again.
    var hasLookedForDue = false
    /// New jobs that will need ids before they are stored.
    var expectedIDs = 0
    var ids: [JobID] = []
    private var lockedNames: Set<String> = []
    private var lockedSpaces: Set<NameSpace> = []

    /// What the server tells of this transaction, once it has begun.
    private(set) var head: Head?
    private(set) var hasBegun = false
    var begunAt = Duration.zero
    /// When ``now`` was taken, by the uptime.
    var timedAt = Duration.zero
    /// How long the last commit took on this connection.
    let usualCommit: Duration
    /// How long it waits for each lock before it is refused as a collision; nil: as long as it may take.
    let lockPatience: Duration?
    /// Whether it has taken no longer yet than its commit will.
    var isYoung: Bool { SystemClock().uptime - begunAt < usualCommit }
    /// Gets the server's time, and how old that is at most. Throws if the estimate of ``now`` was wrong.
    var check: (Int64, Duration) throws -> Void = { _, _ in }
    /// COMMIT was sent: whether it was carried out, ``head`` can tell later.
    private(set) var isEnding = false

    struct Head {
      let number: Int64
      let changes: Int64
      let life: String
    }

    /// The jobs that this stores.
    var stored: [JobID] = []
    /// What it claims.
    var claimed: [ClaimToken] = []
    /// The batch that this makes.
    var madeBatch: (id: BatchID, name: String)?
    /// It also writes rows that are not the store's: these alone can't tell whether it was committed.
    var isCallers = false
    /// A program changed more than rows: its connection is not used again.
    var endsSession = false
    /// It stores one plain job, and does nothing else.
    var isLone = false
    /// The counts are written already.
    var isCounted = false
    /// It has begun to look at what waits for jobs that it ends or reopens.
    var looksAtDependents = false
    /// It tells those who open the store next what time it was.
    private var notesTime = false

    init(
      connection: Connection, routes: RouteMemory, context: StoreContext, now: Int64, tallies: Tallies, isHeard: Bool,
      usualCommit: Duration = .zero, lockPatience: Duration? = nil
    ) {
      (self.usualCommit, self.lockPatience) = (usualCommit, lockPatience)
      self.connection = connection
      self.routes = routes
      self.context = context
      (self.now, firstNow) = (now, now)
      self.tallies = tallies
      self.isHeard = isHeard
      news = LedgerNews(isHeard: isHeard)
    }

    /// What a server has no more once it may have given a transaction's number to another one, whose outcome would be
    /// taken for that of the first: after any recovery that did not find all records. When it was started differs for
    /// every other server, such as a standby or one with a restored backup, and after every restart. A server that
    /// recovers from the crash of one of its processes was not started again: but it read its log up to a place that is
    /// later each time, and stays until the next recovery. Everybody may read both, in every version; nobody can reset
    /// them, as all statistics can be; and both are in the server's memory.
    static let lifeSQL = "concat(extract(epoch FROM pg_postmaster_start_time()),' ',pg_last_wal_replay_lsn())"
    private static let beginSQL = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
    private static let nowSQL = """
      pg_current_xact_id()::text::bigint,floor(extract(epoch FROM clock_timestamp())*1000)::bigint,\(Opening.tableSQL),
        current_setting('default_transaction_read_only')::boolean
      """
    private static let patienceSQL = "SELECT set_config('lock_timeout',$1,true)"
    /// $1: how long it waits for a lock, if not as long as it may take.
    private static func headSQL(_ life: String) -> String {
      """
      SELECT \(nowSQL),changes,\(life),CASE WHEN $1::text IS NOT NULL THEN set_config('lock_timeout',$1,true) END
      FROM §meta WHERE id=1
      """
    }
    static let headSQL = headSQL("NULL")
    private static let pooledHeadSQL = headSQL(lifeSQL)
    private static let loneHeadSQL = "SELECT \(nowSQL),nextval('§job_id'),\(Tallies.metSQL)"

    func begin() {
      guard !hasBegun else { return }
      hasBegun = true
      begunAt = SystemClock().uptime
      timedAt = begunAt
      connection.send(Self.beginSQL)
      if context.isPooled {
        connection.send(Connection.settingsSQL, [.bool(true)])
        connection.limitCalls(to: context.statementLimit, inTransaction: true)
      }
      // The server also counts what it waits for this process to read. Who is silent is noticed here.
      if connection.patience != nil { connection.limitStatements(to: Self.longLimit, inTransaction: true) }
      let patience = lockPatience.map { "\(max($0.milliseconds, 1))ms" }
      connection.send(connection.life == nil ? Self.pooledHeadSQL : Self.headSQL, [.text(patience)]) { [self] rows in
        guard rows.count == 1 else { throw JobError(.notAStore, "the schema is no store: its table 'meta' is empty") }
        let life = connection.life ?? rows.text(0, 5) ?? ""
        try met(rows, changes: rows.int(0, 4), life: life)
      }
    }

    /// Another call begins in a caller's transaction, which may be old by now.
    func takeTime(_ time: Int64) { (now, timedAt) = (max(now, time), SystemClock().uptime) }

    private func met(_ rows: Rows, changes: Int64, life: String) throws {
      try context.check(table: rows.int(0, 2))
      guard !rows.bool(0, 3) else { throw PostgresFailure.fenced }
      try check(rows.int(0, 1), begunAt)
      head = Head(number: rows.int(0, 0), changes: changes, life: life)
    }

    /// Begins, and reserves the id of the only job that this stores. `reserved` gets it, and how many entries of the
    /// counts' index were met so far.
    func beginAlone(life: String, _ reserved: @escaping (JobID, Int64) -> Void) {
      hasBegun = true
      begunAt = SystemClock().uptime
      connection.send(Self.beginSQL)
      connection.send(Self.loneHeadSQL) { [self] rows in
        try met(rows, changes: -1, life: life)
        reserved(rows.id(0, 4), rows.int(0, 5))
      }
    }

    /// Writes the counts, which others may wait for, and commits in one round trip. Without changes, it needs none.
    func commit() throws {
      guard hasBegun else { return }
      // What the server says of itself is known before it is to commit.
      if head == nil { try sync() }
      if !isCounted { tallies.write(news.tallies, on: connection, now: now) }
      try dropRoutes()
      notesTime = !isCallers && SeenTime.isOutdated(context.notedAt.value, at: now)
      if notesTime { connection.send(Self.noteTimeSQL, [.int(now)]) }
      try checkIsWanted()
      FaultPoint.commitBefore.reach()
      connection.send("COMMIT")
      isEnding = true
      do {
        try connection.sync(.commitSent)
      } catch let failure as PostgresFailure {
        // Constraints that the program deferred to the commit, and the server refused then.
        guard isCallers, let refusal = PostgresTransaction.Refusal(failure) else { throw failure }
        throw CallersError(error: refusal)
      }
      FaultPoint.commitAfter.reach()
      accept()
    }

    /// It is committed.
    func accept() {
      if notesTime { context.notedAt.withLock { $0 = now } }
      noteRows()
      if !goneRows.isEmpty { context.workers.forget(goneRows) }
    }

    /// Also if it may be committed: what runs under a row of which nobody knows would never be missed.
    func noteRows() {
      for (worker, rows) in ownRows { context.workers.set(rows, of: worker, missed: missedRows) }
    }

    /// What a rollback to a savepoint undoes.
    struct Mark {
      fileprivate let news: LedgerNews
      fileprivate let unplaced: [(id: JobID, route: Int64, from: JobState?, to: JobState?)]
      fileprivate let stored: [JobID]
      fileprivate let ownRows: [WorkerID: [WorkerRow]]
      fileprivate let goneRows: Set<Int64>
    }

    var mark: Mark { Mark(news: news, unplaced: unplaced, stored: stored, ownRows: ownRows, goneRows: goneRows) }

    func goBack(to mark: Mark) {
      (news, unplaced, stored) = (mark.news, mark.unplaced, mark.stored)
      (ownRows, goneRows) = (mark.ownRows, mark.goneRows)
      forgetIDs()
      routes.forget()
    }

    /// Later jobs get later ids than those that were reserved and not used.
    func forgetIDs() { (ids, expectedIDs) = ([], 0) }

    func rollback() {
      routes.forget()
      guard hasBegun else { return }
      connection.send("ROLLBACK")
      try? connection.sync()
    }

    /// None while somebody has changed what is counted there, as by a new route: these go with later ones.
    static let emptyRoutesSQL = """
      SELECT r.id FROM §meta m,§route r WHERE m.id=1 AND r.requires<>''
        AND coalesce((SELECT sum(jobs) FROM §tally t WHERE t.route=r.id),0)<=0 FOR UPDATE SKIP LOCKED
      """
    /// What was committed before they were locked is visible only now.
    static let dropRoutesSQL = """
      WITH gone AS(
        DELETE FROM §route r WHERE id=ANY($1) AND NOT EXISTS(SELECT 1 FROM §job WHERE route=r.id AND state<>7)
          AND coalesce((SELECT sum(jobs) FROM §tally t WHERE t.route=r.id),0)<=0 RETURNING id),
        uncounted AS(DELETE FROM §tally t USING gone WHERE t.route=gone.id)
      UPDATE §meta SET changes=changes+1 WHERE id=1 AND EXISTS(SELECT 1 FROM gone)
      """

    /// Removes routes that require something and have no job any more.
    private func dropRoutes() throws {
      guard news.tallies.contains(where: { $0.value[0] < 0 && routes.byID[$0.key]?.requires.isEmpty == false }) else {
        return
      }
      var empty: [Int64] = []
      connection.send(Self.emptyRoutesSQL) { rows in empty = (0..<rows.count).map { rows.int($0, 0) } }
      try sync()
      guard !empty.isEmpty else { return }
      connection.send(Self.dropRoutesSQL, [.ints(empty)])
      routes.forget()
    }

    /// For times that others have written meanwhile, ``now`` must not be much older than they are: after a long wait for a
    /// lock it is, and they would be taken for those of a clock that was set back.
    func checkAge() throws {
      guard SystemClock().uptime - timedAt > .microseconds(QueueLimit.slack / 2) else { return }
      throw Surprise()
    }

    func sync() throws {
      guard connection.hasUnsent else { return }
      try checkIsWanted()
      try connection.sync()
    }

    private func checkIsWanted() throws {
      guard connection.isUnwanted else { return }
      throw PostgresFailure(.sqlState("57014"), "the store is being closed")
    }

    /// Whoever gave up waiting for the server is told if that was at many jobs.
    func explained(_ error: any Error) -> any Error {
      guard looksAtDependents, var failure = error as? PostgresFailure, failure.kind == .timedOut else { return error }
      failure.advice = """
        If the server is up, very many jobs wait for one that this would change, or a program keeps one of them locked. \
        Nothing was changed. For many, give the store a longer `callLimit`
        """
      return failure
    }

    // MARK: Time

    static let epochSQL = "SELECT epoch,epoch_at FROM §meta WHERE id=1 FOR UPDATE"
    static let nextEpochSQL = """
      UPDATE §meta SET epoch=epoch+1,epoch_at=$1,epoch_job=coalesce((SELECT max(id) FROM §job),0) WHERE id=1
      """
    private static func rebaseSQL(_ locking: String) -> String {
      """
      UPDATE §job SET run_at=run_at-$1,rank=CASE state WHEN 3 THEN rank-$1 ELSE rank END,
        entered_at=CASE WHEN entered_at>$2 AND state<4 THEN entered_at-$1 ELSE entered_at END
      WHERE id=ANY(ARRAY(
        SELECT x.id FROM §route r CROSS JOIN LATERAL(
          SELECT id FROM §job WHERE route=r.id AND state IN(\(JobState.codesWithTime)) AND state<>7\(locking)) x ORDER BY 1))
      AND state+0 IN(\(JobState.codesWithTime)) AND run_at IS NOT NULL AND links&\(Links.dated.rawValue)=0
      """
    }
    static let rebaseSQL = rebaseSQL("")
    static let rebaseFreeSQL = rebaseSQL(" FOR UPDATE SKIP LOCKED")

    /// For those who open the store next. Who is at it already is not waited for.
    static let noteTimeSQL = """
      UPDATE §meta SET epoch_at=$1,epoch_job=coalesce((SELECT max(id) FROM §job),0)
      WHERE id=(SELECT id FROM §meta WHERE id=1 FOR UPDATE SKIP LOCKED)
      """

    /// A lane that somebody has locked: a time that is too late for its rate is ignored.
    static let rebaseLanesSQL = """
      UPDATE §lane_width SET tat=tat-$1*1000 WHERE name=ANY(ARRAY(
        SELECT name FROM §lane_width WHERE rate IS NOT NULL ORDER BY name FOR UPDATE SKIP LOCKED))
      """

    /// How long a statement may take to set right all that waits, or one of a transaction that takes as long as it takes.
    private static let longLimit = Duration.seconds(3600)

    /// The clock was set back by this many milliseconds. Of all processes that notice, the first corrects the waits;
    /// the others see by the epoch that it is not the `known` one any more. A job that somebody keeps locked for longer than
    /// `patience` is left alone, since all others wait for this: what it waits for is too late then, and nothing else.
    /// Returns the epoch that holds from now on.
    func rebaseWaits(by setBack: Int64, known: Int64, patience: Duration) throws -> Int64 {
      begin()
      var (epoch, seen) = (Int64(0), Int64(0))
      connection.send(Self.epochSQL) { (epoch, seen) = ($0.int(0, 0), $0.int(0, 1)) }
      try sync()
      var setBack = setBack
      if epoch != known {
        try checkAge()
        // By the time that the other noted, the clock was set back by this much more.
        setBack = SeenTime(latest: seen).setBack(at: now, .zero)
        guard setBack > 0 else { return epoch }
      }
      // Half-way it would be worth nothing, and the next call would begin it anew.
      connection.deadline = SystemClock().uptime + Self.longLimit
      connection.limitStatements(to: Self.longLimit, inTransaction: true)
      connection.send(Self.nextEpochSQL, [.int(now)])
      connection.send(Self.rebaseLanesSQL, [.int(setBack)])
      connection.send("SAVEPOINT jobs")
      connection.send(Self.patienceSQL, [.text("\(max(patience.milliseconds, 1))ms")])
      let values: [Value] = [.int(setBack), .int(now)]
      connection.send(Self.rebaseSQL, values) { [self] in if $0.changes > 0 { news.tell(.work) } }
      do { try sync() } catch let failure as PostgresFailure where failure.sqlState == "55P03" {
        connection.send("ROLLBACK TO jobs")
        connection.send(Self.rebaseFreeSQL, values) { [self] in if $0.changes > 0 { news.tell(.work) } }
        try sync()
      }
      return epoch + 1
    }

    func place(_ route: Int64) -> (queue: String, kind: String)? { routes.byID[route].map { ($0.queue, $0.kind) } }

    func moved(_ id: JobID, route: Int64, from old: JobState?, to new: JobState?) {
      guard !isHeard || routes.byID[route] != nil else { return unplaced.append((id, route, old, new)) }
      news.moved(id, route: route, from: old, to: new) { place(route) }
    }

    /// Others may have created routes that this connection has not read.
    func placeMoves() throws {
      guard !unplaced.isEmpty else { return }
      try readRoutes()
      for (id, route, old, new) in unplaced { news.moved(id, route: route, from: old, to: new) { place(route) } }
      unplaced = []
    }

    // MARK: Names

    enum NameSpace: Int64 {
      case lane = 1
      case uniqueKey, key, route
    }

    /// A server has room for some thousands of locks, for all programs together. So a transaction locks no more than these
    /// names one by one, and then whole stripes of names, of which only few transactions get beyond the first. Who locks
    /// a name shares its stripe: it waits for those who lock the stripe, and otherwise for nobody but who has that name.
    private static let mostNames = 32
    private static let lastStripe = 255
    private static func locking(_ function: String, _ key: String) -> String {
      "SELECT \(function)(h) FROM (SELECT DISTINCT \(key) h FROM unnest($1) n ORDER BY 1) x"
    }
    private static let name = "hashtextextended(n,$2)"
    /// By another seed than names, which may look like numbers.
    private static let stripe = "hashtextextended((\(name)&\(lastStripe))::text,$2+8)"
    static let lockNamesSQL = locking("pg_advisory_xact_lock", name)
    static let shareStripesSQL = locking("pg_advisory_xact_lock_shared", stripe)
    static let lockStripesSQL = locking("pg_advisory_xact_lock", stripe)
    /// As many stripes as nobody shares now, and of the others the names.
    static let tryStripesSQL = """
      SELECT CASE WHEN NOT pg_try_advisory_xact_lock(s) THEN
        concat(pg_advisory_xact_lock_shared(s),pg_advisory_xact_lock(h)) END
      FROM (SELECT DISTINCT \(stripe) s,\(name) h FROM unnest($1) n ORDER BY 1,2) x
      """

    /// A name may have no row that could be locked yet. One is locked once, but in a caller's transaction, which may have
    /// let go of it by a savepoint.
    ///
    /// Who locks whole stripes waits for all who have a name in them: so only who has no name yet does that, or two who
    /// each have some would wait for each other.
    func lock(_ names: [String], _ space: NameSpace) {
      let new = names.filter { lockedNames.insert("\(space.rawValue) \($0)").inserted || isCallers }
      guard !new.isEmpty else { return }
      let values: [Value] = [.texts(new), .int(context.lockSeed &+ space.rawValue)]
      let isFirst = lockedSpaces.insert(space).inserted
      guard lockedNames.count <= Self.mostNames else {
        return connection.send(
          isFirst || new.count > Self.lastStripe ? Self.lockStripesSQL : Self.tryStripesSQL, values)
      }
      connection.send(Self.shareStripesSQL, values)
      connection.send(Self.lockNamesSQL, values)
    }

    /// As the SQL functions do: there may be new ones after this.
    private func lockRoutes() {
      connection.send(
        Self.lockNamesSQL, [.texts(["routes"]), .int(context.lockSeed &+ NameSpace.route.rawValue)])
    }

    // MARK: Routes

    /// Reads all routes if something changed since they were last read.
    func refreshRoutes() throws {
      guard let head, routes.changes != head.changes else { return }
      try readRoutes()
    }

    func readRoutes() throws {
      routes.read(on: connection, changes: head?.changes ?? -1)
      try connection.sync()
    }

    static let internQueuesSQL = "INSERT INTO §queue(name) SELECT unnest($1) ON CONFLICT DO NOTHING"
    static let internRoutesSQL = """
      INSERT INTO §route(queue,kind,requires) SELECT q.id,u.kind,u.requires
      FROM unnest($1,$2,$3) u(queue,kind,requires) JOIN §queue q ON q.name=u.queue ON CONFLICT DO NOTHING
      """
    static let bumpSQL = "UPDATE §meta SET changes=changes+1 WHERE id=1"

    /// Nobody removes these while this transaction goes on.
    static let holdRoutesSQL = "SELECT id FROM §route WHERE id=ANY($1) ORDER BY id FOR KEY SHARE"

    /// The routes of new jobs are known after this. Missing ones are created.
    func intern(_ jobs: some Sequence<NewJob>) throws {
      func unknown() -> [RouteMemory.Key] {
        Set(jobs.lazy.map { RouteMemory.Key(queue: $0.queue, kind: $0.kind, requires: $0.terms.requires) })
          .filter { routes[$0] == nil }.sorted { ($0.queue, $0.kind) < ($1.queue, $1.kind) }
      }
      if !unknown().isEmpty { try makeRoutes(unknown) }
      let named = Set(jobs.lazy.filter { !$0.terms.requires.isEmpty }.map { self.route(of: $0) })
      guard !named.isEmpty else { return }
      begin()
      var held = 0
      connection.send(Self.holdRoutesSQL, [.ints(named.sorted())]) { held = $0.count }
      try sync()
      guard held < named.count else { return }
      routes.forget()
      try intern(jobs)
    }

    private func makeRoutes(_ unknown: () -> [RouteMemory.Key]) throws {
      begin()
      try readRoutes()
      let keys = unknown()
      guard !keys.isEmpty else { return }
      lockRoutes()
      connection.send(Self.internQueuesSQL, [.texts(Set(keys.map(\.queue.composed)).sorted())])
      connection.send(
        Self.internRoutesSQL,
        [
          .texts(keys.map(\.queue.composed)), .texts(keys.map(\.kind.composed)),
          .texts(keys.map { Route.text(of: $0.requires) }),
        ])
      connection.send(Self.bumpSQL)
      routes.read(on: connection, changes: -1)
      try connection.sync()
    }

    func route(of job: NewJob) -> Int64 {
      routes[RouteMemory.Key(queue: job.queue, kind: job.kind, requires: job.terms.requires)] ?? 0
    }
  }

  extension Connection {
    /// Without statistics that would mislead it, the planner uses the indexes: every query has one. True for one
    /// transaction. What is committed is durable, also on a standby that has to confirm it.
    static let settingsSQL = """
      SELECT set_config('enable_seqscan','off',$1),set_config('enable_bitmapscan','off',$1),
        set_config('enable_hashjoin','off',$1),set_config('enable_mergejoin','off',$1),
        set_config('enable_material','off',$1),set_config('jit','off',$1),
        set_config('plan_cache_mode','force_generic_plan',$1),set_config('client_min_messages','warning',$1),
        set_config('synchronous_commit',CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply'
          ELSE 'on' END,$1)
      """

    private static let statementLimitSQL = "SELECT set_config('statement_timeout',$1,$2)"

    private static let idleLimitSQL = "SELECT set_config('idle_in_transaction_session_timeout',$1,$2)"

    /// The server ends what takes longer than a call may, and lets nobody hold its locks who is silent for as long, if that is
    /// more than a minute.
    func limitCalls(to limit: Duration, inTransaction: Bool) {
      limitStatements(to: limit, inTransaction: inTransaction)
      let milliseconds = Int32(clamping: max(limit.milliseconds + 1000, 60_000))
      send(Self.idleLimitSQL, [.text("\(milliseconds)"), .bool(inTransaction)])
    }

    /// The server ends what nobody waits for any more: it is not asked to where COMMIT may be under way, which no limit ends.
    func limitStatements(to limit: Duration, inTransaction: Bool) {
      let milliseconds = Int32(clamping: limit.milliseconds + 1000)
      send(Self.statementLimitSQL, [.text("\(milliseconds)"), .bool(inTransaction)])
    }

    /// The planner's previous settings, for statements that are not the store's. For one transaction.
    static let callersSettingsSQL = """
      SELECT set_config(name,reset_val,true) FROM pg_settings WHERE name IN('enable_seqscan','enable_bitmapscan',
        'enable_hashjoin','enable_mergejoin','enable_material','jit','plan_cache_mode')
      """
  }
#endif
