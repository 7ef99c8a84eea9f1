import Foundation

/// New jobs. One whose unique key another has is not stored: that one stands for it. One that waits for an end that can't
/// come any more is stored as skipped.
package struct InsertVerb: Verb {
  private enum Phase { case begin, owners, place, added, done }

  /// Which job stands for a new one.
  private enum Stand {
    case added(Int)
    case keptAdded(Int)
    case kept(JobID)
  }

  private let jobs: [NewJob]
  private let batch: BatchMembership?
  private var book: Book
  private var request = LedgerRequest()
  private var stands: [Stand] = []
  private var named: [String: JobID] = [:]
  /// By key: who waits for it, and the ancestors of jobs that bring it.
  private var waiters: [String: Set<JobID>] = [:]
  private var ancestors: Set<JobID> = []
  private var level: [JobID] = []
  /// By key: the newest job of this call that brings it, and keys that one waits for.
  private var bringers: [String: Int] = [:]
  private var awaited: Set<String> = []
  private var phase = Phase.begin
  package private(set) var reply = InsertionReply([])

  package init(_ insertion: JobInsertion, now: Int64) {
    jobs = insertion.jobs
    batch = insertion.batch
    book = Book(now: now)
  }

  package mutating func next(_ answer: LedgerReply) throws -> LedgerRequest? {
    book.add(answer)
    switch phase {
    case .begin:
      phase = .owners
      var needs = Needs()
      for job in jobs {
        if let key = job.terms.unique?.key { needs.keys.append(key) }
        if let lane = job.terms.lane { needs.lanes[lane.name] = 0 }
        for edge in job.edges {
          switch edge.target {
          case .job(let id): needs.jobs.append(id)
          case .key(let key): needs.named.append(key)
          case .sibling: break
          }
        }
        if let key = job.terms.key, !job.edges.isEmpty { needs.waitersOf.append(key) }
      }
      if case .join(let id)? = batch { needs.batch = id }
      needs.named = Set(needs.named).sorted()
      needs.waitersOf = Set(needs.waitersOf).sorted()
      if !needs.isEmpty, let needs = book.lacking(needs) { return LedgerRequest(load: needs) }
      fallthrough
    case .owners:
      phase = .place
      if case .join(let id)? = batch {
        guard let row = answer.batches.first else { throw JobError(.notFound, "there is no batch \(id)") }
        guard !row.isDone else {
          throw JobError(.wrongState, "all jobs of the batch \(id) have ended; no more can join it")
        }
      }
      named = answer.named
      waiters = answer.waiters.mapValues(Set.init)
      let owners = keptSiblings
      if !waiters.isEmpty { level = Array(named.values) + jobs.flatMap(\.edges).compactMap(\.job) + owners }
      if !owners.isEmpty, let needs = book.lacking(Needs(jobs: owners)) { return LedgerRequest(load: needs) }
      fallthrough
    case .place:
      // Only where somebody waits for a key that comes with a job which waits itself: so a circle could close.
      while !level.isEmpty {
        if let needs = book.lacking(Needs(parentsOf: level)) { return LedgerRequest(load: needs) }
        ancestors.formUnion(level)
        level = Set(level.flatMap { book.parents(of: $0) }).subtracting(ancestors).sorted()
      }
      phase = .added
      try place()
      request.batch = batch
      request.save = book.close()?.save
      return request
    case .added:
      phase = .done
      let ids = answer.added
      reply.batch = answer.batch
      reply.jobs = stands.map { stand in
        switch stand {
        case .added(let index): InsertedJob(id: ids[index], disposition: .inserted)
        case .keptAdded(let index): InsertedJob(id: ids[index], disposition: .kept)
        case .kept(let id): InsertedJob(id: id, disposition: .kept)
        }
      }
      return nil
    case .done:
      return nil
    }
  }

  /// Jobs that stand for those of this call that another one waits for.
  private var keptSiblings: [JobID] {
    let siblings = jobs.lazy.flatMap(\.edges).compactMap { edge -> Int? in
      if case .sibling(let place) = edge.target { place } else { nil }
    }
    return Set(siblings).compactMap { place in
      guard jobs.indices.contains(place), let key = jobs[place].terms.unique?.key else { return nil }
      return book.owner(of: key)
    }
  }

  private mutating func place() throws {
    var placed: [String: Int] = [:]
    request.add.reserveCapacity(jobs.count)
    stands.reserveCapacity(jobs.count)
    for job in jobs {
      if let key = job.terms.unique?.key {
        if let owner = book.owner(of: key) {
          stands.append(.kept(owner))
          continue
        }
        if let index = placed[key] {
          stands.append(.keptAdded(index))
          continue
        }
      }
      var row = NewRow(job: job, course: JobCourse(inserting: job.terms, now: book.date))
      if let deadline = job.terms.deadline { row.job.terms.deadline = deadline.dated(at: book.date) }
      if !job.edges.isEmpty { try connect(&row) }
      if let lane = job.terms.lane, !row.course.state.isFinished {
        let seat = book.lanes.enter(lane.name)
        row.seat = seat
        if !seat { row.waits += 1 }
        row.course.stand(waits: row.waits, now: book.date)
      }
      if let key = job.terms.unique?.key, !row.course.state.isFinished { placed[key] = request.add.count }
      if let key = job.terms.key, !row.course.state.isFinished { bringers[key] = request.add.count }
      stands.append(.added(request.add.count))
      request.add.append(row)
    }
  }

  // MARK: Edges

  private mutating func connect(_ row: inout NewRow) throws {
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
      case .added(let index), .keptAdded(let index):
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
    guard let key = row.job.terms.key, waiters[key] != nil || awaited.contains(key) else { return }
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
        level += book.parents(of: id).map { .known($0) }
        if waiters[key]?.contains(id) ?? false { waiter = "job \(id)" }
      case .key(let other):
        if other == key { waiter = "it" }
        if let bringer = bringers[other] { level.append(.added(bringer)) }
      }
      guard let waiter else { continue }
      throw JobError(
        .invalidArgument,
        "a job of the kind '\(row.job.kind)' has the key '\(key)', for which \(waiter) waits, and waits for that itself: "
          + "neither could ever run")
    }
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
