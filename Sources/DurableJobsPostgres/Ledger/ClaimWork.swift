#if Postgres
  import DurableJobs
  import Foundation

  /// A claim, as far as the server has answered.
  final class ClaimWork {
    struct Found {
      let id: JobID
      let route: Int64
      let rank: Int64
      let links: Links
      let attempt: Int
      let batch: BatchID?
      let options: String?
      let payload: Data?
      let createdAt: Int64
    }

    let claim: ClaimNumber
    let request: ClaimRequest
    var overdue: [(id: JobID, rank: Int64, route: Int64)] = []
    /// The first time at which a scheduled job is due, and whether more are due than became ready at once.
    var nextDue: Int64?
    var hasMoreDue = false
    /// How soon due jobs will be looked for from the first, if this claim did not do that.
    var dueWholeIn: Int64?
    /// A route's line, and how soon it will be searched from its start, if this claim did not do that.
    struct Line {
      let route: Int64
      let free: Int64
      let wholeIn: Int64?
    }
    var lines: [Line] = []
    /// Whether there are routes whose lines were not searched. The next claim may do it.
    var hasPassedOver = false
    var asked = 0
    private var found: [Found] = []
    /// How many jobs could be claimed.
    private var wanted = 0
    /// Routes that had more.
    private var more: [Int64] = []

    init(claim: ClaimNumber, request: ClaimRequest) {
      self.claim = claim
      self.request = request
    }

    func read(_ rows: Rows) {
      for row in 0..<rows.count where !rows.isNull(row, 0) {
        found.append(
          Found(
            id: rows.id(row, 0), route: rows.int(row, 1), rank: rows.int(row, 2),
            links: Links(rawValue: rows.int(row, 3)),
            attempt: rows.count(row, 4), batch: rows.intOrNull(row, 5).map(BatchID.init(rawValue:)),
            options: rows.text(row, 6), payload: rows.data(row, 7), createdAt: rows.int(row, 8)))
      }
      if rows.count > 0 { wanted = rows.count(0, 9) }
    }

    /// Reports what it found in the lines that it searched.
    func tell(_ starts: LineStarts, _ rows: Rows, now: Int64) {
      guard rows.count > 0 else { return }
      more = (rows.text(0, 10) ?? "").split(separator: " ").compactMap { Int64($0) }
      var sights: [Int64: [LineStarts.Sight]] = [:]
      var seen: [Int64: Int64] = [:]
      let numbers = (rows.text(0, 11) ?? "").split(separator: " ").compactMap { Int64($0) }
      for place in stride(from: 0, to: numbers.count - 3, by: 4) {
        let route = numbers[place]
        sights[route, default: []].append(LineStarts.Sight(rank: numbers[place + 1], first: numbers[place + 2]))
        seen[route, default: 0] += numbers[place + 3]
      }
      let passed = rows.int(0, 13) - seen.values.reduce(0, +) - Int64(found.count)
      for line in lines {
        starts.saw(
          sights[line.route] ?? [], of: line.route, isWhole: line.wholeIn == nil,
          isCut: seen[line.route] ?? 0 > line.free, last: rows.int(0, 12), passed: passed, now: now)
      }
    }

    /// Locked rows stay locked for as long as their owner likes, and are asked for again after a while.
    private static let patience: ClosedRange<Int64> = 25...75

    /// When to come again; nil if nothing is known of that.
    private func nextTime(_ now: Int64) -> Duration? {
      var times: [Int64] = []
      if let nextDue {
        times.append(
          nextDue > now ? nextDue - now : hasMoreDue ? 0 : .random(in: Self.patience))
      }
      if found.isEmpty, wanted > 0 { times.append(.random(in: Self.patience)) }
      if found.count < asked { times += lines.compactMap(\.wholeIn) + [dueWholeIn].compactMap(\.self) }
      return times.min().map { .milliseconds($0) }
    }

    func finish(_ transaction: Transaction, _ answer: PipelineAnswer) throws {
      if !found.isEmpty { FaultPoint.claimMarked.reach() }
      answer.reply.taken.nextDue = nextTime(transaction.now)
      // Others may have been there first, and left some of what they locked.
      var hasMore = hasPassedOver || !found.isEmpty && wanted > found.count
      for queue in Set(more.compactMap { transaction.routes.byID[$0]?.queue }) {
        if request.limited.contains(queue) {
          answer.reply.taken.full.insert(queue)
        } else if !found.isEmpty {
          hasMore = true
        }
      }
      answer.reply.taken.hasMore = hasMore
      var taken: [String: (count: Int, last: (Int64, JobID))] = [:]
      var damaged: [Found] = []
      var terms: [StoredTerms] = []
      var whole: [Found] = []
      transaction.claimed += found.map { ClaimToken(job: $0.id, claim: claim.rawValue) }
      for job in found {
        transaction.moved(job.id, route: job.route, from: .ready, to: .running)
        guard job.payload != nil, let read = try? StoredTerms(text: job.options) else {
          damaged.append(job)
          continue
        }
        terms.append(read)
        whole.append(job)
        let queue = transaction.routes.byID[job.route]?.queue ?? ""
        taken[queue] = ((taken[queue]?.count ?? 0) + 1, (job.rank, job.id))
      }
      // Those behind the last one that there was room for were not reached.
      answer.reply.overdue = overdue.filter { job in
        guard !transaction.context.lateEnds.contains(job.id) else { return false }
        if let only = request.only { return job.id == only }
        let queue = transaction.routes.byID[job.route]?.queue ?? ""
        guard let taken = taken[queue], taken.count >= request.free[queue] ?? 0 else { return true }
        return (job.rank, job.id) < taken.last
      }.map(\.id)
      if !damaged.isEmpty { setAside(damaged, transaction) }
      let (inputs, steps) = try beside(whole, transaction)
      for (job, terms) in zip(whole, terms) {
        guard let route = transaction.routes.byID[job.route] else { continue }
        answer.reply.taken.jobs.append(
          ClaimedJob(
            token: ClaimToken(job: job.id, claim: claim.rawValue), queue: route.queue, kind: route.kind,
            payload: job.payload ?? Data(), attempt: job.attempt, maxAttempts: terms.attempts, timeout: terms.duration,
            deadline: job.links.contains(.deadline) ? terms.deadline?.toEnd : nil, requires: route.requires,
            whenLost: terms.interrupts == true ? .interrupts : .goesOn, key: terms.key,
            createdAt: Date(milliseconds: job.createdAt), batch: job.batch ?? terms.knownBatch,
            inputs: inputs[job.id] ?? [:], steps: steps[job.id] ?? [:]))
      }
    }

    private func setAside(_ jobs: [Found], _ transaction: Transaction) {
      transaction.connection.send(Transaction.setAsideSQL, [.ids(jobs.map(\.id))])
      transaction.putNotes(jobs.map { ($0.id, "its row in the store is damaged: the options are no JSON", nil) })
      for job in jobs { transaction.moved(job.id, route: job.route, from: .running, to: .suspended) }
      transaction.unreadable += jobs.map(\.id)
    }

    static let inputsSQL = """
      SELECT e.child,e.slot,e.parent,j.state,(SELECT bytes FROM §output WHERE id=e.parent)
      FROM §edge e JOIN §job j ON j.id=e.parent WHERE e.child=ANY($1) AND e.slot>=0 ORDER BY 1,2,3
      """
    static let stepsSQL = "SELECT job,name,value FROM §step WHERE job=ANY($1)"

    /// The outputs of the jobs that a job waited for, and of its steps.
    private func beside(
      _ jobs: [Found], _ transaction: Transaction
    ) throws -> (inputs: [JobID: [Int: JobEnd]], steps: [JobID: [String: Data]]) {
      var inputs: [JobID: [Int: JobEnd]] = [:]
      var steps: [JobID: [String: Data]] = [:]
      var failures: [(child: JobID, slot: Int, parent: JobID)] = []
      let children = jobs.filter { $0.links.contains(.parents) }.map(\.id)
      if !children.isEmpty {
        transaction.connection.send(Self.inputsSQL, [.ids(children)]) { rows in
          for row in 0..<rows.count {
            let (child, slot) = (rows.id(row, 0), rows.count(row, 1))
            if rows.int(row, 3) == JobState.succeeded.code {
              inputs[child, default: [:]][slot] = .succeeded(output: rows.data(row, 4))
            } else {
              failures.append((child, slot, rows.id(row, 2)))
            }
          }
        }
      }
      let stepped = jobs.filter { $0.links.contains(.steps) }.map(\.id)
      if !stepped.isEmpty {
        transaction.connection.send(Self.stepsSQL, [.ids(stepped)]) { rows in
          for row in 0..<rows.count {
            steps[rows.id(row, 0), default: [:]][rows.text(row, 1) ?? ""] = rows.data(row, 2)
          }
        }
      }
      if !children.isEmpty || !stepped.isEmpty { try transaction.sync() }
      guard !failures.isEmpty else { return (inputs, steps) }
      let reader = Reader(connection: transaction.connection, process: transaction.context.process)
      func snapshots(_ ids: [JobID]) throws -> [JobID: JobSnapshot] {
        let query = JobQuery(.ids(ids), detail: .failures, limit: .max)
        return Dictionary(uniqueKeysWithValues: try reader.jobs(query, now: transaction.now).map { ($0.id, $0) })
      }
      let parents = try snapshots(failures.map(\.parent))
      let causes = try snapshots(parents.values.compactMap(\.cause))
      for failure in failures {
        guard let parent = parents[failure.parent] else { continue }
        inputs[failure.child, default: [:]][failure.slot] = parent.end(cause: parent.cause.flatMap { causes[$0] })
      }
      return (inputs, steps)
    }
  }
#endif
