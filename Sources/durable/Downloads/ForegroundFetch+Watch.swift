#if Shell
  import DurableJobs
  import DurableJobsHTTP
  import Foundation

  /// How it notices what becomes of its downloads, here and in other processes.
  extension ForegroundFetch {
    /// How often it is asked what other processes do.
    private static let interval = Duration.seconds(1)
    /// Unfinished downloads that are looked at each time, the oldest: those are the ones that move.
    private static let page = 500

    func hear(_ signal: StoreSignal) {
      guard case .committed(let changes) = signal else { return }
      let isNews = state.withLock { state in
        let ended = changes.filter {
          ($0.state.isFinished || $0.state == .suspended) && state.unfinished.contains($0.id)
        }
        for change in ended {
          // Of what succeeded here all was told; there is nothing to look up.
          if change.state == .succeeded, display.hasTold(change.id) {
            state.unfinished.remove(change.id)
          } else {
            state.news.append(change.id)
          }
        }
        return !ended.isEmpty
      }
      if isNews { gate.open() }
    }

    /// Returns when all have ended, or an interruption was asked for.
    func watch(_ interruption: Interruption) async throws {
      var nextLook = clock.uptime
      var limit = 0
      while !interruption.wasAsked {
        let news = state.withLock { state in
          defer { state.news = [] }
          return state.news
        }
        try await end(news)
        if clock.uptime >= nextLook {
          try await look()
          nextLook = clock.uptime + Self.interval
        }
        if state.withLock({ $0.isComplete && $0.unfinished.isEmpty }) { return }
        let slots = slots
        if slots != limit {
          limit = slots
          for worker in state.withLock({ $0.workers.values }) { try worker.setMaxConcurrentJobs(slots) }
        }
        let timer = clock.schedule(at: nextLook) { [gate] in gate.open() }
        await gate.pass()
        timer.cancel()
        try Task.checkCancellation()
      }
    }

    /// What other processes made of our downloads meanwhile, from one page of those that are unfinished.
    private func look() async throws {
      let own = state.withLock { $0.unfinished }
      guard let first = own.min() else { return }
      display.beginLook()
      let page = try await store.jobs(
        JobQuery(
          .kind(Download.self) && .unfinished, detail: .failures, after: JobID(rawValue: first.rawValue - 1),
          limit: Self.page))
      let now = (clock.uptime, store.clock.now)
      var ended = page.filter { $0.state == .suspended && own.contains($0.id) }.map(\.id)
      let kept = try await obstacles(of: page.filter { own.contains($0.id) })
      for job in page where own.contains(job.id) {
        if job.state != .suspended {
          display.saw(
            job, until: job.runAt.map { now.0 + .seconds($0.timeIntervalSince(now.1)) },
            keptBy: kept.first { $0.id == job.id }?.reasons.first?.awaitedBriefly(in: place))
        }
      }
      let seen = Set(page.map(\.id))
      let last = page.count < Self.page ? JobID(rawValue: .max) : page[page.count - 1].id
      ended += own.filter { $0 <= last && !seen.contains($0) }
      try await end(ended)
      let queues = Dictionary(page.map { ($0.id, $0.queue) }) { first, _ in first }
      func text(_ id: JobID, _ reason: JobExplanation.Reason) -> String {
        reason.text(of: id, in: place, queue: queues[id] ?? intake.queue)
      }
      for (id, reason) in state.withLock({ $0.obstacles.news(kept) }) { display.isKept(text(id, reason)) }
      let obstacle = kept.first.flatMap { one in one.reasons.first.map { text(one.id, $0) } }
      display.isHeldUp(by: display.isIdle ? obstacle : nil)
    }

    /// Why these do not run, of the first that something keeps.
    private func obstacles(
      of jobs: [JobSnapshot]
    ) async throws -> [(id: JobID, reasons: [JobExplanation.Reason])] {
      let isIdle = display.isIdle
      var found: [(id: JobID, reasons: [JobExplanation.Reason])] = []
      for job in jobs.filter({ DownloadObstacles.mayKeep($0, isIdle: isIdle) }).prefix(DownloadObstacles.most) {
        do {
          let reasons = try await JobQueue(store: store).explain(job.id).reasons.filter { DownloadObstacles.isOne($0) }
          if !reasons.isEmpty { found.append((job.id, reasons)) }
        } catch let error as JobError where error.code == .notFound {
          continue
        }
      }
      return found
    }

    /// They have ended, here or elsewhere: what became of them is in the store.
    private func end(_ ids: [JobID]) async throws {
      let ids = state.withLock { state in ids.filter { state.unfinished.contains($0) } }
      let jobs = try await store.jobs(ids, detail: .all)
      for id in ids { end(id, jobs[id]) }
    }

    /// Whether it brought one, or whoever completed it by hand put one there.
    private func hasFile(_ job: JobSnapshot, _ download: Download?) -> Bool {
      if DownloadedFile(job) != nil { return true }
      return download.map { access("\($0.folder)/\($0.expectedName)", F_OK) == 0 } ?? true
    }

    private func end(_ id: JobID, _ job: JobSnapshot?) {
      if let job, !job.state.isFinished, job.state != .suspended { return }
      let download = job.flatMap { Download($0) }
      let name = download?.expectedName ?? "job \(id)"
      let message: String? =
        switch job?.state {
        case .succeeded: hasFile(job!, download) ? nil : "completed by hand; there is no file"
        case .suspended: "suspended\(job?.reason.map { ": \($0)" } ?? ""). Go on with: \(place.command("resume \(id)"))"
        case .failed: job?.failures.last?.message ?? "failed"
        case .some(let state): state.rawValue + (job?.reason.map { ": \($0)" } ?? "")
        case nil: "removed from the store"
        }
      let isNews = state.withLock { state in
        guard state.unfinished.remove(id) != nil else { return false }
        if let message { state.failures.append((id, name, message)) }
        return true
      }
      if isNews { display.ended(id, name: name, job: job, failure: message) }
    }
  }
#endif
