import Foundation

extension JobTable: JobLedger {
  func exchange(_ request: LedgerRequest) -> LedgerReply {
    var reply = LedgerReply()
    if let changes = request.save { save(changes) }
    if let (worker, leaseUntil) = request.renew { renew(worker, leaseUntil, &reply) }
    if let tokens = request.hold { hold(tokens, &reply) }
    reply.batch = request.batch.map { batch($0) }
    for new in request.add { reply.added.append(add(new, in: reply.batch, after: reply.added)) }
    for (id, tally) in request.tally { count(tally, of: id, &reply) }
    if let (batch, job) = request.complete {
      kept.batches[batch]?.snapshot.isDone = true
      kept.batches[batch]?.snapshot.whenDone = job
      if kept.batches[batch]?.jobs == 0 { kept.batches[batch]?.emptyAt = now }
    }
    for batch in request.forget { kept.batches[batch] = nil }
    for loss in request.dispossess { dispossess(loss, &reply) }
    if let limit = request.promote { reply.hasMoreDue = promote(limit) }
    if let claim = request.take { reply.taken = take(claim, &reply.overdue) }
    load(request.load, &reply)
    return reply
  }

  // MARK: Reads

  private func load(_ needs: Needs, _ reply: inout LedgerReply) {
    reply.jobs += needs.jobs.compactMap { index(of: $0).map { row(records[$0]) } }
    for id in needs.childrenOf {
      let edges = childrenOf[id] ?? []
      reply.children += edges
      reply.jobs += edges.compactMap { index(of: $0.child).map { row(records[$0]) } }
    }
    for var edge in needs.parentsOf.flatMap({ parentsOf[$0] ?? [] }) {
      edge.parentState = index(of: edge.parent).map { records[$0].course.end }
      reply.parents.append(edge)
    }
    for (key, edges) in keyEdges {
      for edge in edges where needs.parentsOf.contains(edge.child) { reply.parents.append(edge) }
      if needs.waitersOf.contains(key) { reply.waiters[key] = edges.map(\.child) }
    }
    for key in needs.named {
      let all = records.filter { $0.job.terms.key == key && !needs.namedBesides.contains($0.id) }
      guard
        let newest = all.last(where: { !$0.course.state.isFinished })
          ?? all.last(where: { $0.course.state == .succeeded })
      else { continue }
      reply.named[key] = newest.id
      reply.jobs.append(row(newest))
    }
    for (name, count) in needs.lanes {
      let inside = records.filter { $0.job.terms.lane?.name == name && $0.seat != nil }
      let waiting = inside.filter { $0.seat == false }.prefix(count)
      reply.jobs += waiting.map { row($0) }
      reply.lanes[name] = LaneRow(
        width: kept.laneWidths[name] ?? 1, taken: inside.count { $0.seat == true }, waiting: waiting.map(\.id),
        pace: kept.lanePaces[name])
    }
    for key in needs.keys {
      reply.owners[key] = records.lazy.filter { [now] in
        $0.job.terms.unique?.key == key && $0.unique?.isHeld(in: $0.course.state, at: now) ?? false
      }.map(\.id)
    }
    for worker in needs.heldBy {
      let held = records.filter { $0.course.state == .running && $0.claim.worker == worker }
      let read = held.prefix(needs.heldLimit - reply.held.count)
      if read.count < held.count { reply.unread.insert(worker) }
      reply.held += read.map(\.id)
      reply.jobs += read.map { row($0) }
    }
    if let batch = needs.batch.flatMap({ kept.batches[$0] }) { reply.batches.append(row(batch)) }
    for record in records.filter({ isOverdue($0) }).sorted(by: { deadline($0) < deadline($1) }).prefix(needs.overdue) {
      reply.overdue.append(record.id)
      reply.jobs.append(row(record))
    }
    if let worker = needs.worker { reply.workers = standing(worker).map { workers[$0] } }
    reply.limits = needs.limitsOf.filter { $0.value > 0 }.keys.compactMap { limit(of: $0) }
  }

  func limit(of queue: String) -> QueueLimit? {
    kept.limits[queue].map { limits in
      QueueLimit(
        queue: queue, limits: limits,
        running: records.count { $0.course.state == .running && $0.job.queue == queue }, tat: kept.tats[queue] ?? 0,
        at: now)
    }
  }

  func row(_ record: Record) -> JobRow {
    let (job, terms) = (record.job, record.job.terms)
    return JobRow(
      id: record.id, route: record.route.id, kind: job.kind, priority: terms.priority, key: terms.key,
      unique: record.unique, tags: Array(terms.tags), timeout: terms.timeout, enteredAt: record.enteredAt,
      highestFraction: record.highestFraction, claim: record.claim, isHeld: isHeld(record), lane: terms.lane,
      seat: record.seat, waits: record.waits, hasParents: !job.edges.isEmpty, hasChildren: record.hasChildren,
      batch: record.batch, deadline: terms.deadline, isTimed: record.isTimed, hasSteps: !record.steps.isEmpty,
      course: record.course)
  }

  private func isHeld(_ record: Record) -> Bool {
    record.course.state == .running && workers.contains { $0.id == record.claim.worker && $0.stands }
  }

  private func standing(_ worker: WorkerID) -> [Int] {
    workers.indices.filter { workers[$0].worker == worker && workers[$0].stands }
  }

  // MARK: Writes

  private func batch(_ membership: BatchMembership) -> BatchID {
    if case .join(let id) = membership { return id }
    if case .close(let id) = membership {
      kept.batches[id]?.snapshot.isOpen = false
      news.closed(id)
      return id
    }
    let (name, whenDone, isOpen) = membership.made!
    kept.lastBatch += 1
    let id = BatchID(rawValue: kept.lastBatch)
    let snapshot = BatchSnapshot(
      id: id, name: name, total: 0, unfinished: 0, succeeded: 0, isDone: false, isOpen: isOpen)
    kept.batches[id] = Batch(snapshot: snapshot, whenDone: whenDone)
    news.touch(id)
    return id
  }

  private func count(_ tally: BatchTally, of id: BatchID, _ reply: inout LedgerReply) {
    guard var batch = kept.batches[id] else { return }
    batch.snapshot.total += Int(tally.total)
    batch.snapshot.unfinished += Int(tally.live)
    batch.snapshot.succeeded += Int(tally.succeeded)
    batch.jobs += tally.jobs
    let row = row(batch)
    kept.batches[id] = tally.jobs < 0 && batch.jobs == 0 && row.goesWithItsJobs ? nil : batch
    reply.batches.append(row)
  }

  private func row(_ batch: Batch) -> BatchRow {
    BatchRow(
      id: batch.snapshot.id, live: Int64(batch.snapshot.unfinished), isDone: batch.snapshot.isDone,
      isOpen: batch.snapshot.isOpen, whenDone: batch.whenDone)
  }

  private func add(_ new: NewRow, in batch: BatchID?, after added: [JobID]) -> JobID {
    kept.lastJob += 1
    let id = JobID(rawValue: kept.lastJob)
    let (job, course) = (new.job, new.course)
    var record = Record(id: id, job: job, createdAt: now, course: course, enteredAt: now)
    (record.waits, record.seat, record.hasChildren, record.batch) = (new.waits, new.seat, new.hasChildren, batch)
    setTimed(&record, job.terms.deadline != nil && !course.state.isFinished)
    records.append(record)
    for edge in new.edges {
      func from(_ parent: JobID, _ state: JobState? = nil) -> Edge {
        Edge(parent: parent, child: id, condition: edge.condition, slot: edge.slot, parentState: state)
      }
      switch edge.parent {
      case .known(let parent): connect(from(parent))
      case .added(let index): connect(from(added[index]))
      case .key(let key): keyEdges[key, default: []].append(from(JobID(rawValue: 0), .blocked))
      }
    }
    if let key = job.terms.key, !course.state.isFinished { bind(key, records.count - 1) }
    news.moved(id, route: record.route.id, in: batch, from: nil, to: course.state) { (job.queue, job.kind) }
    return id
  }

  /// From now on, the jobs that wait for a key wait for this one.
  private func bind(_ key: String, _ index: Int) {
    guard let waiting = keyEdges.removeValue(forKey: key) else { return }
    for edge in waiting {
      connect(Edge(parent: records[index].id, child: edge.child, condition: edge.condition, slot: edge.slot))
    }
    records[index].hasChildren = true
  }

  private func setTimed(_ record: inout Record, _ isTimed: Bool) {
    let isNear = deadline(record).milliseconds - now < Defaults.sweepInterval.milliseconds
    if isTimed, !record.isTimed, isNear { news.tell(.deadlines) }
    record.isTimed = isTimed
  }

  func deadline(_ record: Record) -> Date { record.job.terms.deadline?.date ?? .distantFuture }

  func isOverdue(_ record: Record) -> Bool { record.isTimed && deadline(record).milliseconds <= now }

  private func connect(_ edge: Edge) {
    childrenOf[edge.parent, default: []].append(edge)
    parentsOf[edge.child, default: []].append(edge)
    touched.insert(edge.child)
  }

  private func save(_ changes: Changes) {
    for change in changes.jobs {
      guard let index = index(of: change.before.id) else { continue }
      var record = records[index]
      let (old, after) = (change.before.course, change.after)
      if (after.course.state, after.course.runAt) != (old.state, old.runAt) { record.enteredAt = now }
      (record.course, record.claim, record.job.terms.priority) = (after.course, after.claim, after.priority)
      (record.waits, record.seat, record.hasChildren) = (after.waits, after.seat, after.hasChildren)
      setTimed(&record, after.isTimed)
      (record.highestFraction, record.progress) = (after.highestFraction, change.progress ?? record.progress)
      (record.job.payload, record.output) = (change.payload ?? record.job.payload, change.output ?? record.output)
      record.steps = after.hasSteps ? record.steps.merging(change.steps) { $1 } : [:]
      if let failure = change.failure { record.failures = (record.failures + [failure]).suffix(Limits.failuresKept) }
      records[index] = record
      if let key = change.broughtKey { bind(key, index) }
      news.moved(change) { (record.job.queue, record.job.kind) }
    }
    for row in changes.removed {
      guard let index = index(of: row.id) else { continue }
      let job = records.remove(at: index).job
      forgetEdges(of: row.id, keeping: changes.neverMet)
      news.moved(row.id, route: row.route, in: row.batch, from: row.course.state, to: nil) { (job.queue, job.kind) }
    }
    for row in changes.workers { save(row) }
    kept.tats.merge(changes.tats) { $1 }
    for (lane, pace) in changes.paces { kept.lanePaces[lane] = pace }
    workers.removeAll { changes.goneWorkers.contains($0.id ?? 0) }
  }

  private func forgetEdges(of id: JobID, keeping neverMet: [Edge]) {
    keyEdges = keyEdges.mapValues { $0.filter { $0.child != id } }.filter { !$0.value.isEmpty }
    for edge in parentsOf.removeValue(forKey: id) ?? [] { childrenOf[edge.parent]?.removeAll { $0.child == id } }
    for child in Set((childrenOf.removeValue(forKey: id) ?? []).map(\.child)) {
      touched.insert(child)
      parentsOf[child] = parentsOf[child]?.compactMap { edge in
        guard edge.parent == id else { return edge }
        guard neverMet.contains(edge) else { return nil }
        var edge = edge
        edge.isNever = true
        return edge
      }
    }
  }

  private func save(_ row: WorkerRow) {
    if let index = workers.firstIndex(where: { $0.id == row.id }) {
      workers[index] = row
    } else {
      kept.lastWorker += 1
      workers.append(row)
      workers[workers.count - 1].id = kept.lastWorker
      workers[workers.count - 1].since = now
    }
  }

  private func renew(_ worker: WorkerID, _ leaseUntil: Int64, _ reply: inout LedgerReply) {
    for index in standing(worker) {
      workers[index].leaseUntil = leaseUntil
      reply.workers.append(workers[index])
    }
    doubts.answered(by: reply.workers.compactMap(\.id))
  }

  private func hold(_ tokens: [ClaimToken], _ reply: inout LedgerReply) {
    let (own, listed) = (Set(reply.workers.compactMap(\.id)), Set(tokens))
    for record in records where record.course.state == .running && own.contains(record.claim.worker) {
      let token = ClaimToken(job: record.id, claim: record.claim.rawValue)
      if !listed.contains(token) { reply.unlisted.append(record.id) }
    }
  }

  private func dispossess(_ loss: WorkerRow, _ reply: inout LedgerReply) {
    guard let id = loss.id,
      let index = workers.firstIndex(where: { $0.id == id && $0.leaseUntil == loss.leaseUntil })
    else { return }
    workers[index].leaseUntil = WorkerRow.taken
    reply.dispossessed.append(id)
  }

  // MARK: Sets

  /// True if more than `limit` are due.
  private func promote(_ limit: Int) -> Bool {
    let due = records.indices.filter { records[$0].course.state == .scheduled && isDue(records[$0]) }
    for index in due.prefix(limit) {
      records[index].course.promote(now: Date(milliseconds: now))
      records[index].enteredAt = now
      let (record, job) = (records[index], records[index].job)
      news.moved(record.id, route: record.route.id, from: .scheduled, to: .ready) { (job.queue, job.kind) }
    }
    return due.count > limit
  }

  func isDue(_ record: Record) -> Bool { record.course.runAt.map { $0.milliseconds <= now } ?? true }

  private func take(_ request: ClaimRequest, _ overdue: inout [JobID]) -> ClaimBatch {
    var batch = ClaimBatch()
    guard let worker = standing(request.worker).last, let row = workers[worker].id else { return batch }
    doubts.answered(by: [row])
    _ = promote(.max)
    let queues = request.queues.subtracting(kept.pausedQueues).filter { request.free[$0] ?? 0 > 0 }
    let satisfied = kept.setByHand.holding(request.satisfied)
    let isServed = { (record: Record) in
      queues.contains(record.job.queue) && request.kinds.contains(record.job.kind)
        && record.job.terms.requires.isSubset(of: satisfied)
        && request.only ?? record.id == record.id
    }
    let ready = records.indices.filter { records[$0].course.state == .ready && isServed(records[$0]) }
    let claim = ClaimNumber(worker: row, count: workers[worker].claims + 1)
    var free = request.free
    for index in ready.sorted(by: { rank(records[$0]) < rank(records[$1]) }) {
      let queue = records[index].job.queue
      guard let left = free[queue], left > 0 else {
        if request.limited.contains(queue) { batch.full.insert(queue) } else { batch.hasMore = true }
        continue
      }
      if isOverdue(records[index]) {
        overdue.append(records[index].id)
        continue
      }
      free[queue] = left - 1
      batch.jobs.append(mark(index, claim))
    }
    if !batch.jobs.isEmpty { workers[worker].claims += 1 }
    batch.nextDue = records.filter { $0.course.state == .scheduled && isServed($0) }.compactMap(\.course.runAt).min()
      .map { .milliseconds($0.milliseconds - now) }
    return batch
  }

  private func rank(_ record: Record) -> (Int64, JobID) { (record.job.terms.priority.rank, record.id) }

  private func mark(_ index: Int, _ claim: ClaimNumber) -> ClaimedJob {
    records[index].course.claim()
    (records[index].claim, records[index].enteredAt) = (claim, now)
    records[index].startedAt = Date(milliseconds: now)
    let (record, job) = (records[index], records[index].job)
    news.moved(record.id, route: record.route.id, from: .ready, to: .running) { (job.queue, job.kind) }
    return ClaimedJob(
      token: ClaimToken(job: record.id, claim: claim.rawValue), queue: job.queue, kind: job.kind, payload: job.payload,
      attempt: record.course.attempt, maxAttempts: record.course.maxAttempts, timeout: job.terms.timeout,
      deadline: record.isTimed ? job.terms.deadline?.toEnd : nil, requires: job.terms.requires,
      whenLost: job.terms.whenLost, key: job.terms.key, createdAt: Date(milliseconds: record.createdAt),
      batch: record.batch ?? job.terms.follows, inputs: inputs(of: record.id), steps: record.steps)
  }

  /// What the jobs that it waited for returned.
  private func inputs(of id: JobID) -> [Int: JobEnd] {
    var inputs: [Int: JobEnd] = [:]
    for edge in parentsOf[id] ?? [] {
      guard let slot = edge.slot, let index = index(of: edge.parent) else { continue }
      let cause = records[index].course.cause.flatMap { self.index(of: $0) }.map { snapshot(records[$0], .failures) }
      inputs[slot] = snapshot(records[index], [.output, .failures]).end(cause: cause)
    }
    return inputs
  }
}
