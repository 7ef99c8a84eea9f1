/// What new jobs wait for.
extension Placement {
  mutating func connect(_ row: inout NewRow) throws {
    var broken: NewEdge.Parent?
    var known: Set<NewEdge> = []
    for edge in row.job.edges {
      let (parent, state) = try parent(of: edge, row.job)
      let new = NewEdge(parent: parent, condition: edge.condition, slot: edge.slot)
      guard known.insert(new).inserted else { continue }
      row.edges.append(new)
      if !state.isFinished {
        row.waits += 1
      } else if !edge.condition.holds(after: state), broken.map({ parent < $0 }) ?? true {
        broken = parent
      }
    }
    if let broken = broken.map(need) {
      row.waits = 0
      row.course.skip(because: broken.reason, cause: broken.job, isAfterFailure: broken.isAfterFailure)
    } else {
      row.course.stand(waits: row.waits, now: book.date)
      try checkCircle(row)
    }
  }

  private mutating func parent(of edge: JobEdge, _ job: NewJob) throws -> (NewEdge.Parent, JobState) {
    switch edge.target {
    case .job(let id): return try known(id)
    case .sibling(let place):
      guard stands.indices.contains(place) else {
        throw JobError(
          .invalidArgument,
          "a job of the kind '\(job.kind)' waits for the job at place \(place) of its call, which is not before it: a job "
            + "can wait only for those before it, so that none waits for itself")
      }
      switch stands[place].job {
      case .known(let id): return try known(id)
      case .added(let index): return here(index)
      }
    case .key(let key):
      if let bringer = bringers[key] { return here(bringer.newest) }
      awaited.insert(key)
      return try named[key].map { try known($0) } ?? (.key(key), .blocked)
    }
  }

  /// A job that brings a key is bound to those that wait for it, so none of them may be among what it waits for.
  private func checkCircle(_ row: NewRow) throws {
    guard let key = row.job.terms.key, bringers[key] == nil, waiters[key] != nil || awaited.contains(key) else {
      return
    }
    try walk(up: row.edges.map(\.parent)) { parent in
      var waiter: String?
      switch parent {
      case .added(let place):
        if added[place].edges.contains(where: { $0.parent == .key(key) }) { waiter = "another job of this call" }
      case .known(let id):
        if book[id]?.course.state == .succeeded { return false }
        if waiters[key]?.contains(id) ?? false { waiter = "job \(id)" }
      case .key(let other): if other == key { waiter = "it" }
      }
      guard let waiter else { return true }
      throw JobError(
        .invalidArgument,
        "a job of the kind '\(row.job.kind)' has the key '\(key)', for which \(waiter) waits, and waits for that itself: "
          + "neither could ever run")
    }
  }

  /// Visits these, what they wait for, and so on, each one once; it stops at those for which `look` returns false.
  private func walk(up level: [NewEdge.Parent], _ look: (NewEdge.Parent) throws -> Bool) rethrows {
    var level = level
    var seen: Set<NewEdge.Parent> = []
    while let parent = level.popLast() {
      guard seen.insert(parent).inserted, try look(parent) else { continue }
      switch parent {
      case .added(let place): level += added[place].edges.map(\.parent)
      case .known(let id):
        level += book.needed(by: id).map { .known($0) }
        level += waiters.lazy.filter { $0.value.contains(id) }.map { .key($0.key) }
      case .key(let key): if let bringer = bringers[key] { level.append(.added(bringer.first)) }
      }
    }
  }

  /// Nor may one be behind jobs that wait for it in a lane: they would not let it begin. Only a job that brings a key
  /// can be waited for by a job that already exists.
  func checkLines() throws {
    guard added.contains(where: { $0.seat == false }) else { return }
    for (key, bringer) in bringers.mapValues(\.first).sorted(by: { $0.value < $1.value })
    where waiters[key] != nil || awaited.contains(key) {
      var needed: Set<Int> = []
      walk(up: [.added(bringer)]) { parent in
        if case .added(let place) = parent, added[place].seat == false { needed.insert(place) }
        return true
      }
      guard !needed.isEmpty else { continue }
      let dependents = dependents(onKey: key)
      for place in needed.sorted() {
        guard let lane = added[place].job.terms.lane?.name else { continue }
        let known = dependents.known.sorted().first { id in
          guard let row = book[id], row.lane?.name == lane, row.seat != nil else { return false }
          return row.course.state != .running && !row.course.state.isFinished
        }
        let isBehindNew = dependents.new.contains { other in
          other < place && added[other].job.terms.lane?.name == lane && added[other].seat != nil
        }
        guard let waiter = known.map({ "job \($0)" }) ?? (isBehindNew ? "another job of this call" : nil) else {
          continue
        }
        throw JobError(
          .invalidArgument,
          "a job of the kind '\(added[place].job.kind)' would stand in the lane '\(lane)' behind \(waiter), which waits "
            + "for it by the key '\(key)': neither could ever run")
      }
    }
  }

  /// The jobs that wait for a key that arrives now, and their dependents.
  private func dependents(onKey key: String) -> (known: Set<JobID>, new: Set<Int>) {
    var (known, new): (Set<JobID>, Set<Int>) = ([], [])
    var keys: Set = [key]
    var level = Array(waiters[key] ?? [])
    while true {
      while let id = level.popLast() {
        if known.insert(id).inserted { level += book.children(of: id).map(\.child) }
      }
      var isAll = true
      for (place, row) in added.enumerated() where !new.contains(place) && !row.course.state.isFinished {
        let waits = row.edges.contains { edge in
          switch edge.parent {
          case .known(let id): known.contains(id)
          case .added(let other): new.contains(other)
          case .key(let other): keys.contains(other)
          }
        }
        guard waits else { continue }
        new.insert(place)
        if let key = row.job.terms.key, bringers[key]?.first == place, keys.insert(key).inserted {
          level += waiters[key] ?? []
          isAll = false
        }
      }
      if isAll { return (known, new) }
    }
  }

  private mutating func known(_ id: JobID) throws -> (NewEdge.Parent, JobState) {
    guard let row = book[id] else { throw JobError(.notFound, "there is no job \(id) to wait for") }
    if !row.hasChildren { book.change(id) { $0.after.hasChildren = true } }
    return (.known(id), row.course.end)
  }

  private mutating func here(_ index: Int) -> (NewEdge.Parent, JobState) {
    added[index].hasChildren = true
    return (.added(index), added[index].course.end)
  }

  /// Of the new jobs, only one that is skipped itself has ended, and a job for a key that is to come has not.
  private func need(_ parent: NewEdge.Parent) -> BrokenNeed {
    let none = JobID(rawValue: 0)
    return switch parent {
    case .known(let id):
      book[id].map { BrokenNeed($0.course, of: id, kind: $0.kind) } ?? BrokenNeed(removed: id)
    case .added(let index): BrokenNeed(added[index].course, of: none, kind: added[index].job.kind)
    case .key: BrokenNeed(removed: none)
    }
  }
}
