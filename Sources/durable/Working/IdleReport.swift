#if Shell
  import Console
  import DurableJobs
  import Foundation

  /// Says what a worker waits for that has nothing to do: the job that comes next, or a paused queue.
  struct IdleReport: Sendable {
    let store: OpenStore
    let queues: Set<String>
    let log: WorkLog

    /// What happens one after the other is looked at together.
    private static let pause = Duration.seconds(1)

    /// Until the task is cancelled.
    func run() async {
      let gate = Gate()
      let changes = Lock(0)
      let subscription = store.store.signals.listen { [gate] _ in
        changes.withLock { $0 += 1 }
        gate.open()
      }
      defer {
        withExtendedLifetime(subscription) {}
        LiveLine.hide()
      }
      var report = ObstacleReport(store, here: true) { [log] in log.hasAnnounced($0) }
      while !Task.isCancelled {
        let seen = changes.value
        try? await Task.sleep(for: Self.pause)
        // A worker that is busy is not kept from its work.
        guard changes.value == seen, !Task.isCancelled else { continue }
        // A store that is away says nothing.
        let next = try? await next()
        if let next { try? await report.look(at: next) } else { LiveLine.hide() }
        let timer = next?.runAt.map { time in
          let clock = store.store.clock
          let wait = Duration.seconds(max(1, time.timeIntervalSince(clock.now) + 1))
          return clock.schedule(after: wait) { [gate] in gate.open() }
        }
        await gate.pass()
        timer?.cancel()
      }
    }

    private func next() async throws -> JobSnapshot? {
      let scope = WorkScope.worker(queues: queues, kinds: OpenStore.kinds, satisfied: OpenStore.reach.satisfied)
      guard try await store.store.outstanding(scope).active == 0 else { return nil }
      let mine = JobFilter.queues(queues) && .kinds(OpenStore.kinds)
      let held = JobFilter.queues(try await store.pausedQueues.intersection(queues))
      if let job = try await store.store.jobs(JobQuery(mine && held && .state(.ready), limit: 1)).first { return job }
      return try await store.nextScheduled(in: mine)
    }
  }
#endif
