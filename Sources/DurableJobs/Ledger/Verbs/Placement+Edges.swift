/// What new jobs wait for.
extension Placement {
  mutating func connect(_ row: NewRow) throws {
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
    }
  }

  private mutating func parent(of edge: JobEdge, _ job: NewJob) throws -> (NewEdge.Parent, JobState) {
    switch edge.target {
    case .job(let id): return try known(id)
    case .sibling(let place):
      try require(
        stands.indices.contains(place),
        "a job of the kind '\(job.kind)' waits for the job at place \(place) of its call, which is not before it: a job "
          + "can wait only for those before it, so that none waits for itself")
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
        level += (keysAwaited[id] ?? []).map { .key($0) }
      case .key(let key): if let bringer = bringers[key] { level.append(.added(bringer.first)) }
      }
    }
  }

  /// A job that brings a key is bound to those that wait for it, so none of them may be among what it needs; nor may that be
  /// in a lane behind as many of them as have seats at once: they would not let it begin. Only a job that brings a key can
  /// be waited for by a job that already exists.
  func checkCircles() throws {
    let firsts = bringers.filter { waiters[$0.key] != nil || awaited.contains($0.key) }.mapValues(\.first)
    guard !firsts.isEmpty else { return }
    var children: [NewEdge.Parent: [Int]] = [:]
    for (place, row) in added.enumerated() where !row.course.state.isFinished {
      for edge in row.edges { children[edge.parent, default: []].append(place) }
    }
    for (key, bringer) in firsts.sorted(by: { $0.value < $1.value }) {
      var needed: [NewEdge.Parent] = []
      try walk(up: [.added(bringer)]) { job in
        if line(of: job) != nil { needed.append(job) }
        var waits = false
        switch job {
        case .added(let place): waits = place != bringer && added[place].edges.contains { $0.parent == .key(key) }
        case .known(let id) where book[id]?.course.state == .succeeded: return false
        case .known(let id): waits = waiters[key]?.contains(id) ?? false
        case .key(let other): waits = other == key
        }
        guard waits else { return true }
        throw JobError(
          .invalidArgument,
          "\(name(of: .added(bringer))) has the key '\(key)', for which \(other(job)) waits, and waits for that itself: "
            + "neither could ever run")
      }
      guard !needed.isEmpty else { continue }
      let waiting = dependents(on: .key(key), children).sorted()
      for job in needed.sorted() {
        guard let line = line(of: job), let waiter = waiting.first(where: { isAhead($0, of: job, in: line) }) else {
          continue
        }
        let width = book.lanes.width(of: line)
        // Others may wait for it in another way.
        let all = width > 1 ? dependents(on: job, children) : [waiter]
        guard all.count(where: { isAhead($0, of: job, in: line) }) >= width else { continue }
        throw JobError(
          .invalidArgument,
          "\(name(of: job)) would stand in the lane '\(line)' behind \(other(waiter)), which waits for it by the key "
            + "'\(key)': neither could ever run")
      }
    }
  }

  /// The lane in which it waits for a seat.
  private func line(of job: NewEdge.Parent) -> String? {
    switch job {
    case .known(let id):
      book[id].flatMap { $0.seat == false && !$0.course.state.isFinished ? $0.lane?.name : nil }
    case .added(let place): added[place].seat == false ? added[place].job.terms.lane?.name : nil
    case .key: nil
    }
  }

  private func name(of job: NewEdge.Parent) -> String {
    switch job {
    case .known(let id): "job \(id)"
    case .added(let place): "a job of the kind '\(added[place].job.kind)'"
    case .key(let key): "a job with the key '\(key)'"
    }
  }

  /// As ``name(of:)``, where a job of the call was named already.
  private func other(_ job: NewEdge.Parent) -> String {
    switch job {
    case .known: name(of: job)
    case .added: "another job of this call"
    case .key: "it"
    }
  }

  /// Whether it stands in a lane before a job that waits for a seat there.
  private func isAhead(_ other: NewEdge.Parent, of job: NewEdge.Parent, in lane: String) -> Bool {
    switch other {
    case .known(let id):
      guard let row = book[id], row.lane?.name == lane, let isSeated = row.seat else { return false }
      return row.course.state != .running && !row.course.state.isFinished && (isSeated || other < job)
    case .added(let place):
      return added[place].job.terms.lane?.name == lane && added[place].seat != nil && other < job
    case .key: return false
    }
  }

  /// A job, or a key that arrives now, and all that would wait for it if they were reopened. `children`: the new ones, by
  /// what they need.
  private func dependents(on first: NewEdge.Parent, _ children: [NewEdge.Parent: [Int]]) -> Set<NewEdge.Parent> {
    var all: Set<NewEdge.Parent> = []
    var level = [first]
    while let job = level.popLast() {
      guard all.insert(job).inserted else { continue }
      level += (children[job] ?? []).map { .added($0) }
      switch job {
      case .known(let id) where book[id]?.course.state == .succeeded: break
      case .known(let id): level += book.children(of: id).map { .known($0.child) }
      case .added(let place):
        if let key = added[place].job.terms.key, bringers[key]?.first == place { level.append(.key(key)) }
      case .key(let key): level += (waiters[key] ?? []).map { .known($0) }
      }
    }
    return all
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
