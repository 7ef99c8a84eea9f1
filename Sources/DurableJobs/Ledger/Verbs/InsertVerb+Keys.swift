/// What becomes of new jobs whose unique keys others have, and of those.
extension InsertVerb {
  /// All that have to go, before any of those that replace them comes.
  mutating func replace() {
    let now = book.date
    for case let unique? in jobs.lazy.map(\.terms.unique) where unique.policy == .replace && replaced[unique.key] == nil
    {
      replaced[unique.key] = unfinishedOwners(of: unique.key)
      for id in unfinishedOwners(of: unique.key) {
        guard let row = book[id] else { continue }
        book.change(id) { change in
          try? change.after.course.apply(
            .cancel(reason: "replaced by another of its unique key, '\(unique.key)'"), now: now)
          change.concernsClaim = row.course.state == .running
        }
        if row.isHeld { book.changes.asked.insert(row.claim.worker) }
      }
    }
  }

  /// Who was replaced, or skipped because of that, brings no key any more.
  mutating func followReplacement(_ answer: LedgerReply) -> Needs? {
    if replaced.isEmpty { return nil }
    if let needs = book.follow() { return needs }
    named.merge(answer.named) { $1 }
    let gone = named.filter {
      book[$0.value].map { $0.course.state.isFinished && $0.course.state != .succeeded } ?? false
    }
    for key in gone.keys { named[key] = nil }
    return gone.isEmpty ? nil : Needs(named: gone.keys.sorted(), namedBesides: book.endedHere)
  }

  private func unfinishedOwners(of key: String) -> [JobID] {
    book.owners(of: key).filter { id in book[id].map { !$0.course.state.isFinished } ?? false }
  }

  private func isUnfinished(_ place: Int) -> Bool {
    guard case .added(let index, _) = stands[place] else { return false }
    return !request.add[index].course.state.isFinished
  }

  /// Who stands for a job whose key others have; else what the job is to wait for, and what became of it. `placed` is the
  /// newest of this call that has the key.
  mutating func meet(
    _ unique: UniqueKey, _ job: inout NewJob, placed: Int?
  ) throws -> (stand: Stand?, disposition: InsertedJob.Disposition) {
    switch unique.policy {
    case .keep:
      if let placed, case .added(let index, _) = stands[placed] { return (.keptAdded(index), .kept) }
      return (book.owners(of: unique.key).last.map { .kept($0) }, .inserted)
    case .append:
      let owner = unfinishedOwners(of: unique.key).last
      let sibling = placed.flatMap { isUnfinished($0) ? JobEdge.Target.sibling($0) : nil }
      guard let target = sibling ?? owner.map({ .job($0) }) else { break }
      job.edges.append(JobEdge(target))
      return (nil, .appended)
    case .replace:
      guard placed == nil else {
        throw JobError(
          .invalidArgument,
          "two jobs of one call have the unique key '\(unique.key)', and the second is to replace the first: enqueue only that"
        )
      }
      job.edges += unfinishedOwners(of: unique.key).map { JobEdge(.job($0), .ended) }
      if let gone = replaced[unique.key], !gone.isEmpty { return (nil, .replaced) }
    }
    return (nil, .inserted)
  }
}
