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
    private let join: (@Sendable () -> ClaimRequest.Join?)?

    init(_ settlements: [ClaimSettlement], _ claim: ClaimRequest?) {
      rounds = Lock([Round(settlements: settlements, claim: claim)])
      join = claim?.join
    }

    func run(in transaction: Transaction) throws -> SettlementBatch {
      var batch = SettlementBatch(replies: [])
      var number = 0
      while let round = try next(number, transaction, batch.claimed) {
        number += 1
        try run(round, in: transaction, &batch)
      }
      return batch
    }

    private func run(_ round: Round, in transaction: Transaction, _ batch: inout SettlementBatch) throws {
      var settle = SettleVerb(round.settlements, policy: transaction.context.policy, now: transaction.now)
      let first = settle.next(LedgerReply())
      guard let claim = round.claim, let finishes = first?.finish, finishes.count == round.settlements.count,
        var (verb, both) = transaction.claimAhead(claim)
      else {
        transaction.expectedWorker = round.claim?.worker
        try finish(&settle, first, in: transaction, &batch)
        if let claim = round.claim { batch.add(try transaction.run(ClaimVerb(claim, now: transaction.now))) }
        return
      }
      both.finish = finishes
      let answer = try transaction.exchange(both)
      try finish(&settle, settle.next(answer), in: transaction, &batch)
      var request = verb.next(answer)
      while let next = request { request = verb.next(try transaction.exchange(next)) }
      batch.add(verb.reply)
      guard answer.finished.count < finishes.count else { return }
      // What ended in another way may let others begin.
      var rest = claim
      for job in verb.reply.jobs { rest.free[job.queue]? -= 1 }
      rest.free = rest.free.filter { $0.value > 0 }
      if !rest.free.isEmpty { batch.add(try transaction.run(ClaimVerb(rest, now: transaction.now))) }
    }

    private func finish(
      _ settle: inout SettleVerb, _ request: LedgerRequest?, in transaction: Transaction, _ batch: inout SettlementBatch
    ) throws {
      var request = request
      while let next = request { request = settle.next(try transaction.exchange(next)) }
      batch.replies += settle.reply.replies
      for insertion in settle.reply.followUps { _ = try transaction.run(InsertVerb(insertion, now: transaction.now)) }
    }

    /// A transaction is kept open for others no longer than its commit will take: so no result waits more than twice as
    /// long as it must.
    private func next(_ number: Int, _ transaction: Transaction, _ claimed: ClaimBatch?) throws -> Round? {
      let known = rounds.withLock { $0.dropFirst(number).first }
      guard known == nil else { return known }
      guard number == 1 || transaction.isYoung, var claim = rounds.withLock(\.first)?.claim,
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
      claimed = all
    }
  }

  extension Transaction {
    /// What was assumed of the store had changed meanwhile.
    struct Surprise: Error {}

    /// A claim that goes out together with what is before it, if it is known how it will be: by what this process knows
    /// of its worker's row, which is locked and read on the way, and of routes and limits. ``confirm()`` follows.
    func claimAhead(_ request: ClaimRequest) -> (verb: ClaimVerb, request: LedgerRequest)? {
      guard routes.changes >= 0, head.map({ $0.changes == routes.changes }) ?? true, request.only == nil,
        request.free.keys.allSatisfy({ routes.limits[$0] == nil }),
        let row = (ownRows[request.worker] ?? context.workers.rows(of: request.worker)).last
      else { return nil }
      var verb = ClaimVerb(request, now: now)
      _ = verb.next(LedgerReply())
      var known = LedgerReply()
      known.workers = [row]
      guard let next = verb.next(known), next.save == nil else { return nil }
      ahead = row
      return (verb, next)
    }

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
