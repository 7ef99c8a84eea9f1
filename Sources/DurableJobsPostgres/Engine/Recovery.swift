#if Postgres
  import DurableJobs
  import Foundation

  extension Engine {
    func recover(_ request: RecoveryRequest, limit: Int) async throws -> RecoveryReport {
      let now = time.now
      let (census, processes) = try await read { try $0.census(now: now) }
      let ended = WorkerProcess.ended(of: processes)
      for (session, process) in processes where !ended.contains(session) { deathWatch.watch(process) }
      let verdict = judge(census, ended: ended, except: request.worker, now: now)
      let expired = try await findExpired(now: now, limit: limit)
      let plan = RecoveryPlan(request, census, losing: verdict.losses, expired: expired, now: now)

      var report = RecoveryReport()
      if !plan.isNothing {
        report = try await writeForWorker {
          try $0.recover(plan, limit: limit)
        }
      }
      pruning.withLock { $0 = expired.cursor }
      if expired.hasMore { report.hasMore = true }
      var nextDeadline = census.nextDeadline
      if nextDeadline != nil, !plan.isNothing { nextDeadline = try await read { try $0.nextDeadline() } }
      let rest = nextDeadline.map { Duration.milliseconds(max($0, 0) - now) }
      report.comeAgain = [verdict.comeAgain, rest].compactMap(\.self).min()
      report.unreadable = unreadable.withLock { unreadable in
        defer { unreadable = [] }
        return unreadable
      }
      return report
    }

    /// Finds the processes that work on this machine, so that their end is noticed, even if it has already come.
    func lookForNeighbours() {
      // Unstructured, since listeners do not wait for it. It ends with this look.
      Task(executorPreference: EngineThread.shared) { [weak self] in
        guard let self, let (_, processes) = try? await read({ try $0.workers() }) else { return }
        for process in Set(processes.values) { deathWatch.watch(process) }
      }
    }

    /// Finds whether something was set, or a nearer deadline, of which nobody here is told: it has workers sweep.
    func lookForSettings() {
      // Unstructured, since the timer does not wait for it. It ends with this look.
      Task(executorPreference: EngineThread.shared) { [weak self] in
        guard let self, let found = try? await read({ try $0.outlook() }), let before = outlook.exchange(found) else {
          return
        }
        var change: ForeignChange = []
        if found.changes != before.changes { change.insert(.settings) }
        if let deadline = found.deadline, deadline < before.deadline ?? .max { change.insert(.deadlines) }
        if !change.isEmpty { signals.post(.changedElsewhere(change)) }
      }
    }

    /// Makes the jobs of a process that has ended available again at once.
    func recoverAfterDeath() {
      let isFirst = deaths.withLock { deaths in
        defer { deaths += 1 }
        return deaths == 0
      }
      guard isFirst else { return }
      // Unstructured, since the watch can't wait for the server. It ends with this recovery. Not on Swift's pool, which
      // handlers may block.
      Task(executorPreference: EngineThread.shared) { [weak self] in
        var attempt = 0
        while let self, case let seen = deaths.withLock({ $0 }), seen > 0 {
          var report: RecoveryReport?
          do {
            report = try await recover(RecoveryRequest(), limit: 1000)
          } catch let error as JobError where error.code == .locked && attempt < 6 {  // it has waited for that
            attempt += 1
            continue
          } catch {}
          if let report, report.recovered > 0 { signals.post(.changedElsewhere(.all)) }
          attempt += 1
          if report?.hasMore == true { continue }
          // What it sent last may have arrived after the look, when its row was a different one.
          if report != nil, attempt < 3, await knowsOfDead() { continue }
          deaths.withLock { $0 -= seen }
          attempt = 0
        }
      }
    }

    private func knowsOfDead() async -> Bool {
      guard let (_, processes) = try? await read({ try $0.workers() }) else { return false }
      return !WorkerProcess.ended(of: processes).isEmpty
    }

    /// Decides who is lost: workers whose process has ended, which its own machine can tell, and those that gave no
    /// sign of life when asked. That a connection has ended proves nothing.
    private func judge(
      _ census: Census, ended: Set<String>, except asking: WorkerID?, now: Int64
    ) -> Doubts.Verdict {
      let suspects = census.workers.filter { $0.session != context.session || $0.row.worker != asking }.map { worker in
        Doubts.Suspect(
          row: worker.row, isIdle: !census.running.contains(worker.row.id ?? 0), isDead: ended.contains(worker.session))
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

    /// Nothing is found where the look takes longer than it may: what else there is to recover does not wait for it.
    private func findExpired(now: Int64, limit: Int) async throws -> PruningPass {
      var pass = PruningPass(
        from: pruning.withLock { $0 }, setBacks: time.setBacks, policy: configuration.policy, now: now, limit: limit)
      guard pass.isDue else { return pass }
      pass.rows = pruningRows.withLock(\.self)
      let begun = SystemClock().uptime
      do {
        let found = try await read { [pass] in try $0.look(for: pass) }
        if SystemClock().uptime - begun < configuration.lockPatience / 4 {
          pruningRows.withLock { $0 = min(2 * $0, PruningPass.mostRows) }
        }
        return found
      } catch let error as JobError where (error.cause as? PostgresFailure)?.kind == .timedOut {
        pruningRows.withLock { $0 = max($0 / 2, 1) }
        return pass
      }
    }
  }
#endif
