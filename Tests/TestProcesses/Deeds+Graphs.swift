import DurableJobs
import Foundation

extension Deeds {
  /// What became of the graphs and plans that `CrashProbe produce-graphs` stores and is not as it must be, in words. All
  /// jobs have ended; they were read with their edges and outputs.
  package func faults(inGraphs jobs: [JobSnapshot]) -> [String] {
    let byID = Dictionary(uniqueKeysWithValues: jobs.map { ($0.id, $0) })
    var faults = jobs.filter { !$0.state.isFinished }.map { "job \($0.id) has not ended" }
    for job in jobs {
      let parents = job.edges.compactMap { edge in edge.job.flatMap { byID[$0] }.map { ($0, edge.condition) } }
      let isMet = parents.allSatisfy { parent, condition in
        condition == .ended || (condition == .failed ? parent.state == .failed : parent.state == .succeeded)
      }
      if parents.count != job.edges.count { faults.append("job \(job.id) waits for what is not there") }
      if (job.state == .skipped) == isMet { faults.append("job \(job.id) is \(job.state)") }
      if (job.state == .skipped) != (runs[job.id] == nil) {
        faults.append("runs of job \(job.id), which is \(job.state): \(runs[job.id] ?? [])")
      }
      for (parent, _) in parents where parent.state != .skipped && job.state != .skipped {
        if !isBefore(parent, job) { faults.append("job \(job.id) ran before job \(parent.id) ended") }
      }
    }
    for (name, lane) in Dictionary(grouping: jobs.filter { $0.lane != nil }, by: { $0.lane?.name ?? "" }) {
      faults += early(in: lane, width: name.hasPrefix("wide") ? 2 : 1).map { "job \($0) was early in lane \(name)" }
    }
    for (key, chain) in Dictionary(grouping: jobs.filter { $0.uniqueKey != nil }, by: { $0.uniqueKey ?? "" }) {
      let ran = chain.filter { $0.state != .skipped }
      faults += early(in: ran, width: 1).map { "job \($0) was early under the key \(key)" }
      for (earlier, later) in zip(chain, chain.dropFirst()) where later.edges != [] {
        if later.edges != [JobEdge(.job(earlier.id))] {
          faults.append("job \(later.id) was appended to \(later.edges), and not to job \(earlier.id)")
        }
      }
    }
    // What follows is stored with the success that it follows from, once.
    let leaders = jobs.filter { $0.kind == "leads" }
    let followed = jobs.filter { $0.kind == "follows" }.compactMap(\.key)
    if !leaders.allSatisfy({ $0.state == .succeeded }) || followed.sorted() != leaders.map(\.id.description).sorted() {
      faults.append("jobs \(followed) were followed, of \(leaders.map(\.id))")
    }
    // A step that has finished is not begun again.
    for job in jobs where job.kind == "paces" {
      let begun = steps[job.id] ?? []
      if begun != begun.sorted() || Set(begun) != [1, 2, 3] { faults.append("steps of job \(job.id): \(begun)") }
    }
    return faults + self.faults(inPlans: jobs)
  }

  /// Each plan is there as a whole, and its last job was given what the others returned.
  private func faults(inPlans jobs: [JobSnapshot]) -> [String] {
    let nodes = Dictionary(grouping: jobs) { job in job.tags.first { $0.hasPrefix("plan:") } }
    return nodes.compactMap { tag, nodes in
      guard let tag else { return nil }
      func node(_ name: String) -> JobSnapshot? { nodes.first { $0.tags.contains("node:\(name)") } }
      func output<T: Decodable>(_ name: String, _ type: T.Type) -> T? {
        node(name)?.output.flatMap { try? JSONDecoder().decode(type, from: $0) }
      }
      guard nodes.count == 4, let left = output("left", Int.self), let right = output("right", Int.self),
        let broken = node("broken")?.id.rawValue, let all = output("all", [Int].self)
      else { return "\(tag) has \(nodes.map { "\($0.id) \($0.kind) \($0.state)" })" }
      let wanted = [left, right, Int(broken)]
      return all == wanted ? nil : "\(tag) was given \(all), and not \(wanted)"
    }
  }

  /// Whether the first had ended, as far as its handler knew, before the other began.
  private func isBefore(_ first: JobSnapshot, _ other: JobSnapshot) -> Bool {
    guard let end = ends[first.id], let begin = runs[other.id]?.first?.line else { return false }
    return end < begin
  }

  /// Those of these jobs, in the order of their ids, that began while as many before them had not ended: in a lane so wide,
  /// one of its seats is free for who begins, and those before it have had theirs.
  private func early(in jobs: [JobSnapshot], width: Int) -> [JobID] {
    // The last ends among those before, latest first.
    var latest: [Int] = []
    return jobs.filter { job in
      let begin = runs[job.id]?.first?.line ?? 0
      let isEarly = latest.count == width && latest[width - 1] > begin
      latest = Array((latest + [ends[job.id] ?? .max]).sorted(by: >).prefix(width))
      return isEarly
    }.map(\.id)
  }

  /// What none of these graphs had: without it, that nothing is wrong with it says nothing.
  package func absences(inGraphs jobs: [JobSnapshot]) -> [String] {
    let lanes = Dictionary(grouping: jobs.filter { $0.lane?.name.hasPrefix("wide") ?? false }, by: \.lane)
    let counts = [
      "two side by side in a lane": lanes.values.map { early(in: $0, width: 1).count }.reduce(0, +),
      "appended": jobs.count { $0.uniqueKey != nil && $0.edges != [] },
      "skipped": jobs.count { $0.state == .skipped },
      "in a batch": jobs.count { $0.batch != nil },
      "after a batch": jobs.count { $0.kind == "completes" },
      "followed": jobs.count { $0.kind == "leads" },
      "in steps": jobs.count { $0.kind == "paces" },
      "in a plan": jobs.count { $0.tags.contains { $0.hasPrefix("plan:") } },
    ]
    return counts.filter { $0.value == 0 }.keys.sorted()
  }
}
