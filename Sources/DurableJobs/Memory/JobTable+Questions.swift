import Foundation

/// What people set, and what they query.
extension JobTable {
  func configure(_ settings: [StoreSetting]) throws {
    for setting in settings {
      switch setting {
      case .queue(let name, isPaused: true): kept.pausedQueues.insert(name)
      case .queue(let name, isPaused: false): kept.pausedQueues.remove(name)
      case .lane(let name, let width):
        try setLane(name, width: width)
        kept.laneWidths[name] = width == 1 ? nil : width
      case .laneRate(let name, let rate): try setLane(name, rate: .some(rate))
      case .limits(let queue, let limits): kept.limits[queue] = limits
      case .constraint(let constraint, let isSatisfied):
        kept.setByHand[constraint] = isSatisfied
        news.here.insert(.settings)
      }
    }
    news.here.insert(.work)
  }

  var settings: [StoreSetting] {
    kept.pausedQueues.sorted().map { .queue($0, isPaused: true) }
      + kept.limits.sorted { $0.key < $1.key }.map { .limits(queue: $0.key, $0.value) }
      + kept.laneWidths.sorted { $0.key < $1.key }.map { .lane($0.key, width: $0.value) }
      + kept.lanePaces.sorted { $0.key < $1.key }.map { .laneRate($0.key, $0.value.rate) }
      + kept.setByHand.sorted { $0.key < $1.key }.map { .constraint($0.key, satisfied: $0.value) }
  }

  func jobs(_ query: JobQuery) -> [JobSnapshot] {
    let isAscending = query.order == .oldestFirst
    let ids = query.filter.onlyIDs?.sorted()
    let records = ids?.compactMap { index(of: $0) }.map { self.records[$0] } ?? self.records
    let snapshots = (isAscending ? records : records.reversed()).lazy
      .filter { record in query.after.map { isAscending ? record.id > $0 : record.id < $0 } ?? true }
      .map { self.snapshot($0, query.detail) }
      .filter { query.filter.matches($0) }
    return Array(snapshots.prefix(query.limit))
  }

  func snapshot(_ record: Record, _ detail: JobQuery.Detail = []) -> JobSnapshot {
    var job = JobSnapshot(
      row(record), of: record.route, createdAt: record.createdAt, startedAt: record.startedAt?.milliseconds ?? 0)
    job.progress = record.progress
    if detail.contains(.payload) { job.payload = record.job.payload }
    if detail.contains(.output) { job.output = record.output }
    if detail.contains(.failures) { job.failures = record.failures }
    if detail.contains(.steps) { job.steps = record.steps.keys.sorted() }
    if detail.contains(.waits), !job.state.isFinished { job.waits = waits(of: record) }
    guard detail.contains(.edges) else { return job }
    let known = (parentsOf[record.id] ?? []).map { JobEdge(.job($0.parent), $0.condition, slot: $0.slot) }
    let open = keyEdges.sorted { $0.key < $1.key }.flatMap { key, edges in
      edges.filter { $0.child == record.id }.map { JobEdge(.key(key), $0.condition, slot: $0.slot) }
    }
    job.edges = Set(known + open).sorted(by: JobEdge.isBefore)
    return job
  }

  private var newestBatches: [BatchSnapshot] {
    kept.batches.values.map(\.snapshot).sorted { $0.id.rawValue > $1.id.rawValue }
  }

  private func waits(of record: Record) -> JobWaits {
    var waits = JobWaits(now: Date(milliseconds: now))
    let unique = record.job.terms.unique?.key
    for edge in parentsOf[record.id] ?? [] {
      guard let parent = index(of: edge.parent).map({ records[$0] }), !parent.course.state.isFinished else { continue }
      let hasKey = unique != nil && parent.job.terms.unique?.key == unique
      if hasKey { waits.uniqueKey = unique }
      waits.needs.append(
        JobWaits.Need(.job(parent.id), edge.condition, state: parent.course.state, hasUniqueKey: hasKey))
    }
    for (key, edges) in keyEdges.sorted(by: { $0.key < $1.key }) {
      waits.needs += edges.filter { $0.child == record.id }.map { JobWaits.Need(.key(key), $0.condition) }
    }
    waits.needs = Array(waits.needs.sorted { JobEdge.isBefore($0.edge, $1.edge) }.prefix(JobWaits.mostNeeds))
    if record.seat == false {
      let seated = records.filter { $0.job.terms.lane?.name == record.job.terms.lane?.name && $0.seat == true }
      let head = seated.first { $0.course.state == .failed } ?? seated.first
      waits.laneHead = head.map { JobWaits.LaneHead(job: $0.id, state: $0.course.state) }
    }
    waits.isPaused = kept.pausedQueues.contains(record.job.queue)
    waits.limit = limit(of: record.job.queue).map { JobWaits.Limit($0) }
    waits.laneLimit = record.job.terms.lane.flatMap { lane in
      kept.lanePaces[lane.name].map { JobWaits.Limit($0.limit(of: lane.name, at: now)) }
    }
    waits.setByHand = kept.setByHand
    let process = Int64(ProcessInfo.processInfo.processIdentifier)
    let running = records.filter { $0.course.state == .running }
    waits.workers = StoredWorker.all(
      of: workers.filter(\.stands).map { Census.Worker(row: $0, session: "", process: process) },
      running: Dictionary(grouping: running, by: \.claim.worker).mapValues { Set($0.map(\.id)) }, at: now,
      isDead: { _ in false })
    return waits
  }

  func batches(_ query: BatchQuery) -> [BatchSnapshot] {
    switch query {
    case .id(let id): kept.batches[id].map { [$0.snapshot] } ?? []
    case .name(let name): Array(newestBatches.filter { $0.name == name }.prefix(1))
    case .newest(let limit): Array(newestBatches.prefix(limit))
    }
  }

  func counts(where filter: JobFilter) -> JobCounts {
    records.reduce(into: JobCounts()) { counts, record in
      if filter.matches(snapshot(record)) { counts[record.course.state] += 1 }
    }
  }

  func outstanding(_ scope: WorkScope) -> OutstandingWork {
    let works = records.filter { !$0.course.state.isFinished }.map { record in
      var route = record.route
      route.isPaused = kept.pausedQueues.contains(route.queue)
      var work = RouteTotals(route, counts: JobCounts([record.course.state: 1]))
      if record.course.state == .scheduled {
        let isReturning = record.startedAt != nil || record.course.isPaced == true
        if isDue(record) { work.due = 1 } else { work.isReturning = isReturning }
      }
      return work
    }
    return scope.outstanding(in: works, for: workers, setByHand: kept.setByHand, at: now)
  }

  /// Jobs past their retention, with those that a unique key or a child keeps.
  var expired: [JobID] {
    records.filter { record in
      policy.expiry(of: record.course.state, record.job.kind, enteredAt: record.enteredAt).map { $0 <= now } ?? false
    }.map(\.id)
  }

  /// Batches that were done without jobs and are past their retention.
  var expiredBatches: [BatchID] {
    kept.batches.values.filter { batch in
      batch.emptyAt.flatMap { policy.expiry(of: .succeeded, nil, enteredAt: $0) }.map { $0 <= now } ?? false
    }.map(\.snapshot.id).sorted { $0.rawValue < $1.rawValue }
  }

  /// Determines who is lost. In one process there is no lock that tells whether a worker lives.
  func judge(except asking: WorkerID?, uptime: Duration) -> Doubts.Verdict {
    let running = Set(records.lazy.filter { $0.course.state == .running }.map(\.claim.worker))
    let suspects = workers.filter { $0.worker != asking || !$0.stands }.map { row in
      Doubts.Suspect(row: row, isIdle: !running.contains(row.id ?? 0), isDead: false)
    }
    let verdict = doubts.judge(suspects, of: workers, now: now, uptime: uptime, interval: policy.doubtInterval)
    if !verdict.asked.isEmpty { news.here.insert(.doubt) }
    return verdict
  }
}
