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
        if case .none = limits {
          for states in section.hasEnded ? [section.states] : section.states.map({ [$0] }) {
            jobs += try await store.pages(shown && .states(states), detail: Self.detail) { $0 }
          }
          if section.hasEnded { jobs.sort(by: Self.endedLater) }
        } else if section.hasEnded {
          jobs = try await Self.last(store, shown, section.states.filter { counts[$0] > 0 }, most)
        } else {
          // Of those that wait, those that come first: a state after the other.
          for state in section.states where counts[state] > 0 && jobs.count < most {
            let query = JobQuery(shown && .state(state), detail: Self.detail, limit: most - jobs.count)
            jobs += try await store.store.jobs(query)
          }
        }
        left -= jobs.count
        let table = JobTable(
          jobs: jobs, workers: try await store.workers(of: jobs), paused: paused, absent: absent, served: served,
          now: now)
        let more = total - jobs.count
        let names = section.states.filter { counts[$0] > 0 }.map(\.rawValue).joined(separator: ", ")
        tables.append((table, more > 0 ? "… and \(more) more (\(names)); all: --all" : nil))
      }
    }

    private static let detail: JobQuery.Detail = [.payload, .failures, .edges]

    /// Of each state that is an end, no more of the newest are looked at to find those that ended last: no index has the ends.
    private static let looked = 1000

    private static func last(
      _ store: OpenStore, _ filter: JobFilter, _ states: [JobState], _ most: Int
    ) async throws -> [JobSnapshot] {
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
