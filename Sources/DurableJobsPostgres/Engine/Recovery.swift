#if Postgres
  import DurableJobs
  import Foundation

  extension Engine {
    func recover(_ request: RecoveryRequest, limit: Int) async throws -> RecoveryReport {
      var plan = RecoveryPlan()
      if request.isRetiring { plan.retiring = request.worker }
      let now = time.now
      let census = try await read { try $0.census(now: now) }
      let verdict = judge(census, except: request.worker, now: now)
      plan.losses = verdict.losses
      plan.hasDue = census.hasDue
      plan.hasOverdue = census.nextDeadline.map { $0 <= now } ?? false
      let expired = try await findExpired(now: now, limit: limit)
      plan.expired = expired.jobs

      var report = RecoveryReport()
      if !plan.isNothing {
        report = try await write { [plan] in
          try $0.run(RecoverVerb(plan, limit: limit, policy: $0.context.policy, now: $0.now))
        }
      }
      pruning.withLock { $0 = expired.cursor }
      if expired.hasMore { report.hasMore = true }
      var nextDeadline = census.nextDeadline
      if nextDeadline != nil, !plan.isNothing { nextDeadline = try await read { try $0.nextDeadline() } }
      report.comeAgain = [verdict.comeAgain, nextDeadline.map { .milliseconds($0 - now) }].compactMap(\.self).min()
      report.unreadable = unreadable.withLock { unreadable in
        defer { unreadable = [] }
        return unreadable
      }
      return report
    }

    /// Who is lost: who was asked for a sign of life and gave none. That a connection has ended proves nothing.
    private func judge(_ census: Census, except asking: WorkerID?, now: Int64) -> Doubts.Verdict {
      let suspects = census.workers.filter { $0.session != context.session || $0.row.worker != asking }.map { worker in
        Doubts.Suspect(row: worker.row, isIdle: !census.running.contains(worker.row.id ?? 0), isDead: false)
      }
      let (uptime, interval) = (clock.uptime, configuration.policy.doubtInterval)
      let workers = census.workers.map(\.row)
      let verdict = doubts.withLock {
        $0.judge(suspects, of: workers, now: now, uptime: uptime, interval: interval)
      }
      for worker in census.workers where verdict.asked.contains(worker.row.id ?? 0) {
        if worker.session == context.session {
          signals.post(.changedElsewhere(.doubt))
        } else {
          notices.ask(worker.session)
        }
      }
      return verdict
    }

    /// Rows looked at in one bite.
    private static let rowsInBite = 20_000

    /// What a pass found: at most as many jobs past their retention as were asked for, the oldest first.
    struct Expired: Sendable {
      var jobs: [JobID] = []
      var hasMore = false
      /// Where to go on, once these are deleted.
      var cursor = PruningCursor()
    }

    private func findExpired(now: Int64, limit: Int) async throws -> Expired {
      let (policy, setBacks) = (configuration.policy, time.setBacks)
      var cursor = pruning.withLock { $0 }
      if cursor.setBacks != setBacks { cursor = PruningCursor(setBacks: setBacks) }
      guard cursor.id > .min || now >= cursor.nextPass else { return Expired(cursor: cursor) }
      // What ends from now on can't expire earlier than this.
      if cursor.id == .min { cursor.earliest = now + min(policy.retention, policy.failedRetention).milliseconds }
      var found = Expired(cursor: cursor)
      let rows = try await read { [cursor] in try $0.finished(after: cursor.id, limit: Self.rowsInBite) }
      var count = 0
      for row in rows where found.jobs.count < limit {
        count += 1
        found.cursor.id = row.id
        guard let state = JobState(code: row.state), let expiry = policy.expiry(of: state, enteredAt: row.enteredAt)
        else { continue }
        if expiry <= now {
          found.jobs.append(JobID(rawValue: row.id))
        } else {
          found.cursor.earliest = min(found.cursor.earliest, expiry)
        }
      }
      found.hasMore = found.jobs.count == limit
      if !found.hasMore, count < Self.rowsInBite {
        found.cursor = PruningCursor(setBacks: setBacks, nextPass: found.cursor.earliest)
      }
      return found
    }
  }
#endif
