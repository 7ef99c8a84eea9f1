import DurableJobs
import Foundation

extension StoreConformance {
  static let explanationCases: [Case] = [
    Case("A job that starts later says when") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.add(.start(.after(.seconds(60))))
      try same(try await trial.reasons(id), [.start(trial.after(.seconds(60))), .noWorker], "the reasons")
      trial.clock.advance(by: .seconds(60))
      try same(try await trial.reasons(id), [.noWorker], "the reasons when its time has come")
    },
    Case("A back-off says which attempt failed, and how") { subject in
      let trial = try await Trial(subject)
      let job = try await trial.addAndStart()
      try await trial.end(job, .retry(.after(.seconds(9)), message: "no"), as: .scheduled)
      let failure = AttemptFailure(attempt: 1, at: trial.now, message: "no")
      let reason = JobExplanation.Reason.backOff(until: trial.after(.seconds(9)), after: failure)
      try same(try await trial.reasons(job.token.job), [reason], "the reasons")
    },
    Case("A snooze says until when, and a crash that there was one") { subject in
      let trial = try await Trial(subject)
      let job = try await trial.addAndStart()
      try await trial.end(job, .snoozed(.after(.seconds(9))), as: .scheduled)
      try same(
        try await trial.reasons(job.token.job), [.putOff(until: trial.after(.seconds(9)), crashes: 0)], "of a snooze")
      try await trial.change(.retry, job.token.job)
      try await trial.end(try await trial.start(job.token.job), .crashed, as: .ready)
      try await trial.end(try await trial.start(job.token.job), .crashed, as: .scheduled)
      let snapshot = try await trial.job(job.token.job)
      let time = try present(snapshot.runAt, "when it is due")
      try same(try await trial.reasons(job.token.job), [.putOff(until: time, crashes: 2)], "of a crash")
    },
    Case("A job that waits for others says for which, and where they stand; those that have come are not told") {
      subject in
      let trial = try await Trial(subject)
      let (first, second) = (try await trial.add(), try await trial.add(.start(.after(.seconds(60)))))
      let edges = [
        JobEdge(.job(second), .ended), JobEdge(.key("none")), JobEdge(.job(first)), JobEdge(.job(first), slot: 1),
      ]
      let id = try await trial.add(after: edges)
      let running = try await trial.start(first)
      let rest: [JobExplanation.Reason] = [.needs(second, .scheduled, .ended), .needsKey("none", .succeeded)]
      try same(try await trial.reasons(id), [.needs(first, .running, .succeeded)] + rest, "the reasons")
      try await trial.end(running, .succeeded(output: nil), as: .succeeded)
      try same(try await trial.reasons(id), rest, "the reasons when one has come")
    },
    Case("Of many that a job waits for, some are told") { subject in
      let trial = try await Trial(subject)
      let many = try await trial.add(JobWaits.mostNeeds + 20)
      let id = try await trial.add(after: many.map { .job($0) })
      let waits = try present(try await trial.waits(id), "what it waits for")
      try same(waits.needs.count, JobWaits.mostNeeds, "those that are told")
    },
    Case("A job in a lane says who is before it, and who holds the lane") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(3, JobTerms(lane: "l"))
      try same(try await trial.reasons(ids[0]), [.noWorker], "of the first")
      try same(try await trial.reasons(ids[2]), [.lane("l", ids[0], .ready), .noWorker], "of the third")
      try await trial.end(try await trial.start(ids[0]), .failed(message: "no"), as: .failed)
      try same(try await trial.reasons(ids[2]), [.lane("l", ids[0], .failed)], "where the first failed")
    },
    Case("Jobs that wait for each other through lanes and edges are told as a circle, and a wider lane opens it") {
      subject in
      let trial = try await Trial(subject)
      let a = try await trial.add([.plain(after: [JobEdge(.key("k"))], terms: JobTerms(lane: "x"))])[0]
      let d = try await trial.add(JobTerms(lane: "x"))
      let c = try await trial.add([.plain(after: [.job(d)], terms: JobTerms(lane: "y"))])[0]
      try same(try await trial.circle(c), [], "a circle that is open still")
      let b = try await trial.add(JobTerms(key: "k", lane: "y"))
      let after = try await trial.add(after: [.job(b)])
      for id in [a, b, c, d, after] { try same(try await trial.circle(id), [a, b, c, d], "the circle, for \(id)") }
      let told = JobExplanation(try await trial.snapshot(after), circle: [a, b, c, d]).reasons
      try same(told, [.circle([a, b, c, d]), .needs(b, .blocked, .succeeded), .noWorker], "the reasons")
      try same(try await trial.claim(["q": 9]).count, 0, "jobs that run")
      try await trial.store.configure([.lane("x", width: 2)])
      for id in [a, b, c, d, after] { try same(try await trial.circle(id), [], "the circle with another seat") }
      for id in [d, c, b, a] { try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded) }
    },
    Case("Jobs that wait for each other through all seats of a wide lane are told as a circle, once all are taken so") {
      subject in
      let trial = try await Trial(subject)
      try await trial.store.configure([.lane("a", width: 2)])
      func add(key: String? = nil, after edges: [JobEdge] = []) async throws -> JobID {
        try await trial.add([.plain(after: edges, terms: JobTerms(key: key, lane: "a"))])[0]
      }
      let (first, second) = (try await add(after: [JobEdge(.key("b"))]), try await add(after: [JobEdge(.key("c"))]))
      let bringer = try await add(key: "b")
      try same(try await trial.circle(bringer), [], "a circle that is open still")
      let other = try await add(key: "c")
      for id in [first, second, bringer, other] {
        try same(try await trial.circle(id), [first, bringer], "the circle, for \(id)")
      }
      try await trial.change(.cancel(reason: nil), second)
      for id in [bringer, first, other] {
        try same(try await trial.circle(id), [], "the circle, for \(id) with a free seat")
        try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded)
      }
    },
    Case("A circle by a key is told, whose bringer a retry put behind another lane's that waits for it") { subject in
      let trial = try await Trial(subject)
      let bringer = try await trial.add(JobTerms(key: "k", lane: "m"))
      try await trial.change(.cancel(reason: nil), bringer)
      let waiter = try await trial.add([.plain(after: [JobEdge(.key("k"))], terms: JobTerms(lane: "n"))])[0]
      let behind = try await trial.add(JobTerms(lane: "n"))
      let head = try await trial.add([.plain(after: [.job(behind)], terms: JobTerms(lane: "m"))])[0]
      try same(try await trial.circle(waiter), [], "a circle that is open still")
      try await trial.change(.retry, bringer)
      let circle = [bringer, head, behind, waiter]
      for id in circle { try same(try await trial.circle(id), circle, "the circle, for \(id)") }
    },
    Case("Who has the unique key of the failed job that holds its lane is told that this can't be retried before") {
      subject in
      let trial = try await Trial(subject)
      let queue = JobQueue("q", store: trial.store)
      let terms = JobTerms(maxAttempts: 1, unique: UniqueKey("u"), lane: "l")
      let first = try await trial.add(terms)
      try await trial.end(try await trial.start(first), .failed(message: "f"), as: .failed)
      let (second, third) = (try await trial.add(terms), try await trial.add(JobTerms(lane: "l")))
      for (id, reason) in [
        (second, JobExplanation.Reason.uniqueKey("u", first, .failed)), (third, .lane("l", first, .failed)),
      ] {
        let why = try await queue.explain(id)
        try same(why.reasons, [reason], "why job \(id) waits")
      }
      try same(try await trial.report(.retry, first).refused.map(\.job), [first], "a retry while the second waits")
      try await trial.change(.cancel(reason: nil), second)
      try await trial.change(.retry, first)
      try await trial.start(first)
    },
    Case("A job that was appended by its unique key says to whom") { subject in
      let trial = try await Trial(subject)
      let terms = JobTerms(unique: UniqueKey("u", policy: .append))
      let (first, second) = (try await trial.add(terms), try await trial.add(terms))
      try same(try await trial.reasons(second), [.uniqueKey("u", first, .ready), .noWorker], "the reasons")
    },
    Case("A job whose condition does not hold says why not") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.add(JobTerms(requires: ["a", "b", "c", "d"]))
      var request = trial.request()
      (request.satisfied, request.absent) = (["c", "d"], ["a"])
      _ = try await trial.store.claim(request)
      try await trial.store.configure([.constraint("c", satisfied: false)])
      try same(
        try await trial.reasons(id),
        [.constraint("a", .absent), .constraint("b", .unprovided), .constraint("c", .setByHand)], "the reasons")
      try await trial.store.configure([
        .constraint("a", satisfied: true), .constraint("b", satisfied: true), .constraint("c", satisfied: nil),
      ])
      try same(try await trial.reasons(id), [], "the reasons when all hold")
    },
    Case("A job of a paused queue says so") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.add()
      try await trial.store.configure([.queue("q", isPaused: true)])
      try same(try await trial.reasons(id), [.paused("q"), .noWorker], "the reasons")
    },
    Case("A job without a worker says what is lacking: any, one on its queue, or one for its kind") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.add()
      try same(try await trial.reasons(id), [.noWorker], "where nobody works")
      _ = try await trial.claim(["other": 1])
      try same(try await trial.reasons(id), [.queueUnserved("q")], "where another queue is worked on")
      _ = try await trial.claim(by: "v", kinds: ["other"])
      try same(try await trial.reasons(id), [.kindUnknown("k")], "where other kinds are")
      trial.clock.advance(by: Defaults.lease)
      try same(try await trial.reasons(id), [.noWorker], "where nobody lives any more")
      try same(try await trial.waits(id)?.workers.map(\.standing), [.silent, .silent], "the workers")
    },
    Case("A job behind others says how many run") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(3)
      _ = try await trial.take(2)
      try same(try await trial.reasons(ids[2]), [.slotsTaken(running: 2, workers: 1)], "the reasons")
    },
    Case("A suspended job says who did it") { subject in
      let trial = try await Trial(subject)
      let terms = JobTerms(maxAttempts: 9)
      let held = try await trial.add(terms)
      try await trial.change(.suspend(reason: "not now"), held)
      let holders: [(ClaimSettlement.Result, JobHold)] = [
        (.suspended(reason: "asked"), .handler), (.suspended(reason: "odd", by: .undecodable), .undecodable),
      ]
      for (result, holder) in holders {
        let job = try await trial.addAndStart(terms)
        try await trial.end(job, result, as: .suspended)
        guard case .suspended(let reason, _) = result else { continue }
        try same(try await trial.reasons(job.token.job), [.held(by: holder, reason: reason)], "the reasons")
        try await trial.change(.resume, job.token.job)
        try await trial.change(.suspend(reason: nil), job.token.job)
        try same(try await trial.reasons(job.token.job), [.held(by: .request, reason: nil)], "by a person, later")
      }
      let asked = try await trial.addAndStart(terms)
      try await trial.change(.suspend(reason: "mine"), asked.token.job)
      try await trial.end(asked, .suspended(reason: "its own"), as: .suspended)
      try same(try await trial.reasons(asked.token.job), [.held(by: .request, reason: "mine")], "of both at once")
      try same(try await trial.reasons(held), [.held(by: .request, reason: "not now")], "of the first")
    },
    Case("A running job says where, since when, and that it is to stop") { subject in
      let trial = try await Trial(subject)
      let (since, job) = (trial.now, try await trial.addAndStart())
      trial.clock.advance(by: .seconds(5))
      try await trial.change(.cancel(reason: nil), job.token.job)
      let reasons = try await trial.reasons(job.token.job)
      guard case .running(let worker?, since, .cancelled) = reasons.first, reasons.count == 1 else {
        throw Difference("the reasons: \(reasons)")
      }
      try same(worker.jobs, [job.token.job], "what its worker runs")
      try same(worker.process, Int64(ProcessInfo.processInfo.processIdentifier), "the process of its worker")
    },
    Case("A job that has ended says how") { subject in
      let trial = try await Trial(subject)
      let job = try await trial.addAndStart()
      let (cancelled, skipped) = (try await trial.add(), try await trial.add(after: [.job(job.token.job)]))
      try await trial.end(job, .failed(message: "no"), as: .failed)
      try await trial.change(.cancel(reason: "late"), cancelled)
      try same(try await trial.reasons(job.token.job), [.ended(.failed, reason: "no")], "of one that failed")
      try same(try await trial.reasons(cancelled), [.ended(.cancelled, reason: "cancelled: late")], "of one cancelled")
      let words = "skipped: job \(job.token.job) (k) failed"
      try same(
        try await trial.explain(skipped), [.ended(.skipped, reason: words, retry: job.token.job)], "of one skipped")
      try await trial.change(.remove, job.token.job)
      try same(
        try await trial.explain(skipped), [.ended(.skipped, reason: words)], "of one whose cause can't be retried")
    },
    Case("Nothing keeps a job that a worker can take") { subject in
      let trial = try await Trial(subject)
      _ = try await trial.claim()
      try same(try await trial.reasons(try await trial.add()), [], "the reasons")
    },
  ]
}

extension Trial {
  fileprivate func snapshot(_ id: JobID) async throws -> JobSnapshot {
    try present(try await store.jobs(JobQuery(.id(id), detail: [.failures, .waits])).first, "job \(id)")
  }

  func circle(_ id: JobID) async throws -> [JobID] {
    try await store.circle(around: try await snapshot(id))
  }

  fileprivate func waits(_ id: JobID) async throws -> JobWaits? { try await snapshot(id).waits }

  fileprivate func reasons(_ id: JobID) async throws -> [JobExplanation.Reason] {
    JobExplanation(try await snapshot(id)).reasons
  }
}
