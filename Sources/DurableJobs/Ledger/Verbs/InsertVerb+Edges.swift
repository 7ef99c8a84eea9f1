/// What new jobs wait for.
extension InsertVerb {
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
      switch stands[place] {
      case .kept(let id): return try known(id)
      case .added(let index, _), .keptAdded(let index):
        request.add[index].hasChildren = true
        return (.added(index), request.add[index].course.end)
      }
    case .key(let key):
      if let newest = bringers[key] {
        request.add[newest].hasChildren = true
        return (.added(newest), request.add[newest].course.end)
      }
      awaited.insert(key)
      return try named[key].map { try known($0) } ?? (.key(key), .blocked)
    }
  }

  /// A job that brings a key is bound to those that wait for it: none of them may be among what it waits for itself.
  private func checkCircle(_ row: NewRow) throws {
    guard let key = row.job.terms.key, firstBringers[key] == nil, waiters[key] != nil || awaited.contains(key) else {
      return
    }
    var seen: Set<NewEdge.Parent> = []
    var level = row.edges.map(\.parent)
    while let parent = level.popLast() {
      guard seen.insert(parent).inserted else { continue }
      var waiter: String?
      switch parent {
      case .added(let index):
        level += request.add[index].edges.map(\.parent)
        if request.add[index].edges.contains(where: { $0.parent == .key(key) }) { waiter = "another job of this call" }
      case .known(let id):
        if book[id]?.course.state == .succeeded { continue }
        level += book.needed(by: id).map { .known($0) }
        for (awaited, all) in waiters where all.contains(id) {
          if awaited == key { waiter = "job \(id)" }
          if let bringer = firstBringers[awaited] { level.append(.added(bringer)) }
        }
      case .key(let other):
        if other == key { waiter = "it" }
        if let bringer = firstBringers[other] { level.append(.added(bringer)) }
      }
      guard let waiter else { continue }
      throw JobError(
        .invalidArgument,
        "a job of the kind '\(row.job.kind)' has the key '\(key)', for which \(waiter) waits, and waits for that itself: "
          + "neither could ever run")
    }
  }

  /// Nor does one that brings a key come behind those that wait for it in a lane: they would not let it begin.
  func checkLine(_ row: NewRow, _ lane: String) throws {
    guard let key = row.job.terms.key, firstBringers[key] == nil else { return }
    var known: Set<JobID> = []
    var level = Array(waiters[key] ?? [])
    var waiter: String?
    while let id = level.popLast() {
      guard known.insert(id).inserted else { continue }
      level += book.children(of: id).map(\.child)
      guard let other = book[id], other.lane?.name == lane, other.seat != nil, other.course.state != .running,
        !other.course.state.isFinished
      else { continue }
      waiter = "job \(id)"
    }
    var added: Set<NewEdge.Parent> = [.key(key)]
    for (index, other) in request.add.enumerated() {
      let waits = other.edges.contains { added.contains($0.parent) || $0.known.map(known.contains) ?? false }
      guard waits, !other.course.state.isFinished else { continue }
      added.insert(.added(index))
      if other.job.terms.lane?.name == lane { waiter = "another job of this call" }
    }
    guard let waiter else { return }
    throw JobError(
      .invalidArgument,
      "a job of the kind '\(row.job.kind)' has the key '\(key)', for which \(waiter) waits before it in the lane "
        + "'\(lane)': neither could ever run")
  }

  private mutating func known(_ id: JobID) throws -> (NewEdge.Parent, JobState) {
    guard let row = book[id] else { throw JobError(.notFound, "there is no job \(id) to wait for") }
    if !row.hasChildren { book.change(id) { $0.after.hasChildren = true } }
    return (.known(id), row.course.end)
  }

  /// Of the new ones, only one that is skipped itself has ended.
  private func need(_ parent: NewEdge.Parent) -> BrokenNeed {
    switch parent {
    case .known(let id): book[id].map { BrokenNeed($0) } ?? BrokenNeed(removed: id)
    case .added(let index):
      BrokenNeed(of: request.add[index].course)
    case .key(let key): BrokenNeed(removed: named[key] ?? JobID(rawValue: 0))
    }
  }
}
