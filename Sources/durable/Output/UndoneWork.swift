#if Shell
  import Console
  import DurableJobs
  import Foundation

  /// What a worker leaves undone, and why.
  struct UndoneWork {
    private let lines: [String]
    /// Ready jobs of queues that this worker was not asked to work on.
    private let elsewhere: Int

    init(_ store: OpenStore, _ queues: Set<String>) async throws {
      let scope = WorkScope.worker(queues: queues, kinds: OpenStore.kinds)
      let left = try await store.store.outstanding(scope).left
      let here = JobFilter.queues(queues)
      elsewhere = try await store.store.counts(where: .state(.ready) && !here)[.ready]
      guard left.unfinished > 0 else {
        lines = []
        return
      }
      var lines: [String] = []
      if left[.ready] > 0 {
        let held = try await store.pausedQueues.intersection(queues).sorted()
        if held.isEmpty {
          let foreign = try await store.store.counts(
            where: here && .state(.ready) && !.kinds(OpenStore.kinds))[.ready]
          if foreign > 0 { lines.append("\(foreign) ready, of kinds that run in another program") }
          let names = try await store.store.required().keys.sorted()
          let requiring = names.map { JobFilter.requires($0) }.reduce(!.all) { $0 || $1 }
          let bound = try await store.store.counts(
            where: here && .state(.ready) && .kinds(OpenStore.kinds) && requiring)[.ready]
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

    func tell() {
      for (index, line) in lines.enumerated() {
        Talk.line((index == 0 ? "Left: " : "      ") + line.withVisibleControls)
      }
      if elsewhere > 0 { Talk.line("In other queues: \(elsewhere) ready; --queue works on them") }
    }
  }
#endif
