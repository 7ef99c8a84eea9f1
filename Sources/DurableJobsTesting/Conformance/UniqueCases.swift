import DurableJobs
import Foundation

extension StoreConformance {
  static let uniqueCases: [Case] = [
    Case("C44 Of many who enqueue under one unique key at once, one stores a job, and all are led to it") { subject in
      let trial = try await Trial(subject)
      let replies = try await withThrowingTaskGroup(of: InsertedJob.self) { group in
        for _ in 0..<50 { group.addTask { try await trial.insert("u") } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      try same(replies.count { $0.disposition == .inserted }, 1, "jobs stored")
      try same(Set(replies.map(\.id)).count, 1, "different ids")
      try same(try await trial.ids(), [replies[0].id], "all jobs")
      try same(try await trial.store.counts(where: .all), JobCounts([.ready: 1]), "the counts")
    },
    Case("C45 An insertion that fails leaves its unique keys free") { subject in
      let trial = try await Trial(subject)
      let bad = NewJob(queue: "q", kind: "", payload: Data())
      for number in 0..<20 {
        async let refusal: Void = refused(.invalidArgument, "an insertion with one bad job") {
          _ = try await trial.insert([.unique("u\(number)"), bad])
        }
        async let good = trial.insert("u\(number)")
        let (_, reply) = try await (refusal, good)
        try same(reply.disposition, .inserted, "what became of the one that did not fail, round \(number)")
        try same(try await trial.job(reply.id).state, .ready, "its state")
      }
      try same(try await trial.ids().count, 20, "the number of jobs")
    },
    Case("A unique key is taken as long as its job is unfinished, and who comes meanwhile changes nothing") { subject in
      for holding in Holding.allCases {
        let trial = try await Trial(subject)
        let id = try await holding.make(trial)
        let before = try await trial.job(id)
        try holds(!before.state.isFinished, "a job that is \(holding) is unfinished")
        for _ in 1...2 { try await trial.expectKept("u", id, "a job that is \(holding)") }
        try same(try await trial.job(id), before, "the job that is \(holding)")
        try same(try await trial.store.counts(where: .all), JobCounts([before.state: 1]), "the counts")
      }
    },
    Case("Each way to end lets the unique key go, and so does the removal") { subject in
      for ending in Ending.allCases {
        var policy = StorePolicy()
        policy.maxCrashesInRow = 1
        let trial = try await Trial(subject, policy: policy)
        let first = try await trial.insert("u").id
        try await ending.perform(trial, first)
        let second = try await trial.insert("u")
        try same(second.disposition, .inserted, "what became of a job after one that \(ending)")
        try holds(second.id > first, "it has an id of its own")
        try await trial.expectKept("u", second.id, "the next after one that \(ending)")
        try same(try await trial.start(second.id).token.job, second.id, "the job claimed")
      }
    },
    Case("A job that ended gives its unique key to the next, and its removal or expiry takes nothing from that") {
      subject in
      var policy = StorePolicy()
      policy.retention = .seconds(100)
      let trial = try await Trial(subject, policy: policy)
      let ended = [try await trial.insert("u").id, try await trial.insert("v").id]
      for id in ended { try await trial.change(.cancel(reason: nil), id) }
      let next = [try await trial.insert("u").id, try await trial.insert("v").id]
      try await trial.change(.remove, ended[0])
      trial.clock.advance(by: .seconds(100))
      try same(try await trial.recover().pruned, 1, "the jobs pruned")
      try await trial.expectKept("u", next[0], "the one after a removed job")
      try await trial.expectKept("v", next[1], "the one after an expired job")
    },
    Case("C47 A scheduled job with a unique key becomes ready, runs, and is not in its own way") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.insert([.unique("u", start: .after(.seconds(5)))])[0].id
      trial.clock.advance(by: .seconds(5))
      try await trial.recover()
      try same(try await trial.job(id).state, .ready, "the state once it is due")
      try await trial.expectKept("u", id, "a job that became due")
      let claimed = try await trial.start(id)
      try await trial.end(claimed, .retry(.after(.seconds(5)), message: "no"), as: .scheduled)
      try await trial.expectKept("u", id, "a job that waits for its next attempt")
      trial.clock.advance(by: .seconds(5))
      try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded)
      try same(try await trial.insert("u").disposition, .inserted, "what became of the next")
    },
    Case("C17 Cancelled and enqueued again while the first still runs: it stands until it has ended") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.start(try await trial.insert("u").id)
      try await trial.change(.cancel(reason: nil), claimed.token.job)
      try await trial.expectKept("u", claimed.token.job, "one that is being cancelled")
      try same(try await trial.claim(by: "v", ["q": 9]).count, 0, "jobs for another worker")
      try await trial.end(claimed, .interrupted, as: .cancelled)
      let next = try await trial.insert("u")
      try same(next.disposition, .inserted, "what became of the next")
      try await trial.start(next.id, by: "v")
    },
    Case("C17 However many enqueue, claim, cancel and settle at once, no two jobs of a unique key run at once") {
      subject in
      let trial = try await Trial(subject)
      for policy in [UniqueKey.Policy.keep, .replace, .append] {
        try await trial.expectOneAtOnce { try await trial.insert("u", policy).id }
      }
    },
    Case("C46 A retry is refused while another job has the unique key, and takes the key again once it is free") {
      subject in
      let trial = try await Trial(subject)
      let failed = try await trial.start(try await trial.insert("u").id).token.job
      try await trial.change(.fail(message: "no"), failed)
      let cancelled = try await trial.insert("u").id
      try await trial.change(.cancel(reason: nil), cancelled)
      let newer = try await trial.insert("u").id
      for id in [failed, cancelled] {
        let before = try await trial.job(id)
        let report = try await trial.report(.retry, id)
        try same(report.changed, [], "the jobs retried")
        let refusal = try present(report.refused.first, "a refusal")
        try same(refusal.keyOwner, newer, "the job that has its key")
        try holds(refusal.message.contains("belongs to job \(newer);"), "'\(refusal.message)' names job \(newer)")
        try same(try await trial.job(id), before, "the refused job")
      }
      try await trial.change(.cancel(reason: nil), newer)
      let all = try await trial.store.change(.retry, where: .all, after: nil, limit: 9)
      try same(all.changed, [failed], "the jobs retried at once, once the key is free")
      try same(all.refused.map(\.job), [cancelled, newer], "those that came too late")
      try await trial.expectKept("u", failed, "a retried job")
      try await trial.end(try await trial.start(failed), .succeeded(output: nil), as: .succeeded)
      try await trial.change(.retry, newer)
      try await trial.expectKept("u", newer, "the next that is retried")
    },
    Case("A change that leaves a job unfinished is no matter of its unique key") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.insert([.unique("u", start: .after(.seconds(60)))])[0].id
      try await trial.change(.retry, id)
      try same(try await trial.job(id).state, .ready, "the state after the retry of a scheduled job")
      try await trial.change(.suspend(reason: nil), id)
      try await trial.change(.retry, id)
      try same(try await trial.job(id).state, .ready, "the state after the retry of a suspended job")
      try await trial.start(id)
      try await trial.change(.reset, id)
      try await trial.expectKept("u", id, "a job that was reset")
    },
    Case("The same unique key twice in one insertion is one job") { subject in
      let trial = try await Trial(subject)
      let before = try await trial.insert("old").id
      let jobs = try await trial.insert([.unique("u"), .unique(nil), .unique("u"), .unique("old"), .unique("v")])
      try same(
        jobs.map(\.disposition), [.inserted, .inserted, .kept, .kept, .inserted], "what became of the jobs")
      try same(jobs[2].id, jobs[0].id, "who stands for the second of a key")
      try same(jobs[3].id, before, "who stands for one of an earlier key")
      try same(try await trial.ids(), [before, jobs[0].id, jobs[1].id, jobs[4].id], "all jobs")
    },
    Case("A unique key holds over queues and kinds, and is not the key that jobs are found by") { subject in
      let trial = try await Trial(subject)
      let first = try await trial.insert([.unique("u", queue: "one", kind: "a")])[0].id
      let second = try await trial.insert([.unique("u", queue: "two", kind: "b")])[0]
      try same(second, InsertedJob(id: first, disposition: .kept), "what became of one in another queue")
      for _ in 1...2 { try await trial.add(JobTerms(key: "u")) }
      try same(try await trial.ids(.key("u")).count, 2, "jobs found by the key")
    },
    Case("Unique keys that differ in anything are different, and each may be as long as a name") { subject in
      let trial = try await Trial(subject)
      let keys = [
        "u", "U", "u ", " u", "u%", "u_", "'", "u\u{0}", "u\u{0}v", "ü", "✓",
        String(repeating: "u", count: Limits.nameBytes),
      ]
      var ids: Set<JobID> = []
      for key in keys { ids.insert(try await trial.insert(key).id) }
      try same(ids.count, keys.count, "the number of jobs")
      for key in keys { try same(try await trial.insert(key).disposition, .kept, "what became of a second '\(key)'") }
      for key in ["", String(repeating: "u", count: Limits.nameBytes + 1)] {
        try await refused(.invalidArgument, "a unique key of \(key.utf8.count) bytes") {
          _ = try await trial.insert(key)
        }
      }
    },
    Case("A unique key is taken when the store is opened again, and let go by what is settled then", needs: [.reopens])
    {
      subject in
      var trial = try await Trial(subject)
      let id = try await trial.insert("u").id
      func reopened() async throws -> Trial {
        Trial(store: try await subject.reopen?(trial.store) ?? trial.store, clock: trial.clock)
      }
      trial = try await reopened()
      try await trial.expectKept("u", id, "a job of an earlier process")
      try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded)
      trial = try await reopened()
      try same(try await trial.insert("u").disposition, .inserted, "what became of the next")
    },
    Case("C48 One that is appended runs once the newest of its key has succeeded, and starts anew where that has ended")
    {
      subject in
      let trial = try await Trial(subject)
      let first = try await trial.insert("u", .append)
      let chain = try await [trial.insert("u", .append), trial.insert("u", .append)]
      try same(
        [first.disposition] + chain.map(\.disposition), [.inserted, .appended, .appended], "what became of three")
      try await trial.expectKept("u", chain[1].id, "a chain")
      for id in [first.id, chain[0].id] {
        let claimed = try await trial.start(id)
        try same(try await trial.claim(by: "v", ["q": 9]).count, 0, "what may run beside job \(id)")
        try await trial.end(claimed, .succeeded(output: nil), as: .succeeded)
      }
      try await trial.end(try await trial.start(chain[1].id), .failed(message: "no"), as: .failed)
      try same(
        try await trial.insert("u", .append).disposition, .inserted, "what became of one after a chain that failed")
      let cancelled = try await [trial.insert("v", .append), trial.insert("v", .append)].map(\.id)
      try await trial.change(.cancel(reason: nil), cancelled[0])
      try same(try await trial.states(cancelled), [.cancelled, .skipped], "a chain that is cancelled")
      let anew = try await trial.insert("v", .append)
      try same(anew.disposition, .inserted, "what became of one after a chain that was cancelled")
      try same(try await trial.job(anew.id).state, .ready, "the one that starts anew")
    },
    Case("Whose predecessor fails is skipped, and a retry of that takes the whole chain along") { subject in
      let trial = try await Trial(subject)
      let chain = try await [trial.insert("u").id, trial.insert("u", .append).id, trial.insert("u", .append).id]
      try await trial.end(try await trial.start(chain[0]), .failed(message: "no"), as: .failed)
      for id in chain.dropFirst() { try same(try await trial.job(id).state, .skipped, "the state of job \(id)") }
      try await trial.change(.retry, chain[0])
      try same(try await trial.job(chain[2]).state, .blocked, "the last once the first lives again")
      try await trial.expectKept("u", chain[2], "a chain that lives again")
      let other = try await trial.insert("v", .append).id
      try await trial.end(try await trial.start(chain[0]), .failed(message: "no"), as: .failed)
      let newer = try await trial.insert("u").id
      let report = try await trial.report(.retry, chain[0])
      try holds(report.refused.first?.message.contains("job \(newer);") ?? false, "it names who has the key")
      try same(try await trial.job(other).state, .ready, "one of another key")
    },
    Case("One that replaces cancels all that wait under its key, with what needs them") { subject in
      let trial = try await Trial(subject)
      let old = try await [trial.insert("u").id, trial.insert("u", .append).id]
      let child = try await trial.add(after: [.job(old[1])])
      let new = try await trial.insert("u", .replace)
      try same(new.disposition, .replaced, "what became of it")
      let jobs = try await (old + [child, new.id]).asyncMap { try await trial.job($0) }
      try same(jobs.map(\.state), [.cancelled, .cancelled, .skipped, .ready], "the states")
      try same(jobs[0].reason, "replaced by another of its unique key, 'u'", "the reason")
      try await trial.expectKept("u", new.id, "one that replaced others")
      try same(try await trial.insert("v", .replace).disposition, .inserted, "what became of one that found nobody")
    },
    Case("A sibling may wait for what a unique key kept, whoever had that key last is replaced with others") {
      subject in
      let trial = try await Trial(subject)
      let other = try await trial.insert("v")
      let kept = try await trial.insert("u").id
      let appended = try await trial.add([
        .plain(after: [.job(other.id)], terms: JobTerms(unique: UniqueKey("u", policy: .append)))
      ])[0]
      let reply = try await trial.store.insert(
        JobInsertion([
          .plain(terms: JobTerms(unique: "u")), .plain(terms: JobTerms(unique: UniqueKey("v", policy: .replace))),
          .plain(after: [JobEdge(.sibling(0))]),
        ]))
      try same(reply.jobs[0], InsertedJob(id: kept, disposition: .kept), "what stands for the first")
      try same(try await trial.job(appended).state, .skipped, "the one that went with what was replaced")
      try same(try await trial.job(reply.ids[2]).state, .blocked, "the one that waits for what was kept")
    },
    Case("One that replaces a running job has it stop, waits for its end, and never runs beside it") { subject in
      for isObeyed in [true, false] {
        let trial = try await Trial(subject)
        let claimed = try await trial.start(try await trial.insert("u").id)
        let new = try await trial.insert("u", .replace)
        let newest = try await trial.insert("u", .replace)
        try same([new.disposition, newest.disposition], [.replaced, .replaced], "what became of them")
        try same(try await trial.job(new.id).state, .cancelled, "the first that was to replace it")
        try same(try await trial.job(newest.id).state, .blocked, "the second")
        try same(try await trial.renew([claimed]), [.stopRequested(.cancelled)], "what the running one is told")
        try same(try await trial.claim(by: "v", ["q": 9]).count, 0, "what another may claim")
        try await trial.end(
          claimed, isObeyed ? .interrupted : .succeeded(output: nil), as: isObeyed ? .cancelled : .succeeded)
        try await trial.end(try await trial.start(newest.id), .succeeded(output: nil), as: .succeeded)
      }
    },
    Case("Within its window a key leads to the job that succeeded, which is kept so long; any other end lets it go") {
      subject in
      var policy = StorePolicy()
      policy.retention = .seconds(10)
      let trial = try await Trial(subject, policy: policy)
      let first = try await trial.insert("u", scope: .within(.seconds(100))).id
      try await trial.change(.cancel(reason: nil), first)
      let second = try await trial.insert("u", scope: .within(.seconds(100))).id
      try holds(second != first, "a cancelled job has let its key go")
      try await trial.end(try await trial.start(second), .succeeded(output: Data("o".utf8)), as: .succeeded)
      trial.clock.advance(by: .seconds(99))
      try await trial.recover()
      try await trial.expectKept("u", second, "one that succeeded within the window")
      trial.clock.advance(by: .seconds(1))
      let third = try await trial.insert("u")
      try same(third.disposition, .inserted, "what became of one after the window")
      trial.clock.advance(by: policy.retention)
      try same(try await trial.recover().pruned, 1, "jobs that go once their window is over")
      try await trial.expectKept("u", third.id, "the next")
      try await refused(.invalidArgument, "a window of nothing") {
        _ = try await trial.insert("w", scope: .within(.zero))
      }
    },
    Case("A key that is held while its job is stored leads to it however it ended, until it is removed") { subject in
      let trial = try await Trial(subject)
      let first = try await trial.insert("u", scope: .whileStored).id
      try await trial.change(.cancel(reason: nil), first)
      try await trial.expectKept("u", first, "a cancelled job")
      try await trial.change(.retry, first)
      try await trial.end(try await trial.start(first), .succeeded(output: nil), as: .succeeded)
      try await trial.expectKept("u", first, "a job that succeeded")
      try await trial.change(.remove, first)
      try same(try await trial.insert("u").disposition, .inserted, "what became of one after the removal")
    },
    Case("A retry opens again who was skipped for want of the job, though the last of them has their unique key") {
      subject in
      for scope in [UniqueKey.Scope.whileUnfinished, .whileStored] {
        for isKeyless in [false, true] {
          let trial = try await Trial(subject)
          var jobs = (0..<4).map { _ in NewJob.unique("u", policy: .append, scope: scope) }
          if isKeyless {
            jobs[0].terms.unique = nil
            jobs[1].edges = [JobEdge(.sibling(0))]
          }
          let line = try await trial.insert(jobs).map(\.id)
          try await trial.end(try await trial.start(line[0]), .failed(message: "f"), as: .failed)
          try same(try await trial.states(line), [.failed, .skipped, .skipped, .skipped], "a line whose first failed")
          try await trial.change(.retry, line[0])
          try same(try await trial.states(line), [.ready, .blocked, .blocked, .blocked], "the line after the retry")
          for id in line { try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded) }
        }
      }
    },
    Case("A retry of a job whose line is skipped is refused for who took their unique key meanwhile") { subject in
      for isLast in [true, false] {
        let trial = try await Trial(subject)
        let append = NewJob.unique("u", policy: .append, scope: .whileStored)
        let line = try await trial.insert([append, append]).map(\.id)
        try await trial.end(try await trial.start(line[0]), .failed(message: "f"), as: .failed)
        let stranger = try await trial.insert([append])[0].id
        try same(try await trial.job(stranger).edges, [], "what one waits for that comes after a line that has ended")
        if !isLast {
          var last = append
          last.edges = [.job(line[0])]
          let id = try await trial.insert([last])[0].id
          try same(try await trial.job(id).state, .skipped, "the state of one that needs the failed one, too")
        }
        let refusals = try await trial.report(.retry, line[0]).refused
        try same(refusals.first?.keyOwner, stranger, "the job that is in the way")
        try same(try await trial.states(line), [.failed, .skipped], "the line after a retry that was refused")
      }
    },
    Case("One that waits for another of its unique key only by way of a third never runs beside it") { subject in
      let trial = try await Trial(subject)
      let first = try await trial.insert("u").id
      try await trial.end(try await trial.start(first), .failed(message: "f"), as: .failed)
      let third = try await trial.add(after: [.job(first)])
      var job = NewJob.unique("u")
      job.edges = [.job(third)]
      let last = try await trial.insert([job])[0].id
      try same(try await trial.states([third, last]), [.skipped, .skipped], "those after one that failed")
      try await trial.change(.retry, first)
      try same(try await trial.states([first, third, last]), [.ready, .blocked, .skipped], "the line after a retry")
      let running = try await trial.start(first)
      try await trial.change(.complete(output: nil), third)
      try same(try await trial.report(.retry, last).refused.count, 1, "refusals while the first runs")
      try await trial.end(running, .succeeded(output: nil), as: .succeeded)
      try await trial.change(.retry, last)
      try same(try await trial.states([last]), [.ready], "the last once the first has ended")
    },
    Case("Of one call, those that append make a chain, and two can't replace each other") { subject in
      let trial = try await Trial(subject)
      let append = NewJob.unique("u", policy: .append)
      let jobs = try await trial.insert([append, append, .unique("u"), append])
      try same(jobs.map(\.disposition), [.inserted, .appended, .kept, .appended], "what became of them")
      try same(jobs[2].id, jobs[1].id, "who stands for one that was kept")
      for id in [jobs[0].id, jobs[1].id, jobs[3].id] {
        try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded)
      }
      let failed = try await trial.addAndStart()
      try await trial.end(failed, .failed(message: "no"), as: .failed)
      var skipped = NewJob.unique("v", policy: .append, scope: .whileStored)
      skipped.edges = [.job(failed.token.job)]
      let line = try await trial.insert([.unique("v"), skipped, .unique("v", policy: .append)])
      try same(try await trial.states(line.map(\.id)), [.ready, .skipped, .blocked], "a line of which one was skipped")
      try same(
        try await trial.job(line[2].id).edges, [.job(line[0].id)], "what the last of it waits for")
      let replace = NewJob.unique("u", policy: .replace)
      try await refused(.invalidArgument, "two that replace") { _ = try await trial.insert([replace, replace]) }
    },
  ]

  /// The ways in which an unfinished job may stand.
  private enum Holding: CaseIterable {
    case ready, scheduled, running, cancelAsked, suspendAsked, backingOff, snoozed, interrupted, crashed, suspended
    case suspendedByHandler, resumed

    func make(_ trial: Trial) async throws -> JobID {
      if self == .scheduled { return try await trial.insert([.unique("u", start: .after(.seconds(60)))])[0].id }
      let id = try await trial.insert("u").id
      if self == .suspended || self == .resumed { try await trial.change(.suspend(reason: "s"), id) }
      if self == .resumed { try await trial.change(.resume, id) }
      if [.ready, .suspended, .resumed].contains(self) { return id }
      let claimed = try await trial.start(id)
      switch self {
      case .cancelAsked: try await trial.change(.cancel(reason: nil), id)
      case .suspendAsked: try await trial.change(.suspend(reason: nil), id)
      case .backingOff: try await trial.settle(claimed, .retry(.after(.seconds(9)), message: "r"))
      case .snoozed: try await trial.settle(claimed, .snoozed(.after(.seconds(9))))
      case .interrupted: try await trial.settle(claimed, .interrupted)
      case .crashed: try await trial.loseWorkers()
      case .suspendedByHandler: try await trial.settle(claimed, .suspended(reason: "s"))
      default: break
      }
      return id
    }
  }

  /// The ways in which a job comes to its end. One crash is one too many.
  private enum Ending: CaseIterable {
    case succeeded, failed, usedItsAttemptsUp, wasCancelled, wasCancelledRunning, crashedWithItsWorker, crashedAlone
    case wasCompleted, wasCompletedRunning, wasFailed, wasFailedRunning, wasRemoved, wasRetiredCancelled
    case succeededWithItsLastProgress, wasRetriedAndFailed

    func perform(_ trial: Trial, _ id: JobID) async throws {
      switch self {
      case .wasCancelled: return try await trial.change(.cancel(reason: nil), id)
      case .wasCompleted: return try await trial.change(.complete(output: Data("o".utf8)), id)
      case .wasFailed: return try await trial.change(.fail(message: "f"), id)
      case .wasRemoved: return try await trial.change(.remove, id)
      default: break
      }
      let claimed = try await trial.start(id)
      switch self {
      case .succeeded: try await trial.end(claimed, .succeeded(output: nil), as: .succeeded)
      case .failed: try await trial.end(claimed, .failed(message: "f"), as: .failed)
      case .usedItsAttemptsUp:
        var last = claimed
        for _ in 1..<Defaults.maxAttempts {
          try await trial.settle(last, .retry(.now, message: "r"))
          last = try await trial.start(id)
        }
        try await trial.end(last, .retry(.now, message: "r"), as: .failed)
      case .wasCancelledRunning:
        try await trial.change(.cancel(reason: nil), id)
        try await trial.end(claimed, .retry(.now, message: "r"), as: .cancelled)
      case .crashedWithItsWorker: try await trial.loseWorkers()
      case .crashedAlone: try await trial.end(claimed, .crashed, as: .failed)
      case .wasCompletedRunning: try await trial.change(.complete(output: nil), id)
      case .wasFailedRunning: try await trial.change(.fail(message: "f"), id)
      case .wasRetiredCancelled:
        try await trial.change(.cancel(reason: nil), id)
        try await trial.retire("w")
      case .succeededWithItsLastProgress:
        try await trial.settle(claimed, .succeeded(output: Data("o".utf8)), progress: JobProgress(fraction: 1))
      case .wasRetriedAndFailed:
        try await trial.end(claimed, .failed(message: "f"), as: .failed)
        try await trial.change(.retry, id)
        try await trial.end(try await trial.start(id), .failed(message: "f"), as: .failed)
      case .wasCancelled, .wasCompleted, .wasFailed, .wasRemoved: break
      }
    }
  }
}

extension NewJob {
  fileprivate static func unique(
    _ key: String?, policy: UniqueKey.Policy = .keep, scope: UniqueKey.Scope = .whileUnfinished, start: JobTime = .now,
    queue: String = "q", kind: String = "k"
  ) -> NewJob {
    NewJob(
      queue: queue, kind: kind, payload: Data("{}".utf8),
      terms: JobTerms(start: start, unique: key.map { UniqueKey($0, policy: policy, scope: scope) }))
  }
}

extension Trial {
  fileprivate func insert(_ jobs: [NewJob]) async throws -> [InsertedJob] {
    let inserted = try await store.insert(JobInsertion(jobs)).jobs
    try same(inserted.count, jobs.count, "answers to an insertion")
    return inserted
  }

  fileprivate func insert(
    _ key: String, _ policy: UniqueKey.Policy = .keep, scope: UniqueKey.Scope = .whileUnfinished
  ) async throws -> InsertedJob {
    try await insert([.unique(key, policy: policy, scope: scope)])[0]
  }

  /// Expects that a new job under the key is not stored, and that `holder` stands for it.
  fileprivate func expectKept(_ key: String, _ holder: JobID, _ what: String) async throws {
    try same(try await insert(key), InsertedJob(id: holder, disposition: .kept), "what came of another beside \(what)")
  }
}
