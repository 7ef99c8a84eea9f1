#if Shell
  import DurableJobs
  import DurableJobsHTTP

  /// Puts downloads into a store, or joins those that are there already: a page of them with a few calls, whatever is
  /// known of them.
  struct DownloadIntake: Sendable {
    /// How many are taken in at once. Stores bear filters of a thousand parts, and so many ids are twice as many parts.
    static let page = 400

    /// What stands in the store for a download that was asked for.
    enum Entry: Hashable, Sendable {
      /// `lacks` says what was asked for with it, and is not so of the job that was there.
      case job(JobID, queue: String, lacks: [String] = [])
      /// Somebody fetches it now with other options.
      case runsOtherwise(JobID)
      /// It is asked for with other options, and that job waits for it.
      case isNeededOtherwise(JobID, by: JobID)

      var job: JobID? { if case .job(let id, _, _) = self { id } else { nil } }
      var queue: String? { if case .job(_, let queue, _) = self { queue } else { nil } }
    }

    let queue: String
    private let store: any JobStore
    private let options: JobOptions
    private let after: [any JobReference]
    private let batch: String?
    private let isWaitedFor: Bool

    /// Whether somebody waits for what is asked for: then what is new goes before what waits for itself, and before what
    /// somebody waited for earlier, so that a small file need not wait for a long list; what is joined keeps its place,
    /// but goes on if it waits for a time or was suspended.
    init(
      _ store: any JobStore, queue: String, maxAttempts: Int?, deadline: JobDeadline? = nil,
      lane: JobLane? = nil, requires: Set<JobConstraint> = [], tags: Set<String> = [], after: [any JobReference] = [],
      batch: String? = nil, isWaitedFor: Bool
    ) async throws {
      self.store = store
      self.queue = queue
      self.after = after
      self.batch = batch
      self.isWaitedFor = isWaitedFor
      options = JobOptions(
        priority: isWaitedFor ? try await Self.highestPriority(store, queue) : nil, maxAttempts: maxAttempts,
        deadline: deadline, lane: lane, tags: tags, requires: requires)
    }

    private static func highestPriority(_ store: any JobStore, _ queue: String) async throws -> JobPriority {
      let earlier = try await store.jobs(
        JobQuery(.queue(queue) && .kind(Download.self) && .unfinished, order: .newestFirst, limit: 100))
      let highest = earlier.map(\.priority.rawValue).max() ?? 0
      return JobPriority(rawValue: max(1000, min(highest, 999_999) + 1))
    }

    /// Takes in a page of downloads of different identities. One entry for each, in their order.
    func take(_ downloads: ArraySlice<Download>) async throws -> [Entry] {
      let downloads = Array(downloads)
      let needs = try await needs(downloads.first.map { try prepare($0).edges } ?? [])
      let batch = if let batch { try await store.batch(batch).id } else { nil as BatchID? }
      func entry(of job: JobSnapshot) -> Entry { .job(job.id, queue: job.queue, lacks: lacks(of: job, batch)) }
      var entries: [Int: Entry] = [:]
      var joined: [JobSnapshot] = []
      // Each round ends some others' jobs, or finds that others ended.
      while entries.count < downloads.count {
        let asked = downloads.indices.filter { entries[$0] == nil }
        var others: [(index: Int, job: JobSnapshot)] = []
        for (index, handle) in zip(asked, try await enter(asked.map { downloads[$0] })) {
          switch handle {
          case .new(let id): entries[index] = .job(id, queue: queue)
          case .joined(let job) where isOther(job, than: downloads[index], needs) || isLate(job, for: downloads[index]):
            others.append((index, job))
          case .joined(let job):
            entries[index] = entry(of: job)
            joined.append(job)
          case .gone: break
          }
        }
        // One that was asked for with other options, another checksum for one, is not what is asked for now, nor is its end.
        var unfinished = others.filter { !$0.job.state.isFinished }
        guard !unfinished.isEmpty else { continue }
        // What waits for one would be skipped with it.
        let waiting = try await waiting(for: Set(unfinished.map(\.job.id)))
        for (index, job) in unfinished {
          entries[index] = waiting[job.id].map { waiting in
            isOther(job, than: downloads[index], needs)
              ? .isNeededOtherwise(job.id, by: waiting) : entry(of: job)
          }
        }
        unfinished.removeAll { waiting[$0.job.id] != nil }
        guard !unfinished.isEmpty else { continue }
        let running = try await giveWay(unfinished.map(\.job.id))
        for (index, job) in unfinished where running.contains(job.id) { entries[index] = .runsOtherwise(job.id) }
      }
      if isWaitedFor { try await wake(joined) }
      return downloads.indices.map { entries[$0]! }
    }

    private enum Place {
      case new(JobID)
      /// As it was stored a moment later.
      case joined(JobSnapshot)
      /// It was removed in that moment.
      case gone
    }

    private func prepare(_ download: Download) throws -> NewJob {
      try JobQueue(queue, store: store).prepare(download, after: after, options: options)
    }

    /// What a job that is stored with these edges now waits for: one of each set. In place of a key, the unfinished job that it
    /// names; or where there is none, one that had it, which that job may have been stored to wait for.
    private func needs(_ edges: [JobEdge]) async throws -> [Set<JobEdge>] {
      var needs: [Set<JobEdge>] = []
      for edge in edges {
        guard case .key(let key) = edge.target else {
          needs.append([edge])
          continue
        }
        func waiting(for job: JobSnapshot) -> JobEdge {
          var edge = edge
          edge.target = .job(job.id)
          return edge
        }
        let named = try await store.jobs(JobQuery(.key(key) && .unfinished, order: .newestFirst, limit: 1))
        let earlier = named.isEmpty ? try await store.jobs(JobQuery(.key(key), order: .newestFirst, limit: 100)) : []
        needs.append(Set((named + earlier).map(waiting) + (named.isEmpty ? [edge] : [])))
      }
      return needs
    }

    private func lacks(of job: JobSnapshot, _ batch: BatchID?) -> [String] {
      var lacks: [String] = []
      // Who waits for it has it fetched in any queue.
      if !isWaitedFor, job.queue != queue { lacks.append("it is in the queue '\(job.queue)'") }
      if let name = self.batch, job.batch != batch { lacks.append("it is not in the batch '\(name)'") }
      if let lane = options.lane?.name, job.lane?.name != lane { lacks.append("it is not in the lane '\(lane)'") }
      let tags = options.tags.subtracting(job.tags).sorted()
      if !tags.isEmpty { lacks.append("it is not tagged \(tags.map { "'\($0)'" }.joined(separator: ", "))") }
      return lacks
    }

    private func enter(_ downloads: [Download]) async throws -> [Place] {
      let added = try await store.add(downloads.map(prepare), to: batch)
      let stored = try await store.jobs(added.filter { !$0.disposition.isNew }.map(\.id), detail: [.payload, .edges])
      return added.map { $0.disposition.isNew ? .new($0.id) : stored[$0.id].map { .joined($0) } ?? .gone }
    }

    /// Whether that job fetches this with other options. Of one that runs or has ended, how often it may be tried, what it
    /// requires, what it waited for and until when are no matter.
    private func isOther(_ job: JobSnapshot, than download: Download, _ needs: [Set<JobEdge>]) -> Bool {
      if let stored = Download(job), stored != download { return true }
      guard job.state != .running, !job.state.isFinished else { return false }
      return job.maxAttempts != options.maxAttempts ?? job.maxAttempts || job.requires != options.requires
        || job.deadline != nil || options.deadline != nil || needs.contains { $0.isDisjoint(with: job.edges) }
    }

    /// It was asked for earlier, and replaces only what stood there then.
    private func isLate(_ job: JobSnapshot, for download: Download) -> Bool {
      download.overwrites && job.startedAt != nil && job.state != .running && !job.state.isFinished
    }

    /// For each of these jobs that another waits for, the first that does.
    private func waiting(for ids: Set<JobID>) async throws -> [JobID: JobID] {
      var found: [JobID: JobID] = [:]
      var query = JobQuery(.states([.blocked, .suspended]), detail: .edges, limit: 1000)
      while true {
        let jobs = try await store.jobs(query)
        for job in jobs {
          for case .job(let id) in job.edges.map(\.target) where ids.contains(id) { found[id] = found[id] ?? job.id }
        }
        guard jobs.count == query.limit else { return found }
        query.after = jobs.last?.id
      }
    }

    /// Cancels these jobs; what they brought stays for others. Returns those that run.
    private func giveWay(_ ids: [JobID]) async throws -> Set<JobID> {
      // A process that ran one may be dead, and nobody have noticed.
      if try await !running(ids).isEmpty { _ = try await store.recover(RecoveryRequest()) }
      _ = try await store.change(
        .cancel(reason: "asked for again with other options"), where: .ids(ids) && !.state(.running), after: nil,
        limit: ids.count)
      return try await running(ids)
    }

    private func running(_ ids: [JobID]) async throws -> Set<JobID> {
      Set(try await store.jobs(JobQuery(.ids(ids) && .state(.running), limit: ids.count)).map(\.id))
    }

    /// What waits for a time or was suspended goes on now, since somebody asks for it.
    private func wake(_ jobs: [JobSnapshot]) async throws {
      let ids = jobs.filter { $0.state == .scheduled || $0.state == .suspended }.map(\.id)
      guard !ids.isEmpty else { return }
      // Refused for one that runs or has ended by now, which is as well.
      _ = try await store.change(
        .retry, where: .ids(ids) && (.state(.scheduled) || .state(.suspended)), after: nil, limit: ids.count)
    }
  }
#endif
