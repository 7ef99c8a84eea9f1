import DurableJobs
import Foundation

extension Engine {
  /// `gone`: sessions that were found dead, with or without a worker. A store that is suspended waits for all of it, since
  /// it holds the locks of the dead.
  func recover(_ request: RecoveryRequest, limit: Int, burying gone: Set<String> = []) async throws -> RecoveryReport {
    try await turnstile.pass {
      try await Turnstile.$isInside.withValue(true) { try await recoverInside(request, limit: limit, burying: gone) }
    }
  }

  private func recoverInside(
    _ request: RecoveryRequest, limit: Int, burying gone: Set<String>
  ) async throws -> RecoveryReport {
    let now = time.now
    let isSweep = !request.isRetiring && gone.isEmpty
    var (census, damage): (Census, Damage?) = try await read {
      (try Census(now: now, on: $0), isSweep ? try Damage(limit: limit, on: $0) : nil)
    }
    let isDamaged = damage?.isNothing == false
    if isDamaged { try await write(.other) { try $0.mend(limit: limit) } }
    let standing = census.workers.filter { $0.row.stands && $0.session != session }.map(\.session)
    var graves: [String: DeadSession] = [:]
    for session in gone.subtracting(census.workers.map(\.session)).union(standing) {
      if case .dead(let lock) = folder.standing(of: session) { graves[session] = lock }
    }
    // What the dead wrote since, as a later lease, is told only by a count after their locks were taken.
    if !graves.isEmpty || isDamaged { census = try await read { try Census(now: now, on: $0) } }
    let verdict = try await judge(census, ended: Set(graves.keys), except: request.worker, now: now)
    let expired = try await findExpired(now: now, limit: limit)
    let plan = RecoveryPlan(request, census, losing: verdict.losses, expired: expired, now: now)

    var report = RecoveryReport()
    if !plan.isNothing { report = try await write(.other) { try $0.recover(plan, limit: limit) } }
    pruning.withLock { $0 = expired.cursor }
    // The files of a dead process stay until all its jobs are recovered, so that no other process misses the rest.
    if !report.hasMore { for grave in graves.values { grave.bury() } }
    graves = [:]
    if expired.hasMore { report.hasMore = true }
    var nextDeadline = census.nextDeadline
    if nextDeadline != nil, !plan.isNothing { nextDeadline = try await read { try Census.readNextDeadline(on: $0) } }
    let rest = nextDeadline.map { Duration.milliseconds(max($0, 0) - now) }
    report.comeAgain = [verdict.comeAgain, rest].compactMap(\.self).min()
    report.unreadable = unreadable.exchange([])
    return report
  }

  /// Which workers are lost: their process has ended, as its lock shows, or they were asked to renew and did not.
  private func judge(
    _ census: Census, ended: Set<String>, except asking: WorkerID?, now: Int64
  ) async throws -> Doubts.Verdict {
    let suspects = census.workers.filter { $0.session != session || $0.row.worker != asking }.map { worker in
      Doubts.Suspect(
        row: worker.row, isIdle: !census.running.contains(worker.row.id ?? 0), isDead: ended.contains(worker.session))
    }
    let (clock, interval, rows) = (configuration.clock, configuration.policy.doubtInterval, census.workers.map(\.row))
    let doubted = suspects.filter { $0.isInDoubt(at: now) }.compactMap(\.row.id)
    try await doubts.check(doubted, clock, interval) {
      try await write(.other) { for worker in doubted { try $0.run(.noteDoubt, worker, $0.now) } }
    }
    let uptime = clock.uptime
    func verdict() -> Doubts.Verdict {
      doubts.withLock { $0.judge(suspects, of: rows, now: now, uptime: uptime, interval: interval) }
    }
    let asked = verdict().asked
    for worker in census.workers where asked.contains(worker.row.id ?? 0) {
      if worker.session == session {
        signals.post(.changedElsewhere(.doubt))
      } else if !folder.postbox.post(.doubt, to: worker.session) {
        doubts.withLock { $0.couldNotAsk(worker.row.id ?? 0) }
      }
    }
    return verdict()
  }

  /// Called when the lock of a process was released: recovers its jobs at once, and cleans up its files.
  func recoverAfterDeath(of session: String) {
    let isFirst = gone.withLock { gone in
      defer { gone.insert(session) }
      return gone.isEmpty
    }
    guard isFirst else { return }
    // Unstructured, since the thread that watches processes can't wait for the writer; it ends with this recovery. Not
    // on Swift's pool, which handlers may block.
    Task(executorPreference: EngineThread.shared) { [weak self] in
      while let self, case let gone = gone.withLock({ $0 }), !gone.isEmpty {
        let report = try? await recover(RecoveryRequest(), limit: 1000, burying: gone)
        if let report, report.recovered > 0 { signals.post(.changedElsewhere(.all)) }
        if report?.hasMore != true { self.gone.withLock { $0.subtract(gone) } }
      }
    }
  }
}

extension Census {
  static let workersSQL =
    "SELECT id,name,session,lease_until,kinds,queues,pid,started_at,satisfied,absent FROM durable_worker ORDER BY id"
  static let dueSQL = """
    SELECT 1 FROM durable_route r WHERE r.scheduled>0 AND EXISTS(
      SELECT 1 FROM durable_job INDEXED BY durable_job_line WHERE route=r.id AND state=3 AND state<>7 AND rank<=?1)
    """
  static let claimsSQL = """
    SELECT id,claim FROM durable_job WHERE id IN(
      SELECT j.id FROM durable_route r CROSS JOIN durable_job j INDEXED BY durable_job_line
      ON j.route=r.id AND j.state=5 AND j.state<>7)
    """

  init(now: Int64, on connection: OpaquePointer) throws {
    self.init()
    workers = try Self.readWorkers(on: connection)
    if workers.contains(where: { !$0.row.isAlive(at: now) }) { running = Set(try Self.readClaims(on: connection).keys) }
    nextDeadline = try Self.readNextDeadline(on: connection)
    hasDue = try Statement(Self.dueSQL, on: connection).with(now).first { _ in true } ?? false
  }

  static let nextDeadlineSQL = "SELECT at FROM durable_deadline WHERE at<=\(Date.latest) ORDER BY at LIMIT 1"

  static func readNextDeadline(on connection: OpaquePointer) throws -> Int64? {
    try Statement(nextDeadlineSQL, on: connection).first { $0.int(0) }
  }

  /// The workers, oldest first.
  static func readWorkers(on connection: OpaquePointer) throws -> [Worker] {
    try Statement(workersSQL, on: connection).map { rows in
      let row = WorkerRow(
        id: rows.int(0), worker: WorkerID(rows.text(1) ?? ""), leaseUntil: rows.int(3), kinds: names(rows.text(4)),
        queues: names(rows.text(5)), satisfied: Set(list: rows.text(8)), absent: Set(list: rows.text(9)),
        since: rows.int(7))
      return Worker(row: row, session: rows.text(2) ?? "", process: rows.int(6))
    }
  }

  /// The running jobs, by the row ids of their workers.
  static func readClaims(on connection: OpaquePointer) throws -> [Int64: Set<JobID>] {
    try Statement(claimsSQL, on: connection).map { ($0.id(0), ClaimNumber(rawValue: $0.int(1)).worker) }
      .reduce(into: [:]) { $0[$1.1, default: []].insert($1.0) }
  }
}
