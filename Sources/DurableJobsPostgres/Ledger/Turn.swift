#if Postgres
  import DurableJobs

  /// A worker's turn: results, and a claim for the slots that they freed. What ends while the server is at it joins the
  /// transaction: else handlers that take less than a commit come in two halves, each of which waits for the commit of
  /// the other, and each commit has half of the jobs.
  final class Turn: Sendable {
    private struct Round {
      let settlements: [ClaimSettlement]
      let claim: ClaimRequest?
    }

    /// If a transaction is rolled back, the next does all of them.
    private let rounds: Lock<[Round]>
    /// The only result, if it took longer than a call may, though the server answers. A claim that did is no reason.
    let late = Lock<ClaimSettlement?>(nil)
    private let join: (@Sendable () -> ClaimRequest.Join?)?
    /// From then on a turn writes the lease anew with its end.
    private static let longMilliseconds: Int64 = 1000

    init(_ settlements: [ClaimSettlement], _ claim: ClaimRequest?) {
      rounds = Lock([Round(settlements: settlements, claim: claim)])
      join = claim?.join
    }

    func run(in transaction: Transaction) throws -> SettlementBatch {
      var batch = SettlementBatch(replies: [])
      var (number, mayJoin) = (0, true)
      do {
        while let round = try next(number, transaction, batch.claimed, mayJoin) {
          number += 1
          mayJoin = try run(round, in: transaction, &batch)
        }
      } catch let failure as PostgresFailure where failure.kind == .timedOut {
        if transaction.ends.isEmpty { setLargestClaim(transaction, isLate: true) }
        let results = rounds.withLock { $0.flatMap(\.settlements) }
        if results.count == 1, batch.replies.isEmpty, transaction.head != nil { late.withLock { $0 = results[0] } }
        throw failure
      }
      if batch.claimed?.jobs.isEmpty == false { setLargestClaim(transaction, isLate: false) }
      let time = transaction.context.time.now
      if time - transaction.now >= Self.longMilliseconds { renew(in: transaction, at: time) }
      return batch
    }

    private func renew(in transaction: Transaction, at time: Int64) {
      let (claim, settlements) = rounds.withLock { ($0.first?.claim, $0.flatMap(\.settlements)) }
      let own = claim.flatMap { transaction.ownRows[$0.worker] } ?? []
      let rows = Self.rows(of: settlements).union(own.compactMap(\.id))
      transaction.renew(rows, for: claim?.lease ?? Defaults.lease, from: time)
    }

    private static func rows(of settlements: [ClaimSettlement]) -> Set<Int64> {
      Set(settlements.map(\.token.worker))
    }

    /// What a claim finds may be more than can be read in the time of a call, and no lease is renewed meanwhile.
    private func setLargestClaim(_ transaction: Transaction, isLate: Bool) {
      guard let asked = rounds.withLock(\.first)?.claim?.free.values.max() else { return }
      let took = SystemClock().uptime - transaction.begunAt
      transaction.context.largestClaim.withLock { most in
        let isLate = isLate || transaction.lockPatience.map { took > $0 } ?? false
        most = isLate ? max(min(most, asked) / 2, 1) : min(2 * most, Transaction.largestClaim)
      }
    }

    /// Returns whether another round may follow. None does where rows of other jobs, of lanes or of limits were locked: each
    /// round locks them in order, but two rounds don't.
    private func run(_ round: Round, in transaction: Transaction, _ batch: inout SettlementBatch) throws -> Bool {
      let most = transaction.context.largestClaim.withLock(\.self)
      var asked = round.claim
      if let free = round.claim?.free { asked?.free = free.mapValues { min($0, most) } }
      let isAhead = asked.map { round.settlements.allSatisfy(\.isPlain) && transaction.claimsAhead($0) } ?? false
      if !isAhead { transaction.expectedWorker = asked?.worker }
      if asked == nil {
        transaction.rowsToKeep = Self.rows(of: round.settlements)
      }
      // What ends in another way than these may have set times, and let others begin.
      transaction.hasLookedForDue = isAhead && batch.claimed != nil
      let (replies, answer) = try transaction.settle(round.settlements, taking: isAhead ? asked : nil)
      transaction.hasLookedForDue = false
      batch.replies += replies
      let areAllPlain = answer.finished.count == round.settlements.count
      guard var claim = asked else { return areAllPlain }
      if isAhead {
        let taken = try transaction.conclude(claim, answer)
        batch.add(taken)
        guard !areAllPlain else { return answer.overdue.isEmpty }
        // What ended in another way may let others begin.
        for job in taken.jobs { claim.free[job.queue]? -= 1 }
        claim.free = claim.free.filter { $0.value > 0 }
        guard !claim.free.isEmpty else { return false }
      }
      batch.add(try transaction.claim(claim))
      return areAllPlain && !transaction.hasLimits(claim)
    }

    /// A transaction is kept open for others no longer than its commit will take: so no result waits more than twice as
    /// long as it must.
    private func next(_ number: Int, _ transaction: Transaction, _ claimed: ClaimBatch?, _ mayJoin: Bool) throws
      -> Round?
    {
      let known = rounds.withLock { $0.dropFirst(number).first }
      guard known == nil else { return known }
      guard mayJoin, number == 1 || transaction.isYoung, var claim = rounds.withLock(\.first)?.claim,
        let (results, free) = join?()
      else { return nil }
      claim.free = free
      let hasMore = claimed?.hasMore ?? false
      let round = Round(settlements: results, claim: hasMore && !free.isEmpty ? claim : nil)
      rounds.withLock { $0.append(round) }
      for job in results.flatMap(\.followUps) { try job.check() }
      return round
    }
  }

  extension SettlementBatch {
    fileprivate mutating func add(_ new: ClaimBatch) {
      var all = new
      all.jobs = (claimed?.jobs ?? []) + new.jobs
      all.nextDue = [claimed?.nextDue, new.nextDue].compactMap(\.self).min()
      claimed = all
    }
  }

  extension Transaction {
    /// What was assumed of the store had changed meanwhile.
    struct Surprise: Error {}

    /// Whether a claim can go out together with what is before it, since it is known how it will be: by what this process
    /// knows of its worker's row, which is locked and read on the way, and of routes and limits. ``confirm()`` follows.
    func claimsAhead(_ request: ClaimRequest) -> Bool {
      guard routes.changes >= 0, head.map({ $0.changes == routes.changes }) ?? true, request.only == nil,
        !hasLimits(request),
        let row = (ownRows[request.worker].map(context.workers.counted) ?? context.workers.rows(of: request.worker))
          .last,
        request.greeted(row, at: now) == nil
      else { return false }
      ahead = row
      return true
    }

    func hasLimits(_ request: ClaimRequest) -> Bool { request.free.keys.contains { routes.limits[$0] != nil } }

    /// Has the row of the worker that claims locked and read, which is taken for what it was.
    func assume() {
      guard let row = ahead, ownRows[row.worker] == nil else { return }
      look(at: row.worker)
      ownRows[row.worker] = context.workers.rows(of: row.worker)
    }

    /// Throws if what was assumed is not so.
    func confirm() throws {
      guard let row = ahead else { return }
      ahead = nil
      guard head?.changes == routes.changes, ownRows[row.worker]?.last?.id == row.id else { throw Surprise() }
    }
  }
#endif
