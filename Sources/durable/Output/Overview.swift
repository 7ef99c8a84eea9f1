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
      var order: JobQuery.Order
    }

    private static let sections = [
      Section(states: [.running], few: 10, order: .oldestFirst),
      Section(states: [.failed], few: 5, order: .newestFirst),
      Section(states: [.ready, .scheduled, .blocked, .suspended], few: 10, order: .oldestFirst),
      Section(states: [.succeeded, .cancelled, .skipped], few: 5, order: .newestFirst),
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
      var left = if case .total(let number) = limits { number } else { Int.max }
      // Of a schedule each tick leaves one that has ended, beside the job that it stored.
      let ticked = JobFilter.kind(JobSchedule.self) && .state(.succeeded)
      let hidesTicks = if case .none = limits { false } else { filter == .all }
      let shown = hidesTicks ? filter && !ticked : filter
      let hidden = hidesTicks ? try await store.store.counts(where: ticked).total : 0
      for section in Self.sections {
        let total = section.states.reduce(section.states.contains(.succeeded) ? -hidden : 0) { $0 + counts[$1] }
        guard total > 0, left > 0 else { continue }
        var most = left
        if case .few = limits { most = section.few }
        var jobs: [JobSnapshot] = []
        // Of those that wait, those that come first: a state after the other.
        for states in section.order == .newestFirst ? [section.states] : section.states.map({ [$0] }) {
          guard jobs.count < most else { break }
          jobs += try await Self.jobs(
            store, shown && .states(states), section.order, limits: limits, most: most - jobs.count)
        }
        if section.order == .newestFirst { jobs.sort { ($0.finishedAt ?? now) > ($1.finishedAt ?? now) } }
        left -= jobs.count
        let table = JobTable(
          jobs: jobs, workers: try await store.workers(of: jobs), paused: paused, absent: absent, served: served,
          now: now)
        let more = total - jobs.count
        let names = section.states.filter { counts[$0] > 0 }.map(\.rawValue).joined(separator: ", ")
        tables.append((table, more > 0 ? "… and \(more) more (\(names)); all: --all" : nil))
      }
    }

    private static func jobs(
      _ store: OpenStore, _ filter: JobFilter, _ order: JobQuery.Order, limits: Limits, most: Int
    ) async throws -> [JobSnapshot] {
      let detail: JobQuery.Detail = [.payload, .failures, .edges]
      if case .none = limits { return try await store.pages(filter, detail: detail) { $0 } }
      return try await store.store.jobs(JobQuery(filter, detail: detail, order: order, limit: most))
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
