/// What follows from what happened to jobs: part of every verb that changes any.
///
/// A job that returns to a need that can't be met is skipped. A reopened job reopens those that were skipped because of
/// it. An end releases or skips dependents, level by level. Each level is one load, however wide it is.
struct Consequences {
  private var reopening = Reopening()

  /// Nil when nothing more follows.
  mutating func next(_ book: inout Book) -> Needs? {
    if let needs = judgeReturned(&book) ?? reopening.next(&book) { return needs }
    while !book.ended.isEmpty {
      let level = book.ended.filter { book[$0]?.hasChildren ?? false }
      if let needs = book.lacking(Needs(childrenOf: level)) { return needs }
      book.ended = []
      tellChildren(of: level, &book)
    }
    if let needs = giveSeats(&book) { return needs }
    if let needs = book.lacking(Needs(lanes: book.lanes(of: book.paced))) { return needs }
    book.pace()
    return nil
  }

  /// Skips come first, then seats.
  private func giveSeats(_ book: inout Book) -> Needs? {
    let seatless = book.seatless.filter { book[$0]?.seat == false }
    if let needs = book.lacking(Needs(parentsOf: seatless, lanes: book.wantedOfLanes)) { return needs }
    if let needs = book.lackingHeads(of: seatless) { return needs }
    book.passSeatsOn()
    if let needs = book.lacking(Needs(lanes: book.wantedOfLanes)) { return needs }
    for lane in book.lanes.left.sorted() { book.giveSeats(in: lane) }
    return nil
  }

  private func judgeReturned(_ book: inout Book) -> Needs? {
    let returned = book.returned.filter { book[$0]?.hasParents ?? false }
    if let needs = book.lacking(Needs(parentsOf: returned)) { return needs }
    let broken = returned.compactMap { id in book.brokenEdge(of: id).map { (id, $0) } }
    let yielding = returned.filter { book.isSeatedInVain($0) }
    let needs = Needs(jobs: broken.map(\.1.parent), lanes: book.lanes(of: yielding))
    if let needs = book.lacking(needs) { return needs }
    book.returned = []
    for (id, edge) in broken { book.skip(id, because: edge) }
    for id in yielding { book.yieldSeat(id) }
    return nil
  }

  /// One level down. Each child is examined once, however many of its parents ended.
  private func tellChildren(of level: [JobID], _ book: inout Book) {
    var order: [JobID] = []
    var news: [JobID: (ends: Int, broken: Edge?)] = [:]
    for parent in level {
      guard let state = book[parent]?.course.end else { continue }
      for edge in book.children(of: parent) {
        if news[edge.child] == nil { order.append(edge.child) }
        news[edge.child, default: (0, nil)].ends += 1
        if !edge.condition.holds(after: state), parent < news[edge.child]?.broken?.parent ?? JobID(rawValue: .max) {
          news[edge.child]?.broken = edge
        }
      }
    }
    for id in order {
      guard let child = book[id]?.course.state, !child.isFinished, let (ends, broken) = news[id] else { continue }
      if let broken, child != .running {
        book.skip(id, because: broken)
      } else {
        book.change(id) { $0.after.waits -= ends }
        if let row = book[id], row.seat == false, row.waits == 1 { book.seatless.append(id) }
      }
    }
  }
}

/// Reopened jobs, with their skipped descendants level by level; then what each one waits for, computed again.
private struct Reopening {
  /// Jobs whose waits have changed.
  private var touched: Set<JobID> = []
  /// The lanes that jobs enter again, and how many of them have known dependents.
  private var entries: [(lane: String, jobs: [JobID], dependents: Dependents)]?
  private var known = 0

  mutating func next(_ book: inout Book) -> Needs? {
    while !book.reopened.isEmpty {
      let level = book.reopened
      let parents = level.filter { book[$0]?.hasChildren ?? false }
      if let needs = book.lacking(Needs(childrenOf: parents)) { return needs }
      let children = Set(level.flatMap { book.children(of: $0).map(\.child) }).sorted()
      let skipped = children.filter { book[$0]?.course.state == .skipped }
      let needs = Needs(parentsOf: skipped, keys: skipped.compactMap { book[$0]?.unique?.key })
      if let needs = book.lacking(needs) { return needs }
      book.reopened = []
      touched.formUnion(level)
      touched.formUnion(children)
      // A whole level is judged before any of it reopens, and it reopens in order of id.
      for id in skipped.filter({ book.brokenEdge(of: $0) == nil }) {
        if let row = book[id], book.keyOwner(besides: row) != nil { continue }
        let now = book.date
        book.change(id) { $0.after.course.reopen(now: now) }
      }
    }
    guard !touched.isEmpty else { return nil }
    if entries == nil {
      let entering = touched.filter {
        book[$0].map { $0.lane != nil && $0.seat == nil && !$0.course.state.isFinished } ?? false
      }
      entries = Dictionary(grouping: entering) { book[$0]?.lane?.name ?? "" }.sorted { $0.key < $1.key }
        .map { (lane: $0.key, jobs: $0.value, dependents: Dependents(of: $0.value)) }
    }
    while known < entries!.count {
      if let needs = entries![known].dependents.next(&book) { return needs }
      known += 1
    }
    let places = entries!.flatMap(\.jobs)
    let lanes = book.lanes(of: places)
    var yielding = Set(
      entries!.flatMap { entry in
        entry.dependents.all.filter { book.isSeated($0) && book[$0]?.lane?.name == entry.lane }
      })
    let dependent = touched.filter { book[$0].map { $0.hasParents && !$0.course.state.isFinished } ?? false }.sorted()
    if let needs = book.lacking(Needs(parentsOf: dependent, lanes: lanes)) { return needs }
    yielding.formUnion(dependent.filter { book.isSeatedInVain($0) })
    if let needs = book.lacking(Needs(lanes: book.lanes(of: yielding))) ?? book.lackingHeads(of: places) {
      return needs
    }
    for id in yielding.sorted() { book.yieldSeat(id) }
    for id in places.sorted() { book.enterLane(id) }
    for id in Set(dependent).union(places).sorted() {
      let waits = book.liveParents(of: id) + (book[id]?.seat == false ? 1 : 0)
      if waits != book[id]?.waits { book.change(id) { $0.after.waits = waits } }
    }
    self = Reopening()
    return nil
  }
}

/// The jobs that wait for given jobs: directly, through others, or for one of their keys; level by level.
private struct Dependents {
  private(set) var all: Set<JobID> = []
  private var level: [JobID]

  init(of jobs: some Sequence<JobID>) { level = jobs.sorted() }

  /// Nil when all are known.
  mutating func next(_ book: inout Book) -> Needs? {
    while !level.isEmpty {
      let parents = level.filter { book[$0]?.hasChildren ?? false }
      let keys = Set(level.compactMap { book[$0]?.key }).sorted()
      if let needs = book.lacking(Needs(childrenOf: parents, waitersOf: keys)) { return needs }
      let waiters = keys.flatMap { book.waiters(of: $0) }
      if let needs = book.lacking(Needs(jobs: waiters)) { return needs }
      let next = Set(parents.flatMap { book.children(of: $0).map(\.child) } + waiters).subtracting(all)
      level = next.filter { book[$0].map { !$0.course.state.isFinished } ?? false }.sorted()
      all.formUnion(level)
    }
    return nil
  }
}
