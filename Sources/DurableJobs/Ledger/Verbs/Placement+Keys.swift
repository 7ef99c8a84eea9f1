/// What happens to new jobs whose unique keys others have, and to those others.
extension Placement {
  /// All that must go, before any of the jobs that replace them is stored.
  mutating func replace() throws {
    let now = book.date
    for case let unique? in jobs.lazy.map(\.terms.unique) where unique.policy == .replace && replaced[unique.key] == nil
    {
      replaced[unique.key] = unfinishedOwners(of: unique.key)
      for id in unfinishedOwners(of: unique.key) {
        guard let row = book[id], row.course.stopAsked != .cancelled else { continue }
        book.change(id) { change in
          try? change.after.course.apply(
            .cancel(reason: "replaced by another of its unique key, '\(unique.key)'"), now: now)
          change.concernsClaim = row.course.state == .running
        }
      }
    }
    if replaced.isEmpty { return }
    try book.follow()
    // A job that was replaced, or skipped because of that, no longer brings a key.
    while case let gone = named.filter({ isGone($0.value) }).keys.sorted(), !gone.isEmpty {
      for key in gone { named[key] = nil }
      let others = try book.load(Needs(named: gone, namedBesides: book.endedHere))
      named.merge(others?.named ?? [:]) { $1 }
    }
  }

  private func isGone(_ id: JobID) -> Bool {
    book[id].map { $0.course.state.isFinished && $0.course.state != .succeeded } ?? false
  }

  private func unfinishedOwners(of key: String) -> [JobID] {
    book.owners(of: key).filter { id in book[id].map { !$0.course.state.isFinished } ?? false }
  }

  /// The job that stands for one whose key others have; else what the job must wait for, and what happened to it.
  /// `placed` are those of this call that have the key.
  mutating func meet(
    _ unique: UniqueKey, _ job: inout NewJob, placed: Placed?
  ) throws -> (stand: Stand?, disposition: InsertedJob.Disposition) {
    switch unique.policy {
    case .keep:
      if let placed { return (stands[placed.newest].job, .kept) }
      if let owner = book.owners(of: unique.key).last { return (.known(owner), .kept) }
    case .append:
      let owner = unfinishedOwners(of: unique.key).last
      guard let target = placed?.unfinished.map({ .sibling($0) }) ?? owner.map({ JobEdge.Target.job($0) }) else {
        break
      }
      job.edges.append(JobEdge(target))
      return (nil, .appended)
    case .replace:
      try require(
        placed?.unfinished == nil,
        "two jobs of one call have the unique key '\(unique.key)', and the second is to replace the first: enqueue only that"
      )
      job.edges += unfinishedOwners(of: unique.key).map { JobEdge(.job($0), .ended) }
      if let gone = replaced[unique.key], !gone.isEmpty { return (nil, .replaced) }
    }
    return (nil, .inserted)
  }
}
