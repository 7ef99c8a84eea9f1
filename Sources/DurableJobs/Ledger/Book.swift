import Foundation

/// What a verb has read and decided: rows as they will be, over rows as they were. A row that is already here is never
/// replaced with one that is loaded later. What a function looks at beside a job must have been requested: its edges
/// and the rows at their other ends, its lane, its unique key.
struct Book {
  private let ledger: any JobLedger
  /// Milliseconds since 1970.
  let now: Int64
  private var rows: [JobID: RowChange] = [:]
  private var changed: [JobID] = []
  /// Jobs that were removed, which the ledger does not know yet.
  private var gone: Set<JobID> = []
  private var asked: Set<JobID> = []
  /// Ascending.
  private var owners: [String: [JobID]] = [:]
  /// By skipped owner of a key: what broke the needs because of which it was skipped.
  private var wantedBy: [JobID: Set<JobID>] = [:]
  private var childrenOf: [JobID: [Edge]] = [:]
  private var parentsOf: [JobID: [Edge]] = [:]
  private var waitersOf: [String: [JobID]] = [:]
  var lanes = Lanes()
  /// Changes that do not concern a job that stays.
  var changes = Changes()

  /// Jobs that now wait only for a seat.
  var seatless: [JobID] = []
  /// Jobs whose end of the attempt has been counted.
  private var counted: Set<JobID> = []

  // What happened to jobs since ``follow()`` last looked.
  var ended: [JobID] = []
  /// They ran or were suspended, and will run again.
  var returned: [JobID] = []
  /// Jobs that had ended, and were reopened.
  var reopened: [JobID] = []
  /// Those, and what waits for them.
  var touched: Set<JobID> = []

  init(_ ledger: any JobLedger) { (self.ledger, now) = (ledger, ledger.now) }

  var date: Date { Date(milliseconds: now) }

  // MARK: Exchanges

  /// Loads the part of `wanted` that was not requested yet; nil if there is none.
  @discardableResult
  mutating func load(_ wanted: Needs) throws -> LedgerReply? {
    let needs = lacking(wanted)
    return needs.isEmpty ? nil : try took(ledger.exchange(LedgerRequest(load: needs)))
  }

  /// The same, with what else is requested.
  mutating func exchange(_ request: LedgerRequest) throws -> LedgerReply {
    var request = request
    request.load = lacking(request.load)
    return try took(ledger.exchange(request))
  }

  private mutating func lacking(_ wanted: Needs) -> Needs {
    var needs = wanted
    needs.jobs = wanted.jobs.filter { asked.insert($0).inserted }
    needs.keys = wanted.keys.filter { owners.updateValue(owners[$0] ?? [], forKey: $0) == nil }
    needs.childrenOf = wanted.childrenOf.filter { childrenOf.updateValue(childrenOf[$0] ?? [], forKey: $0) == nil }
    needs.parentsOf = wanted.parentsOf.filter { parentsOf.updateValue(parentsOf[$0] ?? [], forKey: $0) == nil }
    needs.waitersOf = wanted.waitersOf.filter { waitersOf.updateValue(waitersOf[$0] ?? [], forKey: $0) == nil }
    needs.lanes = lanes.lacking(wanted.lanes)
    return needs
  }

  private mutating func took(_ answer: LedgerReply) -> LedgerReply {
    rows.reserveCapacity(rows.count + answer.jobs.count)
    for row in answer.jobs where rows[row.id] == nil && !gone.contains(row.id) { rows[row.id] = RowChange(row) }
    owners.merge(answer.owners) { $1 }
    waitersOf.merge(answer.waiters) { $1 }
    for edge in answer.children { childrenOf[edge.parent, default: []].append(edge) }
    lanes.add(answer.lanes)
    for edge in answer.parents { parentsOf[edge.child, default: []].append(edge) }
    return answer
  }

  /// Ends a verb: finds what follows, then saves everything.
  mutating func conclude() throws {
    try follow()
    if let changes = decided { _ = try ledger.exchange(LedgerRequest(save: changes)) }
  }

  /// All decisions; nil if there are none.
  var decided: Changes? {
    var all = changes
    all.jobs = changed.compactMap { rows[$0] }
    all.paces = lanes.paces
    return all.isEmpty ? nil : all
  }

  // MARK: Rows

  subscript(id: JobID) -> JobRow? { rows[id]?.after }

  /// The jobs that have this unique key, as far as they were requested, ascending.
  func owners(of key: String) -> [JobID] { owners[key] ?? [] }

  /// The job that keeps a finished job from taking its unique key: not one that it was appended to, nor one that was
  /// skipped for want of it. For the key, ``loadWants(of:)`` too.
  func keyOwner(besides row: JobRow) -> JobID? {
    guard let owners = row.unique.map({ owners(of: $0.key) }), var owner = owners.last else { return nil }
    if self[owner]?.course.state == .skipped, wantedBy[owner]?.contains(row.id) ?? false {
      owner = owners.last { self[$0]?.course.state.isFinished == false } ?? row.id
    }
    return owner == row.id || (parentsOf[row.id] ?? []).contains { $0.parent == owner } ? nil : owner
  }

  /// Loads for want of which jobs, level by level, the owners of these keys were skipped.
  mutating func loadWants(of keys: [String]) throws {
    try load(Needs(jobs: keys.flatMap { owners(of: $0) }))
    var level = keys.compactMap { owners(of: $0).last }.filter { wantedBy[$0] == nil }.map { (owner: $0, job: $0) }
    while case let skipped = level.filter({ self[$0.job]?.course.state == .skipped }), !skipped.isEmpty {
      try load(Needs(parentsOf: skipped.map(\.job)))
      level = skipped.flatMap { owner, job in
        let parents = brokenEdges(of: job).map(\.parent)
        return parents.filter { wantedBy[owner, default: []].insert($0).inserted }.map { (owner, $0) }
      }
      try load(Needs(jobs: level.map(\.job)))
    }
  }

  func children(of id: JobID) -> [Edge] { childrenOf[id] ?? [] }

  /// The jobs that wait for one with this key.
  func waiters(of key: String) -> [JobID] { waitersOf[key] ?? [] }

  /// The jobs that it waits for, or would if they were reopened: none if it succeeded.
  func needed(by id: JobID) -> [JobID] {
    if self[id]?.course.state == .succeeded { return [] }
    return (parentsOf[id] ?? []).filter { edge in end(of: edge).map { $0 != .succeeded } ?? false }.map(\.parent)
  }

  /// Whether it had ended, and lives again.
  func isReopened(_ id: JobID) -> Bool {
    rows[id].map { $0.before.course.state.isFinished && !$0.after.course.state.isFinished } ?? false
  }

  var endedHere: [JobID] {
    changed.filter { rows[$0].map { !$0.before.course.state.isFinished && $0.after.course.state.isFinished } ?? false }
  }

  mutating func change<R>(_ id: JobID, _ body: (inout RowChange) throws -> R) rethrows -> R? {
    guard var change = rows[id] else { return nil }
    let old = change.after.course.state
    let result = try body(&change)
    if !change.isTouched {
      change.isTouched = true
      changed.append(id)
    }
    follow(&change, from: old)
    rows[id] = change
    return result
  }

  /// Ends its attempt, or the job, as `body` does, which is given the time and returns the failure to keep.
  mutating func end(_ id: JobID, concernsClaim: Bool = false, _ body: (inout JobCourse, Date) -> String?) {
    let now = date
    change(id) { change in
      let attempt = change.after.course.attempt
      change.failure = body(&change.after.course, now).map { AttemptFailure(attempt: attempt, at: now, message: $0) }
      change.concernsClaim = concernsClaim
    }
  }

  /// Makes it ready again without using an attempt.
  mutating func giveBack(_ id: JobID, _ policy: StorePolicy, concernsClaim: Bool = false) {
    end(id, concernsClaim: concernsClaim) { $0.settle(.interrupted, now: $1, policy: policy, random: 0) }
  }

  /// An unfinished job that needs this one, or what it brought, and is not removed itself.
  func needer(of id: JobID, except going: Set<JobID> = []) -> JobID? {
    children(of: id).map(\.child).filter { child in
      guard let state = self[child]?.course.state, !state.isFinished else { return false }
      return state == .running || !going.contains(child)
    }.min()
  }

  /// The job that needs it, or would need what it brought if it were retried.
  func keeper(of id: JobID) -> JobID? {
    needer(of: id)
      ?? children(of: id).first { edge in
        edge.slot != nil && self[edge.child].map { $0.course.state != .succeeded } ?? false
      }?.child
  }

  /// A removal never releases a dependent: one that was skipped or cancelled is not run by a retry.
  mutating func remove(_ id: JobID) {
    guard let row = rows.removeValue(forKey: id) else { return }
    changes.removed.append(row.before)
    gone.insert(id)
    lanes.leave(row.after)
    for edge in children(of: id)
    where self[edge.child].map({ $0.course.state.isFinished && $0.course.state != .succeeded }) ?? false {
      if !edge.condition.holds(after: row.before.course.end) { changes.neverMet.append(edge) }
    }
    if let key = row.before.unique?.key { owners[key]?.removeAll { $0 == id } }
  }

  /// Applies what follows from any change, whichever rule made it.
  private mutating func follow(_ change: inout RowChange, from old: JobState) {
    let wasFinished = old.isFinished
    if wasFinished, !change.after.course.state.isFinished { change.after.waits = 0 }
    if wasFinished != change.after.course.state.isFinished, let deadline = change.after.deadline {
      change.after.isTimed = wasFinished && deadline.date > date
    }
    if change.after.course.state == .succeeded { change.after.hasSteps = false }
    change.after.course.stand(waits: change.after.waits, now: date)
    let (id, new) = (change.before.id, change.after.course.state)
    if new != old, new != .running, !change.isOwnEnd { change.after.claim.void() }
    // A skipped job keeps its number of waits, to write less: it is computed again if the job is reopened.
    if new.isFinished, new != .skipped { change.after.waits = 0 }
    if new != old, old == .running || old == .suspended, !new.isFinished, new != .running { returned.append(id) }
    guard wasFinished != new.isFinished else { return }
    if new.isFinished {
      let isHead = change.after.seat == true && new == .failed && change.after.lane?.failedHead == .holds
      if !isHead {
        lanes.leave(change.after)
        change.after.seat = nil
      }
      ended.append(id)
    } else {
      reopened.append(id)
    }
    guard let unique = change.before.unique else { return }
    owners[unique.key]?.removeAll { $0 == id }
    if unique.isHeld(in: new, at: now) { owners[unique.key] = (owners(of: unique.key) + [id]).sorted() }
  }

  // MARK: Lanes

  /// The lanes of these jobs, to be requested.
  func lanes(of jobs: some Sequence<JobID>) -> [String: Int] {
    Dictionary(jobs.compactMap { self[$0]?.lane.map { ($0.name, 0) } }) { count, _ in count }
  }

  mutating func enterLane(_ id: JobID) {
    guard let row = self[id], let lane = row.lane, row.seat == nil else { return }
    let parents = liveParents(of: id) > 0 ? [] : (parentsOf[id] ?? []).map(\.parent)
    let seat = lanes.enter(lane.name, id) || takeSeat(in: lane.name, of: parents)
    change(id) { $0.after.seat = seat }
  }

  /// Loads the failed jobs that these were to run after, or that caused the skips.
  mutating func loadHeads(of jobs: some Sequence<JobID>) throws {
    let failed = jobs.flatMap { id in (parentsOf[id] ?? []).filter { end(of: $0) == .failed }.map(\.parent) }.sorted()
    try load(Needs(jobs: failed))
    try load(Needs(jobs: failed.compactMap { self[$0]?.course.cause }))
  }

  /// A failed job that holds its lane does not block a job that was to run after its end, or after the end of what was
  /// skipped because of it: it passes its seat to that job.
  mutating func takeSeat(in lane: String, of parents: [JobID]) -> Bool {
    let head = parents.map { self[$0]?.course.cause ?? $0 }.sorted().first { id in
      self[id].map { $0.seat == true && $0.course.state == .failed && $0.lane?.name == lane } ?? false
    }
    if let head { change(head) { $0.after.seat = nil } }
    return head != nil
  }

  /// Only to those that wait for nothing else: one that also waits for others might wait for one behind it in the lane.
  mutating func passSeatsOn() {
    for id in seatless.sorted() {
      guard let row = self[id], row.seat == false, row.waits == 1, let lane = row.lane?.name, brokenEdge(of: id) == nil,
        takeSeat(in: lane, of: (parentsOf[id] ?? []).map(\.parent))
      else { continue }
      lanes.passed(lane)
      seat(id)
    }
    seatless = []
  }

  private mutating func seat(_ id: JobID) {
    change(id) { ($0.after.seat, $0.after.waits) = (true, $0.after.waits - 1) }
  }

  /// It waits for a reopened job: if that were behind it in its lane, neither could run.
  mutating func yieldSeat(_ id: JobID) {
    guard let row = self[id], let lane = row.lane, row.seat == true else { return }
    lanes.yield(lane.name, id)
    change(id) { ($0.after.seat, $0.after.waits) = (false, $0.after.waits + 1) }
  }

  /// Whether it has a seat in its lane and has not begun.
  func isSeated(_ id: JobID) -> Bool {
    self[id].map { $0.seat == true && $0.course.state != .running && !$0.course.state.isFinished } ?? false
  }

  /// Whether it has a seat that it can't use now.
  func isSeatedInVain(_ id: JobID) -> Bool { isSeated(id) && liveParents(of: id) > 0 }

  /// What must be known about lanes before their free seats can be given.
  var wantedOfLanes: [String: Int] { Dictionary(uniqueKeysWithValues: lanes.left.map { ($0, lanes.wanted(in: $0)) }) }

  /// Gives the free seats of a lane to the lowest waiting jobs.
  mutating func giveSeats(in lane: String) {
    let next = lanes.next(in: lane) { [rows] in rows[$0]?.after.seat == false }
    for id in next { seat(id) }
  }

  /// Jobs in lanes that ran until now, or may begin from now on.
  var paced: [JobID] {
    changed.filter { id in rows[id].map { $0.before.lane != nil && ($0.endsAttempt || $0.mayBegin) } ?? false }
  }

  /// Counts attempts that ended, and delays those that begin next.
  mutating func pace() {
    for id in paced where rows[id]?.endsAttempt ?? false && counted.insert(id).inserted {
      if let row = rows[id]?.before, let lane = row.lane { lanes.count(in: lane.name, from: row.enteredAt, at: now) }
    }
    for id in paced where rows[id]?.mayBegin ?? false {
      guard let lane = self[id]?.lane, let start = lanes.start(in: lane.name, at: now) else { continue }
      let now = date
      change(id) { $0.after.course.hold(until: start, now: now) }
    }
  }

  // MARK: Deadlines

  /// The deadline of a job has passed. False if it was a deadline to begin by, and the job has begun.
  mutating func passDeadline(of id: JobID) -> Bool {
    guard let row = self[id], row.isTimed else { return false }
    change(id) { $0.after.isTimed = false }
    guard let deadline = row.openDeadline else { return false }
    end(id, concernsClaim: row.course.state == .running) { course, _ in course.passDeadline(deadline.words) }
    return true
  }

  // MARK: Edges

  private func end(of edge: Edge) -> JobState? { self[edge.parent]?.course.end ?? edge.parentState }

  /// How many of its edges are from jobs that have not ended.
  func liveParents(of id: JobID) -> Int {
    (parentsOf[id] ?? []).count { edge in end(of: edge).map { !$0.isFinished } ?? false }
  }

  /// Those that can't be met any more.
  private func brokenEdges(of id: JobID) -> [Edge] {
    (parentsOf[id] ?? []).filter { edge in
      guard !edge.isNever, let parent = end(of: edge) else { return true }
      return parent.isFinished && !edge.condition.holds(after: parent)
    }
  }

  /// Of those, the edge of the oldest parent.
  func brokenEdge(of id: JobID) -> Edge? { brokenEdges(of: id).min { $0.parent < $1.parent } }

  func firstBroken(of jobs: [JobID]) -> [(JobID, Edge)] {
    jobs.compactMap { id in brokenEdge(of: id).map { (id, $0) } }
  }

  func words(for edge: Edge) -> String { edge.isNever ? "was removed" : end(of: edge).map { "is \($0)" } ?? "is gone" }

  /// Skips a job whose need can't be met any more, and that does not run. False if it was because of that before.
  @discardableResult
  mutating func skip(_ id: JobID, because edge: Edge) -> Bool {
    let parent = edge.isNever ? nil : self[edge.parent]
    let need = parent.map { BrokenNeed($0.course, of: $0.id, kind: $0.kind) } ?? BrokenNeed(removed: edge.parent)
    guard let old = self[id]?.course else { return false }
    var course = old
    course.skip(because: need.reason, cause: need.job, isAfterFailure: need.isAfterFailure)
    guard course != old else { return false }
    change(id) { $0.after.course = course }
    return true
  }
}
