import Foundation

/// New jobs. If others have the unique key of one, its policy says what happens to it and to them. A job that waits for
/// an end that can't come any more is stored as skipped.
package struct InsertVerb: Verb {
  private enum Phase { case begin, owners, replace, place, ancestors, added }

  /// The job that stands for a new one.
  enum Stand {
    case added(Int, InsertedJob.Disposition = .inserted)
    case keptAdded(Int)
    case kept(JobID)
  }

  let jobs: [NewJob]
  private let batch: BatchMembership?
  var book: Book
  var request = LedgerRequest()
  var stands: [Stand] = []
  var named: [String: JobID] = [:]
  /// By key: the jobs that wait for it, and the ancestors of jobs that bring it.
  var waiters: [String: Set<JobID>] = [:]
  private var ancestors: Set<JobID> = []
  private var level: [JobID] = []
  /// The jobs that wait for a key that arrives with a job of a lane, and their dependents.
  private var descendants: Set<JobID> = []
  private var below: [JobID] = []
  /// By key: the newest job of this call that brings it, the first one, to which those that wait for it are bound, and
  /// the keys that one waits for.
  var bringers: [String: Int] = [:]
  var firstBringers: [String: Int] = [:]
  var awaited: Set<String> = []
  /// By key: the jobs that were replaced.
  var replaced: [String: [JobID]] = [:]
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
        if let unique = job.terms.unique { needs.keys.append(unique.key) }
        if let lane = job.terms.lane { needs.lanes[lane.name] = 0 }
        for edge in job.edges {
          switch edge.target {
          case .job(let id): needs.jobs.append(id)
          case .key(let key): needs.named.append(key)
          case .sibling: break
          }
        }
        let mayWait =
          !job.edges.isEmpty || job.terms.lane != nil || job.terms.unique.map { $0.policy != .keep } ?? false
        if let key = job.terms.key, mayWait { needs.waitersOf.append(key) }
      }
      // Replacing a job affects others too, and those may have been the newest owners of another key.
      if jobs.contains(where: { $0.terms.unique?.policy == .replace }) { needs.allOwnersOf = Set(needs.keys) }
      needs.batch = batch?.known
      needs.named = Set(needs.named).sorted()
      needs.waitersOf = Set(needs.waitersOf).sorted()
      if !needs.isEmpty, let needs = book.lacking(needs) { return LedgerRequest(load: needs) }
      fallthrough
    case .owners:
      phase = .replace
      if let id = batch?.known {
        guard let row = answer.batches.first else { throw JobError(.notFound, "there is no batch \(id)") }
        guard !row.isDone || jobs.isEmpty else {
          throw JobError(.wrongState, "all jobs of the batch \(id) have ended; no more can join it")
        }
      }
      named = answer.named
      waiters = answer.waiters.mapValues(Set.init)
      let owners = metOwners + causes
      if !waiters.isEmpty { level = jobs.flatMap(\.edges).compactMap(\.job) + owners }
      if !owners.isEmpty, let needs = book.lacking(Needs(jobs: owners)) { return LedgerRequest(load: needs) }
      fallthrough
    case .replace:
      replace()
      phase = .place
      fallthrough
    case .place:
      if let needs = followReplacement(answer) { return LedgerRequest(load: needs) }
      if !waiters.isEmpty { level += named.values }
      if !waiters.isEmpty, jobs.contains(where: { $0.terms.lane != nil }) {
        below = Set(waiters.values.joined()).sorted()
      }
      phase = .ancestors
      fallthrough
    case .ancestors:
      // Only if a job waits for a key that arrives with a job that waits itself: that way a circle could close.
      while !level.isEmpty {
        if let needs = book.lacking(Needs(parentsOf: level)) { return LedgerRequest(load: needs) }
        ancestors.formUnion(level)
        level = Set(level.flatMap { book.needed(by: $0) }).subtracting(ancestors).sorted()
      }
      while !below.isEmpty {
        if let needs = book.lacking(Needs(jobs: below, childrenOf: below)) { return LedgerRequest(load: needs) }
        descendants.formUnion(below)
        below = Set(below.flatMap { book.children(of: $0).map(\.child) }).subtracting(descendants).sorted()
      }
      phase = .added
      try place()
      request.batch = batch
      request.save = book.close()?.save
      return request
    case .added:
      let ids = answer.added
      reply.batch = answer.batch
      reply.jobs = stands.map { stand in
        switch stand {
        case .added(let index, let disposition): InsertedJob(id: ids[index], disposition: disposition)
        case .keptAdded(let index): InsertedJob(id: ids[index], disposition: .kept)
        case .kept(let id): InsertedJob(id: id, disposition: .kept)
        }
      }
      return nil
    }
  }

  /// Jobs that others here meet by their unique key: they replace or follow them, or wait for what those stand for.
  private var metOwners: [JobID] {
    let met = jobs.lazy.compactMap(\.terms.unique).filter { $0.policy != .keep }.flatMap { book.owners(of: $0.key) }
    let siblings = jobs.lazy.flatMap(\.edges).compactMap { edge -> Int? in
      if case .sibling(let place) = edge.target { place } else { nil }
    }
    let kept = Set(siblings).flatMap { place in
      jobs.indices.contains(place) ? jobs[place].terms.unique.map { book.owners(of: $0.key) } ?? [] : []
    }
    return met + kept
  }

  /// The jobs whose failures skipped what new jobs wait for: they may hold the lane of one.
  private var causes: [JobID] {
    guard jobs.contains(where: { $0.terms.lane != nil }) else { return [] }
    return jobs.lazy.flatMap(\.edges).compactMap { [book] edge in edge.job.flatMap { book[$0]?.course.cause } }
  }

  /// What it waits for; for one of this call that was skipped, the cause of that.
  private func heads(of row: NewRow) -> [JobID] {
    row.edges.compactMap { edge in
      switch edge.parent {
      case .known(let id): id
      case .added(let place): request.add[place].course.cause
      case .key: nil
      }
    }
  }

  /// The newest jobs of this call that have a unique key, by their index in it: of all, and of those that wait or run.
  struct Placed { let newest: Int, unfinished: Int? }

  private mutating func place() throws {
    var placed: [String: Placed] = [:]
    request.add.reserveCapacity(jobs.count)
    stands.reserveCapacity(jobs.count)
    for var job in jobs {
      var disposition = InsertedJob.Disposition.inserted
      if let unique = job.terms.unique {
        let met = try meet(unique, &job, placed: placed[unique.key])
        if let stand = met.stand {
          stands.append(stand)
          continue
        }
        disposition = met.disposition
      }
      var row = NewRow(job: job, course: JobCourse(inserting: job.terms, now: book.date))
      if let deadline = job.terms.deadline { row.job.terms.deadline = deadline.dated(at: book.date) }
      if !job.edges.isEmpty { try connect(&row) }
      if let lane = job.terms.lane, !row.course.state.isFinished {
        let heads = row.waits > 0 ? [] : heads(of: row)
        let seat = book.lanes.enter(lane.name) || book.takeSeat(in: lane.name, of: heads)
        row.seat = seat
        if !seat { row.waits += 1 }
        row.course.stand(waits: row.waits, now: book.date)
        if seat, let start = book.lanes.start(in: lane.name, at: book.now) { row.course.hold(until: start) }
      }
      if let unique = job.terms.unique, KeyHold(unique, storedAt: book.now).isHeld(in: row.course.state, at: book.now) {
        let unfinished = row.course.state.isFinished ? placed[unique.key]?.unfinished : stands.count
        placed[unique.key] = Placed(newest: stands.count, unfinished: unfinished)
      }
      if let key = job.terms.key, !row.course.state.isFinished {
        bringers[key] = request.add.count
        firstBringers[key] = firstBringers[key] ?? request.add.count
      }
      stands.append(.added(request.add.count, disposition))
      request.add.append(row)
    }
    try checkLines()
  }
}
