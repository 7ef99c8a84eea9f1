#if Postgres
  import DurableJobs
  import Foundation

  extension Engine {
    func recover(_ request: RecoveryRequest, limit: Int) async throws -> RecoveryReport {
      if request.isRetiring {
        context.lateEnds.leave(by: request.worker.map { context.workers.rows(of: $0).compactMap(\.id) } ?? [])
      } else {
        try await giveBackStrays(limit: limit)
      }
      let now = time.now
      let (census, processes) = try await read { try $0.census(now: now) }
      let ended = context.process?.ended(of: processes) ?? []
      for (session, process) in processes where !ended.contains(session) { deathWatch.watch(process) }
      let verdict = try await judge(census, ended: ended, except: request.worker, now: now)
      let expired = try await findExpired(now: now, limit: min(limit, pruningBite.value))
      var plan = RecoveryPlan(request, census, losing: verdict.losses, expired: expired, now: now)
      var deletion = RecoveryPlan()
      deletion.expired = Set(plan.expired + passedOver.value).sorted()
      deletion.batches = plan.batches
      (plan.expired, plan.batches) = ([], [])

      var report = RecoveryReport()
      if !plan.isNothing { report = try await writeForWorker { [plan] in try $0.recover(plan, limit: limit) } }
      // What was recovered is stored: that nothing could be deleted is no error of it.
      if let deleted = try? await delete(deletion) {
        report.pruned = deleted.pruned
        passedOver.withLock { $0 = Array(deleted.passedOver.prefix(RecoveryRequest().limit)) }
        pruning.withLock { $0 = expired.cursor }
        if expired.hasMore { report.hasMore = true }
      }
      if !request.isRetiring { endLate() }
      // What has passed by now, and is left, somebody keeps locked.
      var nextDeadline = census.nextDeadline
      if nextDeadline != nil, !plan.isNothing { nextDeadline = try await read { try $0.nextDeadline(after: now) } }
      let rest = nextDeadline.map { Duration.milliseconds(max($0, 0) - now) }
      report.comeAgain = [verdict.comeAgain, rest].compactMap(\.self).min()
      report.unreadable = unreadable.withLock { unreadable in
        defer { unreadable = [] }
        return unreadable
      }
      return report
    }

    /// Deletes what has expired, and nothing else: very many may have been needed by it, all of which are looked at. Returns
    /// nil where that takes longer than it may; it is tried with fewer the next time.
    private func delete(_ plan: RecoveryPlan) async throws -> RecoveryReport? {
      guard !plan.isNothing else { return RecoveryReport() }
      let (begun, patience) = (SystemClock().uptime, configuration.lockPatience)
      do {
        let report = try await writeForWorker(within: patience * 2) {
          try $0.recover(plan, limit: max(plan.expired.count, 1))
        }
        let took = SystemClock().uptime - begun
        if took > patience {
          pruningBite.withLock { $0 = max($0 / 2, 1) }
        } else if took < patience / 4 {
          pruningBite.withLock { $0 = min(2 * $0, RecoveryRequest().limit) }
        }
        return report
      } catch let error as JobError where (error.cause as? PostgresFailure)?.isOfTime == true {
        if !plan.expired.isEmpty { pruningBite.withLock { $0 = max(min($0, plan.expired.count) / 2, 1) } }
        passedOver.withLock { $0 = [] }
        // One that is too much by itself has its turn with the next pass.
        return plan.expired.count > 1 ? nil : RecoveryReport()
      }
    }

    /// Throws what a result was answered that is being stored by itself, or, once, why that failed: whoever offers it again
    /// has to wait no longer.
    func checkIsNotLate(_ results: [ClaimSettlement]) throws {
      guard !isClosed, let answer = context.lateEnds.answer(to: results) else { return }
      endLate()
      throw answer
    }

    /// Stores by itself a result that took longer than a call may. Returns what its worker is told meanwhile.
    func store(late result: ClaimSettlement) -> JobError {
      let answer = JobError(
        .storeFailed,
        "the store \(server) is at the result of job \(result.token.job), which takes longer than a call may, as where very many "
          + "jobs wait for it", cause: ResultUnderWay.goesOn)
      context.lateEnds.keep(result, answer: answer)
      endLate()
      return answer
    }

    /// Ends by themselves the jobs whose end was too much for a call, on a connection of its own: nobody waits for that, and
    /// it takes as long as it takes. The thread ends once each was tried, or the store is closed.
    private func endLate() {
      let ends = context.lateEnds
      guard ends.begin(at: clock.uptime) else { return }
      do {
        try StoreThread.start("durable-late") { [self] in
          let session = Session(engine: self, number: Int64(configuration.connections))
          let (limit, locks) = (configuration.callLimit, configuration.lockPatience)
          let patience = Connection.Patience(limit: limit) { ends.isClosed }
          while let end = ends.next(at: clock.uptime) {
            do {
              let hasEnded = try session.write(
                until: SystemClock().uptime + limit, waitingForLocks: locks, patience: patience
              ) { transaction in
                guard let result = end.result else { return try transaction.endLate(end.id) }
                // A worker that has ended does not renew its lease.
                transaction.rowsToKeep = [result.token.worker]
                _ = try transaction.settle([result])
                return true
              }
              ends.tried(end.id, hasEnded: hasEnded, at: clock.uptime)
            } catch {
              ends.tried(end.id, hasEnded: false, JobError(error, server: server.description), at: clock.uptime)
            }
          }
          session.disconnect()
          ends.rest()
        }
      } catch {
        ends.rest()
      }
    }

    /// Jobs whose results are not stored are given back, each by itself, once this process has no workers that would have
    /// them again.
    func giveBackLate() async {
      for token in context.lateEnds.claims {
        let end = ClaimSettlement(token: token, result: .interrupted)
        do {
          _ = try await writeForWorker { try $0.settle([end]).replies }
        } catch let error as JobError where error.code == .locked {
          continue
        } catch {
          return  // the server answers no other, either
        }
      }
    }

    /// The first sweep looks for jobs that run for no worker, and one of twenty after it: none come to be.
    private func giveBackStrays(limit: Int) async throws {
      let isDue = sweepsBeforeStrays.withLock { rest in
        rest -= 1
        return rest < 0
      }
      guard isDue else { return }
      let found = try await read { try $0.strays(limit: limit) }
      if !found.isEmpty { try await writeForWorker { try $0.giveBack(strays: found) } }
      sweepsBeforeStrays.withLock { $0 = found.isEmpty ? 19 : 0 }
    }

    /// Finds the processes that work on this machine, so that their end is noticed, even if it has already come.
    func lookForNeighbours() {
      tryUntilDone { engine in
        let (_, processes) = try await engine.read { try $0.workers() }
        for process in Set(processes.values) { engine.deathWatch.watch(process) }
      }
    }

    /// Finds what nobody here is told of: new neighbours, and whether something was set, or a nearer deadline, which has
    /// workers sweep.
    func lookForNews() {
      // Unstructured, since the timer does not wait for it. It ends with this look.
      Task(executorPreference: EngineThread.shared) { [weak self] in
        guard let self, let (found, processes) = try? await read({ (try $0.outlook(), try $0.workers().processes) })
        else { return }
        for process in Set(processes.values) { deathWatch.watch(process) }
        guard let before = outlook.exchange(found) else { return }
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
      if isFirst { tryUntilDone { try await $0.recoverFromDeaths() } }
    }

    private func recoverFromDeaths() async throws {
      var looks = 0
      while case let seen = deaths.value, seen > 0 {
        let report = try await recover(RecoveryRequest(), limit: 1000)
        if report.recovered > 0 { signals.post(.changedElsewhere(.all)) }
        looks += 1
        if report.hasMore { continue }
        // What it sent last may have arrived after the look, when its row was a different one, or may have that locked still.
        if looks < 30, try await knowsOfDead() {
          if looks > 1 { await SystemClock().wait(for: .milliseconds(200)) }
          continue
        }
        deaths.withLock { $0 -= seen }
        looks = 0
      }
    }

    private func knowsOfDead() async throws -> Bool {
      let (_, processes) = try await read { try $0.workers() }
      return context.process?.ended(of: processes).isEmpty == false
    }

    /// For what nobody asks for again: where no worker is, there are no sweeps.
    private func tryUntilDone(_ act: @escaping @Sendable (Engine) async throws -> Void) {
      // Unstructured, since neither listeners nor the watch wait for the server. It ends once that is done, or the
      // store is closed. Not on Swift's pool, which handlers may block.
      Task(executorPreference: EngineThread.shared) { [weak self] in
        var failures = 0
        while await self?.hasFailed(act) == true {
          failures += 1
          let wait = BackOff(base: .milliseconds(100), factor: 2, cap: .seconds(15))
          await SystemClock().wait(for: wait.delay(number: failures, random: .random(in: 0...1)))
        }
      }
    }

    /// What a store that is closed could not do is done.
    private func hasFailed(_ act: @Sendable (Engine) async throws -> Void) async -> Bool {
      do {
        try await act(self)
        return false
      } catch {
        return !isClosed
      }
    }

    /// Decides who is lost: workers whose process has ended, which its own machine can tell, and those that gave no
    /// sign of life when asked. That a connection has ended proves nothing. Of the worker that asks, this is so of rows that
    /// it does not know: nothing that it renews is under them.
    private func judge(
      _ census: Census, ended: Set<String>, except asking: WorkerID?, now: Int64
    ) async throws -> Doubts.Verdict {
      let own = Set(asking.map { context.workers.rows(of: $0).compactMap(\.id) } ?? [])
      let others = census.workers.filter { $0.session != context.session || !own.contains($0.row.id ?? 0) }
      let suspects = others.map { worker in
        Doubts.Suspect(
          row: worker.row, isIdle: !census.running.contains(worker.row.id ?? 0), isDead: ended.contains(worker.session))
      }
      let interval = configuration.policy.doubtInterval
      try await doubts.check(suspects.filter { $0.isInDoubt(at: now) }.compactMap(\.row.id), clock, interval) {
        // A commit that is flushed, and confirmed where a standby has to.
        try await writeForWorker { transaction in
          transaction.begin()
          transaction.connection.send(Session.confirmSQL)
        }
      }
      let uptime = clock.uptime
      let workers = census.workers.map(\.row)
      func verdict() -> Doubts.Verdict {
        doubts.withLock { $0.judge(suspects, of: workers, now: now, uptime: uptime, interval: interval) }
      }
      let asked = verdict().asked
      for worker in census.workers where asked.contains(worker.row.id ?? 0) {
        if worker.session == context.session {
          signals.post(.changedElsewhere(.doubt))
        } else {
          ask(worker.row.id ?? 0, of: worker.session)
        }
      }
      return verdict()
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
