#if Shell
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  /// The jobs of whose commands this program is a part, as long as they run: one, and those outside of that. Who waits here
  /// for the end of one waits for ever.
  struct OwnJobs: Sendable {
    private let store: OpenStore
    private let jobs: [JobSnapshot]

    /// Nil if this is part of no command of this store.
    init?(in store: OpenStore) async throws {
      let paths = JobFolder.pathsOfOwnJobs
      let ids = paths.compactMap { JobID(($0 as NSString).lastPathComponent) }.filter {
        paths.contains(store.folder($0).path)
      }
      guard !ids.isEmpty else { return nil }
      let query = JobQuery(.ids(ids) && .state(.running), limit: ids.count)
      (self.store, jobs) = (store, try await store.store.jobs(query))
      if jobs.isEmpty { return nil }
    }

    private static func words(_ job: JobSnapshot) -> String { "this is a part of the command of job \(job.id)" }

    /// Throws if one of these queues has nothing left to do only once such a job has ended.
    func check(isNotIn queues: [String]) throws {
      guard let job = jobs.first(where: { queues.contains($0.queue) }) else { return }
      throw JobError(
        .wrongState,
        "\(Self.words(job)), which is in the queue '\(job.queue)': it would wait for its own end. "
          + "Name the jobs that are to be waited for, or another queue")
    }

    /// Throws if one of these jobs ends, or begins, only once such a job has ended.
    func check(isNotNeededBy ids: [JobID]) async throws {
      let wide = Set(
        try await store.store.settings().compactMap { if case .lane(let name, _) = $0 { name } else { nil } })
      var (level, known) = (Set(ids), Set<JobID>())
      while !level.isEmpty, known.count < 1000 {
        if let job = jobs.first(where: { level.contains($0.id) }) { throw Self.refusal(of: ids, by: job) }
        known.formUnion(level)
        let found = try await store.store.jobs(JobQuery(.ids(level), detail: .waits, limit: level.count))
        let waiting = found.filter { !$0.state.isFinished && $0.state != .running }
        let alone = Set(waiting.filter { $0.waits?.limit?.limits.running == 1 }.map(\.queue))
        if let job = jobs.first(where: { alone.contains($0.queue) }) { throw Self.refusal(of: ids, by: job) }
        level = Set(waiting.flatMap { $0.awaited(besides: wide) }).subtracting(known)
      }
    }

    /// The same of the jobs of a batch. It may have many, which are read in pages.
    func check(isNotNeededBy batch: BatchID) async throws {
      if let job = jobs.first(where: { $0.batch == batch }) { throw Self.refusal(of: [job.id], by: job) }
      var last: JobID?
      repeat {
        let page = JobQuery(.batch(batch) && .unfinished, after: last, limit: 400)
        let ids = try await store.store.jobs(page).map(\.id)
        try await check(isNotNeededBy: ids)
        last = ids.last
      } while last != nil
    }

    /// What is to be said where another waits for a slot, and one of these has one of its queue.
    func words(for other: JobSnapshot) -> String? {
      guard let job = jobs.last(where: { $0.queue == other.queue }) else { return nil }
      return
        "Job \(other.id) waits for a free slot, and job \(job.id), of which this is a part, has one: if its worker has "
        + "no other, both wait for ever. '\(store.command("work", queue: job.queue))' starts another worker, and 'durable "
        + "work --concurrency N' one that runs N at once"
    }

    private static func refusal(of ids: [JobID], by job: JobSnapshot) -> JobError {
      if ids.contains(job.id) { return JobError(.wrongState, "\(words(job)): it would wait for its own end") }
      let which = ids.count == 1 ? "job \(ids[0]) ends" : "what is to be waited for ends"
      return JobError(
        .wrongState, "\(words(job)), and \(which) only after that: it would wait for itself. The jobs stay in the store"
      )
    }
  }
#endif
