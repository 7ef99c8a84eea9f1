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
        With ids, until these jobs have ended; exits with 1 if one of them did not succeed. Without, until a queue is idle: \
        neither a worker that lives nor one that you would start could do anything more now. A first start that is \
        ahead, a paused queue and what is suspended are not waited for then; exits with 1 where a job that failed holds a \
        lane. What is waited for goes to stderr, once: a \
        time, a queue that is paused, a worker.
        """)

    @Argument(help: ArgumentHelp("The jobs.", valueName: "id")) var ids: [JobID] = []
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Give up after this time: 90, 90s, 5m, 2h, 1d. Exits with 4.", valueName: "time"))
    var timeout: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("Without ids: the queue.", valueName: "name"))
    var queue = "default"
    @OptionGroup var options: StoreOptions

    func run() async throws {
      let limit = try timeout.map { try DurationArgument.parse($0).duration }
      // Who reads no further still gets the verdict.
      Screen.onClosed.withLock { $0 = {} }
      guard let store = ids.isEmpty ? try options.existing() : try options.existing(for: ids) else { return }
      for id in ids { _ = try await store.store.job(id, detail: []) }
      var didEnd = try await Self.hasEnded(ids, queue, in: store)
      if !didEnd {
        didEnd = try await Self.within(limit) { [ids, queue] in
          for id in ids {
            try await ObstacleReport.telling(
              of: { try await store.store.job(id, detail: [.failures, .edges]) }, in: store
            ) {
              _ = try await store.store.whenFinished(id)
            }
          }
          if ids.isEmpty {
            try await ObstacleReport.telling(of: { try await store.nextObstructed(queue) }, in: store) {
              try await store.untilIdle(queue)
            }
          }
        }
      }
      guard didEnd else {
        Talk.line("Still not done after \((limit ?? .zero).forPeople)")
        throw ExitCode(.timedOut)
      }
      let isHeld = ids.isEmpty ? try await Self.tellWhatIsLeft(store, queue) : false
      for id in ids { try await store.endRemains(of: id, letting: ObstacleReport.lastWords) }
      try await report(store)
      if isHeld { throw ExitCode(.jobFailed) }
    }

    /// Asked before anything is waited for, however little time there is.
    private static func hasEnded(_ ids: [JobID], _ queue: String, in store: OpenStore) async throws -> Bool {
      if ids.isEmpty { return try await store.isIdle(queue) }
      for id in ids where try await !store.store.job(id, detail: []).state.isFinished { return false }
      return true
    }

    /// Answers whether a job that failed keeps others from running.
    private static func tellWhatIsLeft(_ store: OpenStore, _ queue: String) async throws -> Bool {
      let left = try await store.store.outstanding(.queue(queue)).left
      guard left.unfinished > 0 else { return false }
      let heads = try await store.failedHeads(.queue(queue))
      Talk.line("\(heads.isEmpty ? "Idle" : "Stuck"), with \(left.unfinishedForPeople) left")
      for head in heads { Talk.line(head.forPeople.withVisibleControls) }
      let ready = JobQuery(.queue(queue) && .state(.ready), limit: 1)
      if let job = try await store.store.jobs(ready).first {
        var report = ObstacleReport(store)
        try await report.look(at: job)
      }
      return !heads.isEmpty
    }

    private func report(_ store: OpenStore) async throws {
      var jobs: [JobSnapshot] = []
      for id in ids { jobs.append(try await store.store.job(id)) }
      if options.json {
        Screen.out.json(jobs.map { JobRecord($0) })
      } else {
        JobTable(jobs: jobs).write(to: .out)
      }
      if jobs.contains(where: { $0.state != .succeeded }) { throw ExitCode(.jobFailed) }
    }

    /// Answers whether `work` ended before `limit`.
    private static func within(_ limit: Duration?, _ work: @escaping @Sendable () async throws -> Void) async throws
      -> Bool
    {
      try await withThrowingTaskGroup(of: Bool.self) { group in
        group.addTask {
          try await work()
          return true
        }
        if let limit {
          group.addTask {
            try await Task.sleep(for: limit)
            return false
          }
        }
        defer { group.cancelAll() }
        return try await group.next()!
      }
    }
  }

  extension OpenStore {
    /// Whether neither a worker that lives nor 'durable work' could do anything in a queue now.
    fileprivate func isIdle(_ queue: String) async throws -> Bool {
      try await store.outstanding(.queue(queue, and: [Self.reach])).isIdle
    }

    fileprivate func untilIdle(_ queue: String) async throws {
      while true {
        try await self.queue(queue).waitUntilIdle()
        if try await isIdle(queue) { return }
        // What is left waits for a worker that is to be started: nobody tells of that.
        try await Task.sleep(for: .milliseconds(250))
      }
    }

    /// What to tell of while a queue is waited for, if no worker that lives has anything to do there meanwhile: a job that
    /// lacks one, or was claimed before and comes back next.
    fileprivate func nextObstructed(_ queue: String) async throws -> JobSnapshot? {
      guard try await store.outstanding(.queue(queue)).active == 0 else { return nil }
      let undone = JobFilter.queue(queue) && .kinds(Self.kinds) && .states([.ready, .running])
      if let job = try await store.jobs(JobQuery(undone, limit: 1)).first { return job }
      let waiting = JobQuery(.queue(queue) && .state(.scheduled), detail: .failures, limit: 1000)
      return try await store.jobs(waiting).filter { $0.startedAt != nil }.min {
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
