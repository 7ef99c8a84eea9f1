#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "wait",
      abstract: "Wait until jobs have ended, or until nothing is left to do.",
      discussion: """
        With ids and ranges: until these jobs have ended. Exits with 1 if one of them did not succeed, even if it had ended \
        before. With --tag and so on: the same for those that have not ended yet.

        Without any, or with --queue alone: until the queue is idle, which means that neither a worker that runs nor one that \
        you would start has anything left to do now. Jobs that start later, paused queues and suspended jobs are not waited \
        for. Exits with 1 where a failed job holds a lane.

        What it waits for (a time, a paused queue, a worker) is said once, on stderr.
        """)

    @OptionGroup var selection: JobSelection
    @OptionGroup(visibility: .hidden) var consent: Consent
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Give up after this time: 90, 90s, 5m, 2h, 1d. Exits with 4.", valueName: "time"))
    var timeout: String?
    @OptionGroup var options: StoreOptions

    /// Whether it is for queues to be idle, and not for jobs.
    private var isForQueues: Bool { selection.ids.isEmpty && !selection.filter.isGivenBesideQueue && !selection.all }

    func run() async throws {
      let limit = try timeout.map { try DurationArgument.parse($0).duration }
      let named = selection.isByName ? selection.ids.map(\.ids.lowerBound) : []
      guard let store = try await named.isEmpty ? options.existing() : options.existing(for: named) else {
        if isForQueues { Talk.line("Nothing to wait for: \(try options.missing)".withVisibleControls) }
        return try report([])
      }
      let queues = selection.filter.queue.isEmpty ? ["default"] : selection.filter.queue
      let ids =
        isForQueues
        ? []
        : try await selection.jobs(in: store, states: selection.ids.isEmpty ? Deed.unfinished : Set(JobState.allCases))
      for id in named { _ = try await store.store.job(id, detail: []) }
      for page in named.pages(of: 400) {
        guard let schedule = try await store.schedules(among: Array(page)).first else { continue }
        throw JobError(
          .wrongState, "job \(schedule.job) \(schedule.message): it goes on for ever, and is not waited for")
      }
      if !isForQueues, ids.isEmpty {
        Talk.line("No unfinished job matches")
        return try report([])
      }
      let hint = "'\(store.command("wait --queue NAME"))' waits for one"
      if ids.isEmpty, let nothing = try await store.nothing(in: queues, hint) {
        Talk.line("Nothing to wait for: \(nothing)".withVisibleControls)
      }
      if try await !Self.hasEnded(ids, queues, in: store) {
        let own = try await OwnJobs(in: store)
        try await own?.check(isNotNeededBy: ids)
        if ids.isEmpty { try own?.check(isNotIn: queues) }
        if Screen.error.isTerminal { try await tellWhatIsWaitedFor(ids, queues, store) }
        try await Self.within(limit) {
          for id in ids {
            try await ObstacleReport.telling(
              of: { try await store.store.job(id, detail: [.failures, .edges]) }, in: store, by: own
            ) {
              _ = try await store.patiently { try await store.store.whenFinished(id) }
            }
          }
          guard ids.isEmpty else { return }
          // What ends in one may have others begin in one that was idle.
          repeat {
            for queue in queues {
              try await ObstacleReport.telling(of: { try await store.nextObstructed(queue) }, in: store) {
                try await store.patiently { try await store.untilIdle(queue) }
              }
            }
          } while try await !store.patiently { try await store.store.areIdle(queues) }
        }
      }
      var isHeld = false
      for queue in ids.isEmpty ? queues : [] where try await Self.tellWhatIsLeft(store, queue) { isHeld = true }
      let lives =
        if ids.isEmpty {
          try await store.endRemains(in: .queues(Set(queues)), letting: ObstacleReport.lastWords)
        } else {
          try await store.ofEach(ids) { try await store.endRemains(of: $0, letting: ObstacleReport.lastWords) }
        }
      var jobs: [JobSnapshot] = []
      for id in ids { jobs.append(try await store.patiently { try await store.store.job(id) }) }
      try report(jobs)
      if isHeld || !lives.isEmpty { throw ExitCode(.jobFailed) }
    }

    private func tellWhatIsWaitedFor(_ ids: [JobID], _ queues: [String], _ store: OpenStore) async throws {
      if ids.count == 1, let job = try await store.store.jobs(JobQuery(.id(ids[0]), detail: .payload, limit: 1)).first {
        let width = (Screen.error.width ?? 80) - 24
        Talk.line(
          "Waiting for job \(job.id), \(job.state.rawValue): \(job.title.withVisibleControls.shortened(to: max(width, 20)))"
        )
      } else if ids.isEmpty {
        let counts = try await store.store.counts(where: .queues(queues) && .states(Deed.unfinished))
        let names = queues.joined(separator: ", ").withVisibleControls
        Talk.line("Waiting until nothing is left to do on \(names): \(counts.forPeople)")
      } else {
        Talk.line(
          "Waiting for \(ids.count) jobs: \(ids.prefix(10).map(\.description).joined(separator: ", "))\(ids.count > 10 ? ", …" : "")"
        )
      }
    }

    /// Asked before anything is waited for, however little time there is.
    private static func hasEnded(_ ids: [JobID], _ queues: [String], in store: OpenStore) async throws -> Bool {
      if ids.isEmpty { return try await store.store.areIdle(queues) }
      for id in ids where try await !store.store.job(id, detail: []).state.isFinished { return false }
      return true
    }

    /// Answers whether a job that failed keeps others from running.
    private static func tellWhatIsLeft(_ store: OpenStore, _ queue: String) async throws -> Bool {
      let left = try await store.store.outstanding(.queue(queue)).left
      guard left.unfinished > 0 else { return false }
      let heads = try await store.failedHeads(.queue(queue))
      Talk.line("\(heads.isEmpty ? "Idle" : "Stuck"), with \(left.unfinishedForPeople) left")
      for head in heads { Talk.line(head.forPeople(in: store).withVisibleControls) }
      let ready = JobQuery(.queue(queue) && .state(.ready), limit: 1)
      if let job = try await store.store.jobs(ready).first {
        var report = ObstacleReport(store)
        try await report.look(at: job)
      }
      return !heads.isEmpty
    }

    private func report(_ jobs: [JobSnapshot]) throws {
      if options.json {
        Screen.out.json(jobs.map { JobRecord($0) })
      } else {
        JobTable(jobs: jobs).write(to: .out)
      }
      if jobs.contains(where: { $0.state != .succeeded }) { throw ExitCode(.jobFailed) }
    }

    /// Throws the exit code if `work` has not ended before `limit`, and says so.
    static func within(_ limit: Duration?, _ work: @escaping @Sendable () async throws -> Void) async throws {
      guard let limit else { return try await work() }
      let errand = Errand(work)
      errand.leave(after: limit)
      if try await errand.value() != nil { return }
      errand.cancel()
      errand.leave(after: .seconds(1))
      do {
        // What has not ended by then is kept by a store that does not answer.
        if try await errand.value() == nil { OpenStore.leaveOpen() }
      } catch {}  // it was cancelled
      LiveLine.hide()
      Talk.error("still not done after \(limit.forPeople)", code: "timedOut")
      throw ExitCode(.timedOut)
    }
  }

  extension JobStore {
    /// Whether neither a worker that lives nor 'durable work' could do anything in a queue now.
    fileprivate func isIdle(_ queue: String) async throws -> Bool {
      try await outstanding(.queue(queue, and: [OpenStore.reach])).isIdle
    }

    /// Whether all of these are idle at once.
    func areIdle(_ queues: [String]) async throws -> Bool {
      if queues.count == 1 { return try await isIdle(queues[0]) }
      // They are asked one after the other: where none has ended or was suspended meanwhile, nothing has passed from one to
      // another.
      let over = JobFilter.states(JobState.allCases.filter { $0.isFinished || $0 == .suspended })
      let counts = { try await self.counts(where: .queues(queues) && over) }
      let before = try await counts()
      for queue in queues where try await !isIdle(queue) { return false }
      return try await counts() == before
    }
  }

  extension OpenStore {
    fileprivate func untilIdle(_ queue: String) async throws {
      while true {
        try await self.queue(queue).waitUntilIdle()
        if try await store.isIdle(queue) { return }
        // What is left waits for a worker that is to be started: nobody tells of that.
        try await Task.sleep(for: .milliseconds(250))
      }
    }

    /// What to tell of while a queue is waited for, if no worker that lives has anything to do there meanwhile: a job that
    /// lacks one, or was claimed before and comes back next.
    fileprivate func nextObstructed(_ queue: String) async throws -> JobSnapshot? {
      guard try await store.outstanding(.queue(queue)).active == 0 else { return nil }
      return try await nextObstructed(in: .queue(queue) && .kinds(Self.kinds))
    }

    /// The one of these jobs that is ready or runs, else the one that comes back next.
    func nextObstructed(in filter: JobFilter) async throws -> JobSnapshot? {
      if let job = try await store.jobs(JobQuery(filter && .states([.running, .ready]), limit: 1)).first { return job }
      return try await nextScheduled(in: filter) { $0.startedAt != nil }
    }

    /// What to tell of while a batch is waited for, which takes all of its jobs: the same, else one that goes on only after
    /// others or by a person, else the next of all.
    func nextObstructed(ofBatch batch: BatchID) async throws -> JobSnapshot? {
      if let job = try await nextObstructed(in: .batch(batch)) { return job }
      let held = JobQuery(.batch(batch) && .states([.blocked, .suspended]), limit: 1)
      if let job = try await store.jobs(held).first { return job }
      return try await nextScheduled(in: .batch(batch))
    }

    /// The one of these jobs that comes first, of those that wait for a time.
    func nextScheduled(in filter: JobFilter, where isMeant: (JobSnapshot) -> Bool = { _ in true }) async throws
      -> JobSnapshot?
    {
      let waiting = JobQuery(filter && .state(.scheduled), detail: .failures, limit: 1000)
      return try await store.jobs(waiting).filter(isMeant).min {
        $0.runAt ?? .distantFuture < $1.runAt ?? .distantFuture
      }
    }
  }

  extension JobCounts {
    fileprivate var unfinishedForPeople: String {
      JobCounts(
        Dictionary(uniqueKeysWithValues: JobState.allCases.filter { !$0.isFinished }.map { ($0, self[$0]) })
      ).forPeople
    }
  }
#endif
