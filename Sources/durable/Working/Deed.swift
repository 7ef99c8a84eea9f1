#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
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
    /// Whether a person is asked before it is done to several that were not named: unless it can be taken back.
    var asks = true

    static let unfinished = Set(JobState.allCases.filter { !$0.isFinished })

    /// Refusals that are told each.
    private static let mostTold = 10

    /// Does it, says what became of each job, and goes on where one is refused. Throws the exit code of the worst.
    func run(_ selection: JobSelection, _ options: StoreOptions) async throws {
      guard
        let store = selection.isByName
          ? try await options.existing(for: selection.ids.map(\.ids.lowerBound)) : try await options.existing()
      else { return report([], [:], [], [], selection, options) }
      let ids = try await selection.jobs(in: store, states: states)
      if asks { try selection.ask(verb, ids.count) }
      let filter = selection.isByName ? JobFilter.all : try await selection.filter(in: store, states: states)
      var changed: [JobID] = []
      var words: [JobID: String] = [:]
      var refused: [ChangeReport.Refusal] = []
      var missing: [JobID] = []
      var worst: ExitStatus?
      for page in ids.pages(of: 400) {
        let spared = selection.isByName ? try await schedules(among: Array(page), in: store) : []
        refused += spared
        let page = Set(page).subtracting(spared.map(\.job)).sorted()
        let (answer, remains) = try await apply(to: page, filter, in: store)
        if !remains.isEmpty { worst = worst ?? .jobFailed }
        changed += answer.changed
        refused += answer.refused
        words.merge(try await others(answer.changed, selection, in: store)) { $1 }
        words.merge(remains.mapValues { "\(done), but \($0)" }) { $1 }
        guard selection.isByName else { continue }
        missing += Set(page).subtracting(answer.changed + answer.refused.map(\.job)).sorted()
      }
      for id in missing {
        Talk.error("there is no job \(id)", code: JobError.Code.notFound.rawValue)
        worst = .noSuchJob
      }
      report(changed, words, refused, missing, selection, options)
      if !refused.isEmpty { worst = worst ?? .usage }
      if let worst { throw ExitCode(worst) }
    }

    /// With what could not be ended of their commands.
    private func apply(
      to ids: [JobID], _ filter: JobFilter, in store: OpenStore
    ) async throws -> (ChangeReport, remains: [JobID: String]) {
      var all = ChangeReport()
      let bodies = BodyFolder(of: store.store)
      let copies = if case .remove = change { try await bodies.copies(of: ids, in: store.store) } else { Set<String>() }
      repeat {
        let bite = try await store.store.change(change, where: .ids(ids) && filter, after: all.next, limit: ids.count)
        all.changed += bite.changed
        all.refused += bite.refused
        all.next = bite.next
      } while all.next != nil
      if !copies.isEmpty { try await bodies.removeCopies(copies, goneFrom: store.store) }
      if case .complete(let output?) = change { try await refuse(&all, withoutOutput: output, in: store) }
      var remains: [JobID: String] = [:]
      for id in all.changed {
        switch change {
        case .cancel, .suspend: remains[id] = try await store.endRemains(of: id)
        case .complete, .fail: remains[id] = try await store.endRemains(of: id, letting: ObstacleReport.lastWords)
        case .remove:
          remains[id] = try await store.endRemains(of: id, letting: ObstacleReport.lastWords)
          // A command that can't be ended keeps it, until a worker finds that it has.
          if !store.folder(id).removeIfFree() { Talk.line("Job \(id): its logs go when its command has ended") }
        default: break
        }
      }
      return (all, remains)
    }

    /// Schedules that this would end: they go by their names.
    private func schedules(among ids: [JobID], in store: OpenStore) async throws -> [ChangeReport.Refusal] {
      switch change {
      case .cancel, .complete, .fail, .remove: break
      default: return []
      }
      let filter = JobFilter.ids(ids) && .kind(JobSchedule.self) && .states(Self.unfinished)
      return try await store.store.jobs(JobQuery(filter, limit: ids.count)).map { job in
        let name = job.key.map { $0.dropFirst(JobSchedule.key(of: "").count) } ?? ""
        return ChangeReport.Refusal(
          job: job.id,
          message: "is the schedule '\(name)'; 'durable schedule remove \(name)' ends it, and 'pause' holds it")
      }
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
      for job in try await store.store.jobs(JobQuery(filter, limit: ids.count)) {
        if job.stopAsked != nil {
          words[job.id] = Self.stops
        } else if job.state == .blocked {
          // What was resumed or retried may have others before it still.
          let why = selection.isByName ? try await store.explain(job.id)?.1 : nil
          words[job.id] =
            why?.reasons.first { $0.awaited != nil }?.cause(in: store)
            ?? "waits for others; 'durable explain \(job.id)' says for which"
        }
      }
      return words
    }

    private static let stops = "runs; it is asked to stop"

    private func report(
      _ changed: [JobID], _ words: [JobID: String], _ refused: [ChangeReport.Refusal], _ missing: [JobID],
      _ selection: JobSelection, _ options: StoreOptions
    ) {
      for refusal in refused.prefix(Self.mostTold) { Talk.error("job \(refusal.job) \(refusal.message)") }
      if refused.count > Self.mostTold { Talk.error("… and \(refused.count - Self.mostTold) more are refused") }
      if options.json {
        let all = refused + missing.map { ChangeReport.Refusal(job: $0, message: "does not exist") }
        return Screen.out.json(ChangeRecord(changed: changed, refused: all))
      }
      for id in changed { Screen.out.line("\(id) \(words[id] ?? done)") }
      guard !selection.isByName else { return }
      let stopping = words.values.count { $0 == Self.stops }
      let waiting = words.count - stopping
      let parts = [
        (changed.count - words.count, done), (stopping, "asked to stop"), (waiting, "waiting for others"),
        (refused.count, "refused"),
      ].filter { $0.0 > 0 }.map { "\($0.0) job\($0.0 == 1 ? "" : "s") \($0.1)" }
      Talk.line(parts.isEmpty ? "No job matches" : parts.joined(separator: ", "))
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
