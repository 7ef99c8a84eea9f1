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
        those that succeeded or were cancelled after a day, and those that failed or were skipped after 30.
        """)

    @Flag(help: "Those that failed, too.") var failed = false
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Only those that ended longer ago than this: 90s, 5m, 2h, 1d.", valueName: "time"))
    var olderThan: String?
    @Option(parsing: .unconditionalSingleValue, help: ArgumentHelp("Only jobs of this queue.", valueName: "name"))
    var queue: [String] = []
    @Option(parsing: .unconditionalSingleValue, help: ArgumentHelp("Only jobs of this kind.", valueName: "name"))
    var kind: [String] = []
    @Flag(help: "Give the room back to the file system, too; others wait meanwhile.") var compact = false
    @Flag(name: [.customShort("y"), .long], help: "Do not ask on a terminal.") var yes = false
    @OptionGroup var options: StoreOptions

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
        return tell([], refused: 0, freed: nil)
      }
      var states: Set<JobState> = [.succeeded, .cancelled, .skipped]
      if failed { states.insert(.failed) }
      let filter =
        JobFilter.states(states) && (queue.isEmpty ? .all : .queues(queue))
        && (kind.isEmpty ? .all : .kinds(kind))
      let latest = store.store.clock.now.addingTimeInterval(-(age ?? .zero).seconds)
      let ended = try await store.pages(filter, detail: []) { (id: $0.id, at: $0.finishedAt ?? .distantFuture) }
      let ids = ended.filter { $0.at <= latest }.map(\.id)
      try Confirmation(verb: "Delete", count: ids.count, isNeeded: !yes && !ids.isEmpty).ask()
      var removed: [JobID] = []
      var refused = 0
      let bodies = BodyFolder(of: store.store)
      var copies: Set<String> = []
      for page in ids.pages(of: 400) {
        copies.formUnion(try await bodies.copies(of: Array(page), in: store.store))
        let report = try await store.store.change(.remove, where: .ids(page) && filter, after: nil, limit: page.count)
        removed += report.changed
        refused += report.refused.count
      }
      let remains = try await store.ofEach(removed) { try await store.removeFolder(of: $0) }
      try await bodies.removeCopies(copies, goneFrom: store.store)
      tell(removed, refused: refused, freed: compact ? try await (store.store as? SQLiteStore)?.compact() : nil)
      if !remains.isEmpty { throw ExitCode(.jobFailed) }
    }

    private func tell(_ removed: [JobID], refused: Int, freed: Int64?) {
      if options.json { return Screen.out.json(PruneRecord(removed: removed, freedBytes: freed)) }
      Screen.out.line("\(removed.count.jobs) removed")
      if refused > 0 { Talk.line("\(refused.jobs) left, needed by jobs that have not ended") }
    }
  }

  private struct PruneRecord: Encodable {
    var removed: [JobID]
    @OrNull var freedBytes: Int64?
  }
#endif
