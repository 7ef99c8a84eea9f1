#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  /// Ids in a row, as in `3-7`, or one alone.
  struct JobRange: ExpressibleByArgument, Hashable {
    let ids: ClosedRange<JobID>

    init?(argument: String) {
      let ends = argument.split(separator: "-", omittingEmptySubsequences: false).map { JobID(String($0)) }
      guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last else {
        return nil
      }
      ids = first...last
    }

    var isOne: Bool { ids.lowerBound == ids.upperBound }
  }

  /// Ids and ranges that were typed one after the other, as the parser sees them.
  struct JobRanges: ExpressibleByArgument {
    let all: [JobRange]

    init?(argument: String) {
      let ranges = CommandWords.parted([argument]).map { JobRange(argument: $0) }
      all = ranges.compactMap(\.self)
      if all.count < ranges.count { return nil }
    }
  }

  /// Which jobs a verb is for: ids, ranges of them, what they are, or all.
  struct JobSelection: ParsableArguments {
    @Argument(help: ArgumentHelp("The jobs: ids, and ranges as in 3-7.", valueName: "id")) var words: [JobRanges] = []
    @OptionGroup(title: "Which jobs") var filter: FilterArguments
    @Flag(help: "All jobs that this can be done to.") var all = false

    /// The verbs that take them.
    static let verbs: Set = [
      "retry", "cancel", "suspend", "resume", "complete", "fail", "remove", "edit", "wait", "prune",
    ]

    var ids: [JobRange] { words.flatMap(\.all) }

    /// Whether each job was named.
    var isByName: Bool { !ids.isEmpty && ids.allSatisfy(\.isOne) && !filter.isGiven && !all }
    var isEmpty: Bool { ids.isEmpty && !filter.isGiven && !all }

    /// Throws where nothing was selected.
    func check() throws {
      guard isEmpty else { return }
      throw ValidationError("which jobs? Give ids, ranges as in 3-7, --tag, --state, --queue and so on, or --all")
    }

    /// Those that were named, in their order; else those in one of `states` that match, unless the filter names states, by
    /// id, and none that `isSpared` then; no schedules unless their kind or a key was asked for, or `sparingSchedules` is
    /// false. Throws ``JobError/Code/notFound`` for ranges and batches in which there is nothing.
    func jobs(
      in store: OpenStore, states: Set<JobState>, sparingSchedules: Bool = true,
      sparing isSpared: (JobSnapshot) -> Bool = { _ in false }
    ) async throws -> [JobID] {
      let ids = ids
      if isByName { return ids.map(\.ids.lowerBound).withoutRepeats }
      var filter = try await filter(in: store, states: states)
      if sparingSchedules { filter = filter.sparingSchedules }
      var found: [JobID] = []
      for range in ids.isEmpty ? [JobID(rawValue: 1)...JobID(rawValue: .max)] : ids.map(\.ids) {
        let before = JobID(rawValue: range.lowerBound.rawValue - 1)
        if !ids.isEmpty { try await check(range, after: before, in: store) }
        var query = JobQuery(filter, after: before, limit: 1000)
        repeat {
          let page = try await store.store.jobs(query)
          let meant = self.filter.state.isEmpty ? page.filter { !isSpared($0) } : page
          found += meant.map(\.id).prefix { $0 <= range.upperBound }
          query.after = page.count == query.limit && page.last!.id < range.upperBound ? page.last?.id : nil
        } while query.after != nil
      }
      return found.withoutRepeats
    }

    private func check(_ range: ClosedRange<JobID>, after: JobID, in store: OpenStore) async throws {
      if let first = try await store.store.jobs(JobQuery(after: after, limit: 1)).first, range.contains(first.id) {
        return
      }
      let (first, last) = (range.lowerBound, range.upperBound)
      throw JobError(.notFound, first == last ? "there is no job \(first)" : "there are no jobs \(first)-\(last)")
    }

    /// All that hold for a job, but its id.
    func filter(in store: OpenStore, states: Set<JobState>) async throws -> JobFilter {
      let filter = try await filter.filter(in: store)
      return self.filter.state.isEmpty ? filter && .states(states) : filter
    }

    /// What is to be said where there is no such job among those that match: in which states those are, and which verb helps
    /// there. Of all jobs nobody wants to hear that.
    func wordsForNone(
      _ wanted: String, _ remedy: (Set<JobState>) -> String?, in store: OpenStore
    ) async throws -> String {
      var counts: [JobState: Int] = [:]
      if filter.isGiven || !ids.isEmpty, filter.state.isEmpty {
        let ids = try await jobs(in: store, states: Set(JobState.allCases))
        for page in ids.pages(of: 400) {
          let found = try await store.store.counts(where: .ids(page))
          for state in JobState.allCases { counts[state, default: 0] += found[state] }
        }
      }
      let found = JobState.allCases.filter { counts[$0, default: 0] > 0 }
      guard !found.isEmpty else { return Self.noneMatches }
      let others = found.map { "\(counts[$0, default: 0]) \($0.rawValue)" }.joined(separator: ", ")
      return "No \(wanted) matches, but \(others)" + (remedy(Set(found)).map { ". \($0)" } ?? "")
    }

    static let noneMatches = "No job matches"

    /// Asks a person at a terminal whether that is meant: as in "Cancel 12 jobs?". Throws the exit code if not.
    func ask(_ verb: String, _ count: Int, _ consent: Consent) throws {
      try Confirmation(verb: verb, count: count, isNeeded: !consent.yes && !isByName && count > 1).ask()
    }
  }

  extension Array where Element: Hashable {
    /// The first of each.
    fileprivate var withoutRepeats: [Element] {
      var seen: Set<Element> = []
      return filter { seen.insert($0).inserted }
    }
  }
#endif
