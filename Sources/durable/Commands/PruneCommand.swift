#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsSQLite
  import Foundation

  struct PruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "prune",
      abstract: "Delete jobs that have ended, with their logs.",
      discussion: """
        Those that succeeded, were cancelled or were skipped; with --failed those that failed, too. By itself a store deletes \
        those that succeeded or were cancelled after a day, and those that failed or were skipped after 30. A job that is named \
        by its id may have failed, too, and so may those of --state failed. 'durable remove' deletes what has not ended.
        """)

    @Flag(help: "Those that failed, too.") var failed = false
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Only those that ended longer ago than this: 90s, 5m, 2h, 1d.", valueName: "time"))
    var olderThan: String?
    @OptionGroup var selection: JobSelection
    @Flag(help: "Give the room back to the file system, too; others wait meanwhile.") var compact = false
    @Flag(name: [.customShort("y"), .long], help: "Do not ask on a terminal.") var yes = false
    @OptionGroup var options: StoreOptions

    func validate() throws {
      guard let state = selection.filter.state.first(where: { !$0.isFinished }) else { return }
      throw ValidationError(
        "--state \(state.rawValue): prune deletes what has ended; 'durable remove --state \(state.rawValue)' deletes those"
      )
    }

    func run() async throws {
      if compact {
        _ = try options.place.file(
          instead:
            "There leave out --compact: autovacuum has the room used again, and VACUUM FULL gives it back to the disk, while no worker runs"
        )
      }
      let age = try olderThan.map { try DurationArgument.parse($0).duration }
      guard let store = try await options.existing() else {
        Talk.line("Nothing to delete: \(try options.missing)")
        return tell([], left: 0, freed: nil)
      }
      let (states, ids, refusals) = try await ended(before: age ?? .zero, in: store)
      try Confirmation(verb: "Delete", count: ids.count, isNeeded: !yes && !selection.isByName && !ids.isEmpty).ask()
      var removed: [JobID] = []
      var left = 0
      let bodies = BodyFolder(of: store.store)
      var copies: Set<String> = []
      var shortage: JobError?
      for page in ids.pages(of: 400) where shortage == nil {
        do {
          copies.formUnion(try await bodies.copies(of: Array(page), in: store.store))
          let filter = JobFilter.ids(page) && .states(states)
          let report = try await store.store.change(.remove, where: filter, after: nil, limit: page.count)
          removed += report.changed
          left += report.refused.count
        } catch let error as JobError where error.code == .diskFull {
          let others = (ids.count - removed.count).jobs
          shortage = Self.noRoom("to delete \(others): deleting writes a little first", removed, error)
        }
      }
      let remains = try await store.ofEach(removed) { try await store.removeFolder(of: $0) }
      try await bodies.removeCopies(copies, goneFrom: store.store)
      var freed: Int64?
      do {
        if compact, shortage == nil { freed = try await (store.store as? SQLiteStore)?.compact() }
      } catch let error as JobError where error.code == .diskFull {
        shortage = Self.noRoom("to make the file smaller: that needs as much again as what is kept", removed, error)
      }
      refusals.tell()
      if let shortage { throw shortage }
      tell(removed, left: left, freed: freed)
      if !remains.isEmpty { throw ExitCode(.jobFailed) }
      if let code = refusals.exitCode { throw code }
    }

    /// The states that are meant, those in them that ended so long ago, and what is refused of those that were named.
    private func ended(before age: Duration, in store: OpenStore) async throws -> (Set<JobState>, [JobID], Refusals) {
      var states: Set<JobState> = [.succeeded, .cancelled, .skipped]
      if failed || selection.isByName { states.insert(.failed) }
      if !selection.filter.state.isEmpty { states = Set(selection.filter.state).union(failed ? [.failed] : []) }
      let named = try await selection.jobs(in: store, states: states, sparingSchedules: false)
      let latest = store.store.clock.now.addingTimeInterval(-age.seconds)
      var found: [JobID] = []
      var refusals = Refusals()
      for page in named.pages(of: 400) {
        let jobs = try await store.store.jobs(JobQuery(.ids(page), detail: [], limit: page.count))
        found += jobs.filter { states.contains($0.state) && ($0.finishedAt ?? .distantFuture) <= latest }.map(\.id)
        guard selection.isByName else { continue }
        refusals.missing += Set(page).subtracting(jobs.map(\.id)).sorted()
        refusals.refused += jobs.filter { !$0.state.isFinished }.map {
          ChangeReport.Refusal(job: $0.id, message: "is \($0.state.rawValue); prune deletes what has ended")
        }
      }
      return (states, found, refusals)
    }

    /// What was done all the same, and what was not.
    private static func noRoom(_ purpose: String, _ removed: [JobID], _ error: JobError) -> JobError {
      let done =
        removed.isEmpty ? "Nothing was deleted" : "\(removed.count.jobs) removed, whose room the store uses again"
      return JobError(.diskFull, "there is no room \(purpose). \(done). Free some space, and do it again", cause: error)
    }

    private func tell(_ removed: [JobID], left: Int, freed: Int64?) {
      if options.json { return Screen.out.json(PruneRecord(removed: removed, freedBytes: freed)) }
      Screen.out.line("\(removed.count.jobs) removed")
      if left > 0 { Talk.line("\(left.jobs) left, needed by jobs that have not ended") }
    }
  }

  private struct PruneRecord: Encodable {
    var removed: [JobID]
    @OrNull var freedBytes: Int64?
  }
#endif
