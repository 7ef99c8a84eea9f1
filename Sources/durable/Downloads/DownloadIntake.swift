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
      case job(JobID, queue: String)
      /// Somebody fetches it now with other options.
      case runsOtherwise(JobID)

      var queue: String? { if case .job(_, let queue) = self { queue } else { nil } }
    }

    let queue: String
    private let store: any JobStore
    private let options: JobOptions
    private let isWaitedFor: Bool

    /// Whether somebody waits for what is asked for: then it goes before what waits for itself, and before what somebody
    /// waited for earlier, so that a small file need not wait for a long list; and what waits or was suspended goes on.
    init(_ store: any JobStore, queue: String, maxAttempts: Int?, isWaitedFor: Bool) async throws {
      self.store = store
      self.queue = queue
      self.isWaitedFor = isWaitedFor
      options = JobOptions(
        priority: isWaitedFor ? try await Self.highestPriority(store, queue) : nil, maxAttempts: maxAttempts)
    }

    private static func highestPriority(_ store: any JobStore, _ queue: String) async throws -> JobPriority {
      let earlier = try await store.jobs(
        JobQuery(.queue(queue) && .kind(Download.self) && .unfinished, order: .newestFirst, limit: 100))
      let highest = earlier.map(\.priority.rawValue).max() ?? 0
      return JobPriority(rawValue: min(max(1000, highest + 1), 1_000_000))
    }

    /// Takes in a page of downloads of different identities. One entry for each, in their order.
    func take(_ downloads: ArraySlice<Download>) async throws -> [Entry] {
      let downloads = Array(downloads)
      var places = try await enter(downloads)
      // One that was asked for with other options, another checksum for one, is not what is asked for now.
      let others = downloads.indices.filter { places[$0].stored?.isOther(than: downloads[$0]) ?? false }
      let running = others.isEmpty ? [] : try await giveWay(others.map { places[$0].id })
      let free = others.filter { !running.contains(places[$0].id) }
      for (index, place) in zip(free, try await enter(free.map { downloads[$0] })) { places[index] = place }
      if isWaitedFor { try await wake(places.compactMap(\.stored)) }
      return places.map {
        running.contains($0.id) ? .runsOtherwise($0.id) : .job($0.id, queue: $0.stored?.queue ?? queue)
      }
    }

    /// A job, and what was stored of it if it was there before.
    private typealias Place = (id: JobID, stored: JobSnapshot?)

    private func enter(_ downloads: [Download]) async throws -> [Place] {
      let handles = try await JobQueue(queue, store: store).enqueue(contentsOf: downloads, options: options)
      let stored = try await store.jobs(handles.filter { !$0.isNew }.map(\.id), detail: .payload)
      return handles.map { ($0.id, stored[$0.id]) }
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

  extension JobSnapshot {
    /// Whether it has not ended, and fetches this download with other options.
    fileprivate func isOther(than download: Download) -> Bool {
      guard !state.isFinished, let stored = Download(self) else { return false }
      return stored != download
    }
  }
#endif
