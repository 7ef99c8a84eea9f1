#if Postgres
  import DurableJobs
  import Foundation

  extension Engine {
    func recover(_ request: RecoveryRequest, limit: Int) async throws -> RecoveryReport {
      let now = time.now
      let census = try await read { try $0.census(now: now) }
      let verdict = judge(census, except: request.worker, now: now)
      let expired = try await findExpired(now: now, limit: limit)
      let plan = RecoveryPlan(request, census, losing: verdict.losses, expired: expired, now: now)

      var report = RecoveryReport()
      if !plan.isNothing {
        report = try await write {
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

    private func findExpired(now: Int64, limit: Int) async throws -> PruningPass {
      let pass = PruningPass(
        from: pruning.withLock { $0 }, setBacks: time.setBacks, policy: configuration.policy, now: now, limit: limit)
      return pass.isDue ? try await read { try $0.look(for: pass) } : pass
    }
  }
#endif
