#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import DurableJobsSchedules
  import Foundation

  /// What a verb does to the jobs that were selected.
  struct Deed {
    var change: JobChange
    /// As in "Cancel".
    var verb: String
    /// As in "cancelled".
    var done: String
    /// Of jobs that were not named, those in these states.
    var states: Set<JobState>
    /// Of those, these are left alone.
    var spares: @Sendable (JobSnapshot) -> Bool = { _ in false }
    /// One of these, as in "failed job".
    var wanted = "unfinished job"
    /// Whether a person is asked before it is done to several that were not named: unless it can be taken back.
    var asks = true

    static let unfinished = Set(JobState.allCases.filter { !$0.isFinished })

    /// Does it, says what became of each job, and goes on where one is refused. Throws the exit code of the worst.
    func run(_ selection: JobSelection, _ consent: Consent, _ options: StoreOptions) async throws {
      guard
        let store = selection.isByName
          ? try await options.existing(for: selection.ids.map(\.ids.lowerBound)) : try await options.existing()
      else { return report([], [:], [:], Refusals(), selection, options, none: JobSelection.noneMatches) }
      let ids = try await selection.jobs(in: store, states: states, sparing: spares)
      if asks { try selection.ask(verb, ids.count, consent) }
      let filter = selection.isByName ? JobFilter.all : try await selection.filter(in: store, states: states)
      var refusals = Refusals()
      var left = ids.sorted()
      if selection.isByName {
        for page in ids.pages(of: 400) { refusals.refused += try await schedules(among: Array(page), in: store) }
        left = Set(left).subtracting(refusals.refused.map(\.job)).sorted()
      }
      let answer = try await apply(to: left, filter, in: store)
      refusals.refused += selection.isByName ? answer.refused : try await toldByOwner(answer.refused, in: store)
      if selection.isByName { refusals.noteMissing(left, answer) }
      let changed = answer.changed
      // Only now, since what was not changed yet might begin while this waits.
      let lives = try await remains(of: changed, in: store)
      refusals.hasRemains = !lives.isEmpty
      var words: [JobID: String] = [:]
      for page in changed.pages(of: 400) {
        words.merge(try await others(Array(page), selection, in: store)) { $1 }
      }
      let none = try await ids.isEmpty ? selection.wordsForNone(wanted, remedy, in: store) : JobSelection.noneMatches
      report(changed, words, lives, refusals, selection, options, none: none)
      if let code = refusals.exitCode { throw code }
    }

    /// What helps jobs in these states, which are none that this is for.
    private func remedy(_ found: Set<JobState>) -> String? {
      switch change {
      case .retry:
        let others = [JobState.suspended, .cancelled].filter(found.contains)
        return others.isEmpty
          ? nil : others.map { "--state \($0.rawValue)" }.joined(separator: " ") + " runs those again"
      case .remove: return "'durable cancel' ends those"
      default: return Refusals.waysBack(found)
      }
    }

    private func apply(to ids: [JobID], _ filter: JobFilter, in store: OpenStore) async throws -> ChangeReport {
      let bodies = BodyFolder(of: store.store)
      return try await change.make(of: ids, bite: 400) { ids in
        let copies = change == .remove ? try await bodies.copies(of: ids, in: store.store) : []
        var report = try await store.store.change(change, ids, where: filter)
        if !copies.isEmpty { try await bodies.removeCopies(copies, goneFrom: store.store) }
        if case .complete(let output?) = change { try await refuse(&report, withoutOutput: output, in: store) }
        return report
      }
    }

    /// Of jobs that nobody named, those whose unique keys others have need nothing to be done: another does the same.
    private func toldByOwner(
      _ refused: [ChangeReport.Refusal], in store: OpenStore
    ) async throws -> [ChangeReport.Refusal] {
      var owners: [JobID: JobSnapshot] = [:]
      for page in refused.compactMap(\.keyOwner).pages(of: 400) {
        owners.merge(try await store.store.jobs(Array(page), detail: [])) { $1 }
      }
      return refused.map { refusal in
        guard let owner = refusal.keyOwner.flatMap({ owners[$0] }), !owner.state.isFinished else { return refusal }
        let words = "stays as it is: job \(owner.id) has its unique key, and is \(owner.state.rawValue)"
        return ChangeReport.Refusal(job: refusal.job, message: words)
      }
    }

    /// What could not be ended of their commands.
    private func remains(of ids: [JobID], in store: OpenStore) async throws -> [JobID: String] {
      switch change {
      case .cancel, .suspend: try await store.ofEach(ids) { try await store.endRemains(of: $0) }
      case .complete, .fail:
        try await store.ofEach(ids) { try await store.endRemains(of: $0, letting: ObstacleReport.lastWords) }
      case .remove: try await store.ofEach(ids) { try await store.removeFolder(of: $0) }
      default: [:]
      }
    }

    /// Schedules that this would end: they go by their names.
    private func schedules(among ids: [JobID], in store: OpenStore) async throws -> [ChangeReport.Refusal] {
      switch change {
      case .cancel, .complete, .fail, .remove: break
      default: return []
      }
      return try await store.schedules(among: ids)
    }

    /// Those that had succeeded before keep what they have put out.
    private func refuse(_ report: inout ChangeReport, withoutOutput output: Data, in store: OpenStore) async throws {
      guard !report.changed.isEmpty else { return }
      let jobs = try await store.store.jobs(
        JobQuery(.ids(report.changed), detail: .output, limit: report.changed.count))
      let others = Set(jobs.filter { $0.output != output }.map(\.id))
      report.changed.removeAll { others.contains($0) }
      report.refused += others.sorted().map {
        ChangeReport.Refusal(job: $0, message: "has succeeded already; its output stays as it was")
      }
    }

    /// What is to be said of those that are not yet where this was to bring them.
    private func others(_ ids: [JobID], _ selection: JobSelection, in store: OpenStore) async throws -> [JobID: String]
    {
      guard !ids.isEmpty else { return [:] }
      let filter = JobFilter.ids(ids) && (.state(.running) || .state(.blocked))
      var words: [JobID: String] = [:]
      let jobs = try await store.store.jobs(JobQuery(filter, limit: ids.count))
      let workers = try await store.workers(of: jobs)
      for job in jobs {
        if job.stopAsked != nil {
          // Nobody hears it where its worker is dead, until somebody works or waits.
          let trouble = workers[job.id]?.standing.trouble(with: job).map { ", but its worker \($0)" }
          words[job.id] = Self.stops + (trouble ?? "")
        } else if job.state == .blocked {
          // What was resumed or retried may have others before it still.
          let why = selection.isByName ? try await store.explain(job.id)?.1 : nil
          words[job.id] =
            why?.reasons.first { $0.awaited != nil }?.cause(in: store)
            ?? "waits for others; '\(store.command("explain \(job.id)"))' says for which"
        }
      }
      return words
    }

    private static let stops = "runs; it is asked to stop"

    private func report(
      _ changed: [JobID], _ words: [JobID: String], _ lives: [JobID: String], _ refusals: Refusals,
      _ selection: JobSelection, _ options: StoreOptions, none: String
    ) {
      refusals.tell()
      if options.json {
        let missing = refusals.missing.map { ChangeReport.Refusal(job: $0, message: "does not exist") }
        return Screen.out.json(ChangeRecord(changed: changed, refused: refusals.refused + missing))
      }
      for id in changed {
        let fate = lives[id].map { "\(done), but \($0)" } ?? words[id] ?? done
        Screen.out.line("job \(id) \(fate)".withVisibleControls)
      }
      guard !selection.isByName else { return }
      let stopping = words.values.count { $0.hasPrefix(Self.stops) }
      Refusals.tellCounts(
        [
          (changed.count - words.count, done), (stopping, "asked to stop"),
          (words.count - stopping, "waiting for others"), (refusals.refused.count, "refused"),
        ], none: none)
    }
  }

  extension OpenStore {
    /// Those of these jobs that are schedules, which go by their names, and what is to be said of them.
    func schedules(among ids: [JobID]) async throws -> [ChangeReport.Refusal] {
      let filter = JobFilter.ids(ids) && .kind(JobSchedule.self) && .states(Deed.unfinished)
      return try await store.jobs(JobQuery(filter, limit: ids.count)).map { job in
        let name = job.key.map { $0.dropFirst(JobSchedule.key(of: "").count) } ?? ""
        return ChangeReport.Refusal(
          job: job.id,
          message: "is the schedule '\(name)'; "
            + "'\(command("schedule remove \(SystemText(String(name)).shellQuoted)"))' ends it, and 'pause' holds it"
        )
      }
    }
  }

  /// What became of jobs that were to be changed.
  struct ChangeRecord: Encodable {
    struct Refusal: Encodable {
      var job: JobID
      var message: String
    }

    var changed: [JobID]
    var refused: [Refusal]

    init(changed: [JobID], refused: [ChangeReport.Refusal]) {
      self.changed = changed
      self.refused = refused.map { Refusal(job: $0.job, message: $0.message) }
    }
  }
#endif
