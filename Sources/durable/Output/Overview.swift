#if Shell
  import Console
  import DurableJobs
  import DurableJobsSchedules
  import Foundation

  /// Where everything stands: what runs first, then what failed, what waits and what ended last.
  struct Overview {
    enum Limits { case none, few, total(Int) }

    private struct Section {
      var states: [JobState]
      /// So many where nobody said otherwise.
      var few: Int
      var hasEnded = false
    }

    private static let sections = [
      Section(states: [.running], few: 10),
      Section(states: [.failed], few: 5, hasEnded: true),
      Section(states: [.ready, .scheduled, .blocked, .suspended], few: 10),
      Section(states: [.succeeded, .cancelled, .skipped], few: 5, hasEnded: true),
    ]

    private var tables: [(table: JobTable, rest: String?)] = []
    private let counts: JobCounts
    /// Of those that run, those whose worker was seen to be dead.
    private let orphans: Int

    init(_ store: OpenStore, _ filter: JobFilter, _ limits: Limits, now: Date = Date()) async throws {
      counts = try await store.store.counts(where: filter)
      orphans = counts[.running] > 0 ? try await store.orphans(where: filter) : 0
      let paused = try await store.pausedQueues
      let absent = Set(try await store.constraints().filter { !$0.holds }.map { JobConstraint(rawValue: $0.name) })
      let served = Set(try await store.store.workers().filter { $0.standing == .alive }.flatMap(\.queues))
      // Of a schedule each tick leaves one that has ended, beside the job that it stored.
      let ticked = JobFilter.kind(JobSchedule.self) && .state(.succeeded)
      let hidesTicks = if case .none = limits { false } else { filter == .all }
      let shown = hidesTicks ? filter && !ticked : filter
      let hidden = hidesTicks ? try await store.store.counts(where: ticked).total : 0
      var count = 0
      for section in Self.sections {
        let states = section.states.filter { counts[$0] > 0 }
        let total = states.reduce(states.contains(.succeeded) ? -hidden : 0) { $0 + counts[$1] }
        let most =
          if case .total(let all) = limits { all - count } else if case .few = limits { section.few } else { Int.max }
        guard total > 0, most > 0 else { continue }
        let jobs = try await (section.hasEnded ? Self.last : Self.first)(store, shown, states, most)
        count += jobs.count
        let table = JobTable(
          jobs: jobs, workers: try await store.workers(of: jobs), paused: paused, absent: absent, served: served,
          now: now)
        let more = total - jobs.count
        let names = states.map(\.rawValue).joined(separator: ", ")
        tables.append((table, more > 0 ? "… and \(more) more (\(names)); all: --all" : nil))
      }
    }

    private static let detail: JobQuery.Detail = [.payload, .failures, .edges]

    /// Those that come first: a state after the other.
    private static func first(
      _ store: OpenStore, _ filter: JobFilter, _ states: [JobState], _ most: Int
    ) async throws -> [JobSnapshot] {
      var jobs: [JobSnapshot] = []
      for state in states where jobs.count < most {
        jobs += try await store.pages(filter && .state(state), detail: detail, atMost: most - jobs.count) { $0 }
      }
      return jobs
    }

    /// Of each state that is an end, no more of the newest are looked at to find those that ended last: no index has the ends.
    private static let looked = 1000

    private static func last(
      _ store: OpenStore, _ filter: JobFilter, _ states: [JobState], _ most: Int
    ) async throws -> [JobSnapshot] {
      guard most < .max else { return try await first(store, filter, states, most).sorted(by: endedLater) }
      var ended: [JobSnapshot] = []
      for state in states {
        let query = JobQuery(filter && .state(state), order: .newestFirst, limit: max(looked, most))
        ended = Array((ended + (try await store.store.jobs(query))).sorted(by: endedLater).prefix(most))
      }
      let query = JobQuery(filter && .ids(ended.map(\.id)) && .states(states), detail: detail, limit: most)
      return try await store.store.jobs(query).sorted(by: endedLater)
    }

    private static func endedLater(_ a: JobSnapshot, than b: JobSnapshot) -> Bool {
      let (aEnd, bEnd) = (a.finishedAt ?? .distantFuture, b.finishedAt ?? .distantFuture)
      return (aEnd, a.id) > (bEnd, b.id)
    }

    /// For a screen of that width; not cut where it has none.
    func lines(for screen: Screen, width: Int?) -> [String] {
      let jobs = tables.flatMap(\.table.jobs)
      let columns = JobTable.Columns(jobs, now: tables.first?.table.now ?? Date())
      var lines: [String] = []
      for (table, rest) in tables {
        lines += table.lines(for: screen, width: width, columns)
        if let rest { lines.append(screen.coloured(rest.cut(to: width ?? .max), .dim)) }
      }
      return lines + counts.lines(width: width ?? .max, orphans: orphans)
    }
  }
#endif
