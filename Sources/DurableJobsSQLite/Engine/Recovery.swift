import DurableJobs

/// A worker whose lease lapsed while its process lives. It was asked for a sign of life.
struct Doubt: Sendable {
  let leaseUntil: Int64
  /// By a clock that never steps.
  let since: Duration
  /// It answered, with a lease that lapsed all the same: its clock is not ours.
  var isAnswered = false
}

extension Engine {
  func recover(_ request: RecoveryRequest, limit: Int) async throws -> RecoveryReport {
    let own = request.worker
    var plan = RecoveryPlan()
    if request.isRetiring { plan.retiring = own }
    let now = time.now
    let census = try await read { try Census(now: now, on: $0) }

    var graves: [HeldLock] = []
    var comeAgain: Duration?
    var sessions: [String: Bool] = [:]  // whether the process is dead
    for worker in census.workers where !(worker.session == session && worker.name == own?.name) {
      let loss = RecoveryPlan.Loss(worker: worker.id, leaseUntil: worker.leaseUntil)
      if worker.leaseUntil == takenLease {
        plan.losses.append(loss)
        continue
      }
      if worker.session != session {
        if sessions[worker.session] == nil {
          if case .dead(let lock) = folder.standing(of: worker.session) {
            graves.append(lock)
            sessions[worker.session] = true
          } else {
            sessions[worker.session] = false
          }
        }
        if sessions[worker.session] == true {
          plan.losses.append(loss)
          continue
        }
      }
      guard worker.leaseUntil <= now else { continue }
      switch judge(worker, isIdle: !census.holders.contains(worker.id)) {
      case .alive: break
      case .lost: plan.losses.append(loss)
      case .inDoubt(let rest): comeAgain = min(comeAgain ?? rest, rest)
      }
    }
    let rows = Set(census.workers.map(\.id))
    doubts.withLock { doubts in doubts = doubts.filter { rows.contains($0.key) } }
    plan.hasDue = census.hasDue
    let expired = try await findExpired(now: now, limit: limit)
    plan.expired = expired.jobs

    var report = RecoveryReport()
    if !plan.isNothing {
      report = try await write(.other) { [plan] in try $0.recover(plan, limit: limit) }
    }
    // A dead process leaves its files until all its jobs are back, so that nobody else misses the rest.
    for grave in graves { report.hasMore ? grave.letGo() : grave.bury() }
    if expired.hasMore { report.hasMore = true }
    report.comeAgain = comeAgain
    report.unreadable = unreadable.withLock { unreadable in
      defer { unreadable = [] }
      return unreadable
    }
    return report
  }

  private enum Judgement {
    case alive
    case lost
    case inDoubt(rest: Duration)
  }

  /// A lease that lapsed proves nothing by itself: a clock may have stepped, an app may have held a transaction for long.
  /// A worker that lives is told, and has an interval to answer; one that holds nothing has nothing to lose.
  private func judge(_ worker: Census.Worker, isIdle: Bool) -> Judgement {
    if isIdle { return .lost }
    let uptime = configuration.clock.uptime
    let interval = configuration.policy.doubtInterval
    let (judgement, isNew) = doubts.withLock { doubts -> (Judgement, Bool) in
      if let known = doubts[worker.id] {
        let silence = uptime - known.since
        if known.leaseUntil != worker.leaseUntil {
          doubts[worker.id] = Doubt(leaseUntil: worker.leaseUntil, since: uptime, isAnswered: true)
          return (.alive, false)
        }
        if known.isAnswered, silence < Defaults.lease { return (.alive, false) }
        if !known.isAnswered {
          return (silence >= interval ? .lost : .inDoubt(rest: interval - silence), false)
        }
      }
      doubts[worker.id] = Doubt(leaseUntil: worker.leaseUntil, since: uptime)
      return (interval <= .zero ? .lost : .inDoubt(rest: interval), true)
    }
    if isNew {
      if worker.session == session {
        signals.post(.changedElsewhere(.doubt))
      } else {
        folder.post(.doubt, to: worker.session)
      }
    }
    return judgement
  }

  /// The lock of a process was let go: its jobs come back at once.
  func recoverAfterDeath(of session: String) {
    // Unstructured, since the watch of the other process can't wait for the writer. It ends with this recovery. Not on
    // Swift's pool, which handlers may block.
    Task(executorPreference: EngineThread.shared) { [weak self] in
      while let self {
        let report = try? await self.recover(RecoveryRequest(), limit: 1000)
        if let report, report.recovered > 0 { self.signals.post(.changedElsewhere(.all)) }
        guard report?.hasMore == true else { break }
      }
    }
  }
}

/// Who works on a file, and what is due: one cheap read, which decides whether there is anything to write.
struct Census: Sendable {
  struct Worker: Sendable {
    let id: Int64
    let name: String
    let session: String
    let leaseUntil: Int64
  }

  static let workersSQL = "SELECT id,name,session,lease_until FROM durable_worker"
  static let routesSQL = "SELECT id,scheduled FROM durable_route"
  static let holdersSQL = """
    SELECT claim FROM durable_job WHERE id IN(
      SELECT id FROM durable_job INDEXED BY durable_job_line WHERE route=?1 AND state=5 AND state<>7)
    """

  var workers: [Worker] = []
  /// Workers that hold jobs. Only looked for if a lease lapsed.
  var holders: Set<Int64> = []
  /// A scheduled job's time has come.
  var hasDue = false

  init(now: Int64, on connection: OpaquePointer) throws {
    let rows = try Statement(Self.workersSQL, on: connection)
    while try rows.step() {
      workers.append(
        Worker(id: rows.int(0), name: rows.text(1) ?? "", session: rows.text(2) ?? "", leaseUntil: rows.int(3)))
    }
    let isLapsed = workers.contains { $0.leaseUntil <= now }
    let routes = try Statement(Self.routesSQL, on: connection)
    let due = try Statement(HeldStatement.nextDue.sql, on: connection)
    let held = isLapsed ? try Statement(Self.holdersSQL, on: connection) : nil
    while try routes.step() {
      if routes.int(1) > 0, !hasDue {
        due.bind(1, routes.int(0))
        while try due.step() { hasDue = hasDue || due.int(0) <= now }
      }
      guard let held else { continue }
      held.bind(1, routes.int(0))
      while try held.step() { holders.insert(ClaimNumber.worker(of: held.int(0))) }
    }
  }
}
