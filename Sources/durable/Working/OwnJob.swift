#if Shell
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  /// The job of whose command this program is a part, as long as it runs. Who waits here for its end waits for ever.
  struct OwnJob: Sendable {
    private let store: OpenStore
    private let job: JobSnapshot
    var queue: String { job.queue }

    /// Nil if this is part of no command of this store.
    init?(in store: OpenStore) async throws {
      guard let path = ProcessInfo.processInfo.environment[JobFolder.variable],
        let id = JobID((path as NSString).lastPathComponent), store.folder(id).path == path,
        let job = try await store.store.jobs(JobQuery(.id(id), limit: 1)).first, job.state == .running
      else { return nil }
      (self.store, self.job) = (store, job)
    }

    private var words: String { "this is a part of the command of job \(job.id)" }

    /// Throws if one of these queues has nothing left to do only once that job has ended.
    func check(isNotIn queues: [String]) throws {
      guard queues.contains(job.queue) else { return }
      throw JobError(
        .wrongState,
        "\(words), which is in the queue '\(job.queue)': it would wait for its own end. "
          + "Name the jobs that are to be waited for, or another queue")
    }

    /// Throws if one of these jobs ends, or begins, only once that one has ended.
    func check(isNotNeededBy ids: [JobID]) async throws {
      let wide = Set(
        try await store.store.settings().compactMap { if case .lane(let name, _) = $0 { name } else { nil } })
      var (level, known) = (Set(ids), Set<JobID>())
      while !level.isEmpty, known.count < 1000 {
        guard !level.contains(job.id) else { throw refusal(of: ids) }
        known.formUnion(level)
        let jobs = try await store.store.jobs(JobQuery(.ids(level), detail: .waits, limit: level.count))
        let waiting = jobs.filter { !$0.state.isFinished && $0.state != .running }
        if waiting.contains(where: { $0.queue == job.queue && $0.waits?.limit?.limits.running == 1 }) {
          throw refusal(of: ids)
        }
        level = Set(waiting.flatMap { $0.awaited(besides: wide) }).subtracting(known)
      }
    }

    /// What is to be said where another waits for a slot, and that job has one.
    func words(for other: JobID) -> String {
      "Job \(other) waits for a free slot, and job \(job.id), of which this is a part, has one: if its worker has no other, "
        + "both wait for ever. '\(store.command("work", queue: job.queue))' starts another worker, and 'durable work "
        + "--concurrency N' one that runs N at once"
    }

    private func refusal(of ids: [JobID]) -> JobError {
      if ids.contains(job.id) { return JobError(.wrongState, "\(words): it would wait for its own end") }
      let which = ids.count == 1 ? "job \(ids[0]) ends" : "what is to be waited for ends"
      return JobError(
        .wrongState, "\(words), and \(which) only after that: it would wait for itself. The jobs stay in the store")
    }
  }
#endif
