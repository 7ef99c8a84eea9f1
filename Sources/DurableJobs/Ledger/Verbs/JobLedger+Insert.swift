import Foundation

extension JobLedger {
  /// New jobs. If others have the unique key of one, its policy says what happens to it and to them. A job that waits for
  /// an end that can't come any more is stored as skipped.
  package func insert(_ insertion: JobInsertion) throws -> InsertionReply {
    let isPlain = insertion.jobs.allSatisfy {
      $0.edges.isEmpty && $0.terms.unique == nil && $0.terms.lane == nil && $0.terms.key == nil
    }
    guard isPlain, insertion.batch == nil else {
      var placement = Placement(jobs: insertion.jobs, book: Book(self))
      return try placement.store(in: insertion.batch)
    }
    // Jobs that have to do with no others need no rows, and no book of them: the usual call.
    let date = Date(milliseconds: now)
    let added = try add(insertion.jobs.map { NewRow($0, at: date) })
    return InsertionReply(added.map { InsertedJob(id: $0, disposition: .inserted) })
  }

  package func add(_ new: [NewRow]) throws -> [JobID] { try exchange(LedgerRequest(add: new)).added }
}

/// New jobs among those that are there.
struct Placement {
  /// The job that stands for a new one.
  enum Stand {
    case added(Int)
    case known(JobID)
  }

  let jobs: [NewJob]
  var book: Book
  var added: [NewRow] = []
  var stands: [(job: Stand, disposition: InsertedJob.Disposition)] = []
  var named: [String: JobID] = [:]
  /// By key: the jobs that wait for it.
  var waiters: [String: Set<JobID>] = [:]
  /// By job: the keys among those for which it waits.
  var keysAwaited: [JobID: [String]] = [:]
  /// By key: the first job of this call that brings it, to which those that wait for it are bound, and the newest.
  var bringers: [String: (first: Int, newest: Int)] = [:]
  var awaited: Set<String> = []
  var replaced: [String: [JobID]] = [:]

  mutating func store(in batch: BatchMembership?) throws -> InsertionReply {
    let answer = try book.load(needs(in: batch)) ?? LedgerReply()
    if let id = batch?.known {
      guard let row = answer.batches.first else { throw JobError(.notFound, "there is no batch \(id)") }
      let isOver = row.isDone && !jobs.isEmpty
      try require(!isOver, "all jobs of the batch \(id) have ended; no more can join it", code: .wrongState)
    }
    (named, waiters) = (answer.named, answer.waiters.mapValues(Set.init))
    for (key, jobs) in waiters { for job in jobs { keysAwaited[job, default: []].append(key) } }
    let met = metOwners + causes
    if !met.isEmpty { try book.load(Needs(jobs: met)) }
    try replace()
    if !waiters.isEmpty { try loadRelatives(of: jobs.flatMap(\.edges).compactMap(\.job) + met + named.values) }
    try place()
    let stored = try book.exchange(LedgerRequest(save: book.decided, batch: batch, add: added))
    let inserted = stands.map { stand in
      switch stand.job {
      case .added(let index): InsertedJob(id: stored.added[index], disposition: stand.disposition)
      case .known(let id): InsertedJob(id: id, disposition: stand.disposition)
      }
    }
    return InsertionReply(inserted, batch: stored.batch)
  }

  // MARK: What must be known

  private func needs(in batch: BatchMembership?) -> Needs {
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
      let mayWait = !job.edges.isEmpty || job.terms.lane != nil || job.terms.unique.map { $0.policy != .keep } ?? false
      if let key = job.terms.key, mayWait { needs.waitersOf.append(key) }
    }
    // Replacing a job affects others too, and those may have been the newest owners of another key.
    if jobs.contains(where: { $0.terms.unique?.policy == .replace }) { needs.allOwnersOf = Set(needs.keys) }
    needs.batch = batch?.known
    needs.named = Set(needs.named).sorted()
    needs.waitersOf = Set(needs.waitersOf).sorted()
    return needs
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

  /// Loads what these wait for, and so on; and where lanes matter, what waits for those that wait for a key, or for a seat.
  /// Only a job that waits for a key that arrives with a job that waits itself could close a circle.
  private mutating func loadRelatives(of jobs: [JobID]) throws {
    var (level, ancestors): ([JobID], Set<JobID>) = (jobs, [])
    while !level.isEmpty {
      try book.load(Needs(jobs: level, parentsOf: level))
      ancestors.formUnion(level)
      level = Set(level.flatMap { book.needed(by: $0) }).subtracting(ancestors).sorted()
    }
    let inLine = ancestors.filter { book[$0]?.seat == false }
    guard !inLine.isEmpty || self.jobs.contains(where: { $0.terms.lane != nil }) else { return }
    try book.load(Needs(lanes: book.lanes(of: inLine)))
    var descendants: Set<JobID> = []
    level = inLine.union(waiters.values.joined()).sorted()
    while !level.isEmpty {
      try book.load(Needs(jobs: level, childrenOf: level))
      descendants.formUnion(level)
      level = Set(level.flatMap { book.children(of: $0).map(\.child) }).subtracting(descendants).sorted()
    }
  }

  // MARK: Placing

  /// The newest jobs of this call that have a unique key, by their index in it: of all, and of those that wait or run.
  struct Placed { let newest: Int, unfinished: Int? }

  private mutating func place() throws {
    var placed: [String: Placed] = [:]
    added.reserveCapacity(jobs.count)
    stands.reserveCapacity(jobs.count)
    for index in jobs.indices {
      var job = jobs[index]
      var disposition = InsertedJob.Disposition.inserted
      if let unique = job.terms.unique {
        let met = try meet(unique, &job, placed: placed[unique.key])
        disposition = met.disposition
        if let stand = met.stand {
          stands.append((stand, disposition))
          continue
        }
      }
      let row = NewRow(job, at: book.date)
      if !row.job.edges.isEmpty { try connect(row) }
      if let lane = row.job.terms.lane, !row.course.state.isFinished {
        let heads = row.waits > 0 ? [] : heads(of: row)
        let seat = book.lanes.enter(lane.name) || book.takeSeat(in: lane.name, of: heads)
        row.seat = seat
        if !seat { row.waits += 1 }
        row.course.stand(waits: row.waits, now: book.date)
        if seat, let start = book.lanes.start(in: lane.name, at: book.now) {
          row.course.hold(until: start, now: book.date)
        }
      }
      if let unique = row.job.terms.unique,
        KeyHold(unique, storedAt: book.now).isHeld(in: row.course.state, at: book.now)
      {
        let unfinished = row.course.state.isFinished ? placed[unique.key]?.unfinished : stands.count
        placed[unique.key] = Placed(newest: stands.count, unfinished: unfinished)
      }
      if let key = row.job.terms.key, !row.course.state.isFinished {
        bringers[key] = (bringers[key]?.first ?? added.count, added.count)
      }
      stands.append((.added(added.count), disposition))
      added.append(row)
    }
    if !bringers.isEmpty { try checkCircles() }
  }

  /// What it waits for; for one of this call that was skipped, the cause of that.
  private func heads(of row: NewRow) -> [JobID] {
    row.edges.compactMap { edge in
      switch edge.parent {
      case .known(let id): id
      case .added(let place): added[place].course.cause
      case .key: nil
      }
    }
  }
}
