#if Shell
  import Console
  import DurableJobs
  import Foundation

  /// What a worker leaves undone, and why.
  struct UndoneWork {
    private let lines: [String]
    /// How much is ready in queues that this worker was not asked to work on, and how much there only other programs run.
    private let elsewhere: (own: Int, foreign: Int)
    /// Where nothing is left: that, and which queues have something.
    private let nothing: String?

    init(_ store: OpenStore, _ queues: Set<String>) async throws {
      let scope = WorkScope.worker(queues: queues, kinds: OpenStore.kinds)
      let left = try await store.store.outstanding(scope).left
      let here = JobFilter.queues(queues)
      let own = JobFilter.kinds(OpenStore.kinds)
      elsewhere = (
        try await store.store.counts(where: .state(.ready) && !here && own)[.ready],
        try await store.store.counts(where: .state(.ready) && !here && !own)[.ready]
      )
      guard left.unfinished > 0 else {
        lines = []
        nothing = try await store.nothing(in: queues.sorted(), butIn: own, "--queue works on them").map {
          "\($0). The store is \(store.name)"
        }
        return
      }
      nothing = nil
      var lines: [String] = []
      if left[.ready] > 0 {
        let held = try await store.pausedQueues.intersection(queues).sorted()
        if held.isEmpty {
          let foreign = try await store.store.counts(
            where: here && .state(.ready) && !own)[.ready]
          if foreign > 0 { lines.append("\(foreign) ready, of kinds that run in another program") }
          let names = try await store.store.required().keys.sorted()
          let requiring = names.map { JobFilter.requires($0) }.reduce(!.all) { $0 || $1 }
          let bound = try await store.store.counts(
            where: here && .state(.ready) && own && requiring)[.ready]
          if bound > 0 {
            lines.append("\(bound) ready, which require \(names.map(\.rawValue).joined(separator: " or "))")
          }
          let rest = left[.ready] - foreign - bound
          if rest > 0 { lines.append("\(rest) ready to run") }
        } else {
          lines.append("\(left[.ready]) ready; paused: \(held.joined(separator: ", "))")
        }
      }
      if left[.scheduled] > 0 {
        let next = try await store.store.jobs(JobQuery(here && .state(.scheduled), limit: 1000)).compactMap(\.runAt)
          .min()
        let when = next.map { ", the next one \($0.forPeople)" } ?? ""
        lines.append("\(left[.scheduled]) scheduled\(when)")
      }
      if left[.suspended] > 0 {
        let first = try await store.store.jobs(JobQuery(here && .state(.suspended), limit: 1)).first
        let why = first?.reason.map { ": \($0.withoutPasswords)" } ?? ""
        lines.append("\(left[.suspended]) suspended\(first.map { " (job \($0.id)\(why))" } ?? "")")
      }
      if left[.running] > 0 { lines.append("\(left[.running]) running elsewhere") }
      if left[.blocked] > 0 {
        let heads = try await store.failedHeads(here)
        lines.append("\(left[.blocked]) blocked\(heads.isEmpty ? "" : ":")")
        lines += heads.map { "  " + $0.forPeople(in: store) }
      }
      self.lines = lines
    }

    var isEmpty: Bool { lines.isEmpty }

    /// `hasBegun`: there was something to do.
    func tell(hasBegun: Bool) {
      if !hasBegun, let nothing { Talk.line("Nothing to do: \(nothing)".withVisibleControls) }
      for (index, line) in lines.enumerated() {
        Talk.line((index == 0 ? "Left: " : "      ") + line.withVisibleControls)
      }
      if elsewhere.own > 0, hasBegun || nothing == nil {
        Talk.line("In other queues: \(elsewhere.own) ready; --queue works on them")
      }
      if elsewhere.foreign > 0 {
        Talk.line("In other queues: \(elsewhere.foreign) ready, of kinds that run in another program")
      }
    }
  }

  extension OpenStore {
    /// Where these queues have no unfinished job: that, and which others have some of those meant, as one of these may have
    /// been meant. `hint` is told of them.
    func nothing(in queues: [String], butIn others: JobFilter = .all, _ hint: String) async throws -> String? {
      let unfinished = JobFilter.states(Deed.unfinished)
      guard try await store.counts(where: .queues(queues) && unfinished).total == 0 else { return nil }
      let names = try await self.queues(of: unfinished && others)
      let list = names.prefix(Self.mostNamed).map { "'\($0)'" } + (names.count > Self.mostNamed ? ["…"] : [])
      return "the queue \(queues.map { "'\($0)'" }.joined(separator: ", ")) has no unfinished job"
        + (names.isEmpty ? "" : ". Others have some: \(list.joined(separator: ", ")); \(hint)")
    }
  }
#endif
