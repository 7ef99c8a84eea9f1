/// What follows from what happened to jobs: part of every verb that changes any.
///
/// A job that returns to a need that can't be met is skipped. A reopened job reopens those that were skipped because of
/// it, or skips them anew because of another. An end releases or skips dependents, level by level. Each level is one
/// load, however wide it is. A suspended job is skipped once it is resumed, so that no retry makes it run before.
extension Book {
  mutating func follow() throws {
    try reopenDescendants()
    try judgeReturned()
    while !ended.isEmpty {
      let level = ended.filter { self[$0]?.hasChildren ?? false }
      ended = []
      try load(Needs(childrenOf: level))
      tellChildren(of: level)
    }
    try placeReopened()
    try giveSeats()
    try load(Needs(lanes: lanes(of: paced)))
    pace()
  }

  private mutating func judgeReturned() throws {
    let back = returned.filter { self[$0]?.hasParents ?? false }
    returned = []
    try load(Needs(parentsOf: back))
    let broken = firstBroken(of: back.filter { self[$0]?.course.state != .suspended })
    let yielding = back.filter { isSeatedInVain($0) }
    try load(Needs(jobs: broken.map(\.1.parent), lanes: lanes(of: yielding)))
    for (id, edge) in broken { skip(id, because: edge) }
    for id in yielding { yieldSeat(id) }
  }

  /// One level down. Each child is examined once, however many of its parents ended.
  private mutating func tellChildren(of level: [JobID]) {
    var order: [JobID] = []
    var news: [JobID: (ends: Int, broken: Edge?)] = [:]
    for parent in level {
      guard let state = self[parent]?.course.end, state.isFinished else { continue }
      for edge in children(of: parent) {
        if news[edge.child] == nil { order.append(edge.child) }
        news[edge.child, default: (0, nil)].ends += 1
        if !edge.condition.holds(after: state), parent < news[edge.child]?.broken?.parent ?? JobID(rawValue: .max) {
          news[edge.child]?.broken = edge
        }
      }
    }
    for id in order {
      guard let child = self[id]?.course.state, !child.isFinished, let (ends, broken) = news[id] else { continue }
      if let broken, child != .running, child != .suspended {
        skip(id, because: broken)
      } else {
        change(id) { $0.after.waits -= ends }
        if let row = self[id], row.seat == false, row.waits == 1 { seatless.append(id) }
      }
    }
  }

  /// Once all skips are made. How many seats are free is known only when a lane is loaded.
  private mutating func giveSeats() throws {
    let waiting = seatless.filter { self[$0]?.seat == false }
    while try load(Needs(parentsOf: waiting, lanes: wantedOfLanes)) != nil {}
    try loadHeads(of: waiting)
    passSeatsOn()
    while try load(Needs(lanes: wantedOfLanes)) != nil {}
    for lane in lanes.left.sorted() { giveSeats(in: lane) }
  }

  // MARK: Reopened jobs

  /// Computes again what reopened jobs and their dependents wait for, once all ends are told.
  private mutating func placeReopened() throws {
    guard !touched.isEmpty else { return }
    defer { touched = [] }
    let entering = touched.filter {
      self[$0].map { $0.lane != nil && $0.seat == nil && !$0.course.state.isFinished } ?? false
    }
    var yielding: Set<JobID> = []
    _ = try dependents(of: Array(entering))  // loads those of all lanes at once
    let byLane = Dictionary(grouping: entering) { self[$0]?.lane?.name ?? "" }
    for (lane, jobs) in byLane.sorted(by: { $0.key < $1.key }) {
      yielding.formUnion(try dependents(of: jobs).filter { isSeated($0) && self[$0]?.lane?.name == lane })
    }
    let dependent = touched.filter { self[$0].map { $0.hasParents && !$0.course.state.isFinished } ?? false }.sorted()
    try load(Needs(parentsOf: dependent, lanes: lanes(of: entering)))
    yielding.formUnion(dependent.filter { isSeatedInVain($0) })
    try load(Needs(lanes: lanes(of: yielding)))
    try loadHeads(of: entering)
    for id in yielding.sorted() { yieldSeat(id) }
    for id in entering.sorted() { enterLane(id) }
    for id in Set(dependent).union(entering).sorted() {
      let waits = liveParents(of: id) + (self[id]?.seat == false ? 1 : 0)
      if waits != self[id]?.waits { change(id) { $0.after.waits = waits } }
      if waits == 1, self[id]?.seat == false { seatless.append(id) }
    }
  }

  /// Reopens, level by level, the skipped jobs below reopened ones of which no need is broken any more. One that has
  /// another such need is skipped because of that from then on, and so is what depends on it.
  mutating func reopenDescendants() throws {
    var level = reopened
    let now = date
    while !level.isEmpty {
      reopened = []
      try load(Needs(childrenOf: level.filter { self[$0]?.hasChildren ?? false }))
      let below = Set(level.flatMap { children(of: $0).map(\.child) }).sorted()
      let skipped = below.filter { self[$0]?.course.state == .skipped }
      touched.formUnion(level + below)
      // A whole level is judged before any of it reopens, and it reopens in order of id.
      let judged = below.filter { [.skipped, .blocked, .scheduled, .ready].contains(self[$0]?.course.state) }
      let keys = skipped.compactMap { self[$0]?.unique?.key }
      try load(Needs(parentsOf: judged, keys: keys))
      try loadWants(of: keys)
      let broken = firstBroken(of: judged)
      try load(Needs(jobs: broken.map(\.1.parent)))
      let skippedAnew = broken.filter { skip($0, because: $1) }.map(\.0)
      for id in Set(skipped).subtracting(broken.map(\.0)).sorted() {
        guard let row = self[id], keyOwner(besides: row) == nil else { continue }
        change(id) { $0.after.course.reopen(now: now) }
      }
      level = reopened + skippedAnew
    }
  }

  /// The jobs that wait for these: directly, through others, or for one of their keys.
  private mutating func dependents(of jobs: [JobID]) throws -> Set<JobID> {
    var all: Set<JobID> = []
    var level = jobs.sorted()
    while !level.isEmpty {
      let parents = level.filter { self[$0]?.hasChildren ?? false }
      let keys = Set(level.compactMap { self[$0]?.key }).sorted()
      try load(Needs(childrenOf: parents, waitersOf: keys))
      let waiting = keys.flatMap { waiters(of: $0) }
      try load(Needs(jobs: waiting))
      let next = Set(parents.flatMap { children(of: $0).map(\.child) } + waiting).subtracting(all)
      level = next.filter { self[$0].map { !$0.course.state.isFinished } ?? false }.sorted()
      all.formUnion(level)
    }
    return all
  }
}
