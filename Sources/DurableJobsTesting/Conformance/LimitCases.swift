import DurableJobs
import Foundation

extension StoreConformance {
  static let limitCases: [Case] = [
    Case("No more jobs of a queue run than its limit allows, whoever claims; other queues go on") { subject in
      let trial = try await Trial(subject)
      try await trial.limit(JobLimits(running: 2))
      _ = try await trial.add(4)
      try await trial.add(queue: "p")
      let batch = try await trial.store.claim(trial.request(["q": 9, "p": 9]))
      try same(batch.jobs.map(\.queue), ["q", "q", "p"], "queues of the jobs claimed")
      try holds(!batch.hasMore, "what a limit keeps is no reason to ask again")
      try same(batch.full, ["q"], "the queues that are full")
      let other = try await trial.store.claim(trial.request(by: "v", ["q": 9, "p": 9]))
      try same(other.jobs.count, 0, "jobs claimed by another worker")
      try same(other.full, ["q"], "the queues that are full for another worker")
      try holds(!other.hasMore, "nothing is left for another worker either")
      try same(other.nextDue, nil, "when the other worker is to ask again")
      try await trial.end(batch.jobs[0], .succeeded(output: nil), as: .succeeded)
      try same(try await trial.claim(by: "v", ["q": 9]).count, 1, "jobs claimed once one has ended")
      try same(try await trial.claim(by: "v", ["q": 9]).count, 0, "jobs claimed after that")
    },
    Case("A worker with less room than the limit hears that there is more, and others get the rest") { subject in
      let trial = try await Trial(subject)
      try await trial.limit(JobLimits(running: 3))
      let ids = try await trial.add(4)
      let batch = try await trial.store.claim(trial.request(["q": 2]))
      try same(batch.jobs.map(\.token.job), Array(ids[..<2]), "jobs claimed by the one")
      try holds(batch.hasMore, "it had no room for more")
      try same(try await trial.claim(by: "v", ["q": 2]).map(\.token.job), [ids[2]], "jobs claimed by the other")
    },
    Case("Who claims with a settlement gets the place that it frees") { subject in
      let trial = try await Trial(subject)
      try await trial.limit(JobLimits(running: 1))
      let ids = try await trial.add(3)
      var job = try await trial.take(1)[0]
      for id in ids.dropFirst() {
        let settlement = ClaimSettlement(token: job.token, result: .succeeded(output: nil))
        let claimed = try await trial.store.settle([settlement], thenClaim: trial.request(["q": 9])).claimed
        job = try present(claimed?.jobs.first, "a job claimed with the settlement")
        try same(job.token.job, id, "the job claimed with the settlement")
        try same(claimed?.jobs.count, 1, "jobs claimed with the settlement")
      }
    },
    Case("However a running job ends or goes back, its place is free") { subject in
      let trial = try await Trial(subject)
      try await trial.limit(JobLimits(running: 1))
      _ = try await trial.add(20, .attempts(9))
      func expectPlace(_ what: String) async throws {
        // First those that went back.
        try same(try await trial.claim(["q": 9]).count, 1, "jobs claimed after \(what)")
        try same(try await trial.claim(by: "v", ["q": 9]).count, 0, "jobs claimed beside that")
      }
      func running() async throws -> JobID { try await trial.ids(.state(.running))[0] }
      try await expectPlace("nothing")
      try await trial.loseWorkers()
      try await expectPlace("a recovery")
      try await trial.retire("w")
      try await expectPlace("its worker's retirement")
      for change in [JobChange.complete(output: nil), .fail(message: "no"), .reset] {
        try await trial.change(change, try await running())
        try await expectPlace("\(change)")
      }
      let results: [ClaimSettlement.Result] = [
        .failed(message: "no"), .suspended(reason: "later"), .interrupted, .snoozed(.after(.seconds(60))),
        .retry(.after(.seconds(60)), message: "no"), .crashed,
      ]
      for result in results {
        try await trial.limit(JobLimits(running: 2))
        let job = try await trial.take(1)[0]
        try await trial.limit(JobLimits(running: 1))
        try same(try await trial.claim(["q": 9]).count, 0, "jobs claimed while two run of one")
        _ = try await trial.settle(job, result)
        try same(try await trial.claim(["q": 9]).count, 0, "jobs claimed while one runs of one")
        try await trial.change(.complete(output: nil), try await running())
        try await expectPlace("\(result)")
      }
    },
    Case("A rate has a burst begin at once, and the others apart") { subject in
      let trial = try await Trial(subject)
      try await trial.limit(JobLimits(rate: JobRate(6, per: .seconds(60), burst: 3)))
      let ids = try await trial.add(9)
      func claim() async throws -> ClaimBatch { try await trial.store.claim(trial.request(["q": 9])) }
      let first = try await claim()
      try same(first.jobs.map(\.token.job), Array(ids[..<3]), "the burst")
      try same(first.nextDue, .seconds(10), "when the next begins")
      try holds(!first.hasMore, "what a rate keeps is no reason to ask again")
      try same(first.full, [], "no queue is full for all that run")
      trial.clock.advance(by: .milliseconds(9999))
      let early = try await claim()
      try same(early.jobs.count, 0, "jobs claimed a millisecond before")
      try same(early.nextDue, .milliseconds(1), "when the next begins then")
      trial.clock.advance(by: .milliseconds(1))
      try same(try await claim().jobs.map(\.token.job), [ids[3]], "jobs claimed in time")
      trial.clock.advance(by: .seconds(3600))
      let rested = try await claim()
      try same(rested.jobs.map(\.token.job), Array(ids[4..<7]), "the burst after a rest")
      try same(rested.nextDue, .seconds(10), "when the next begins after a rest")
    },
    Case("In no time more jobs begin than the rate allows, and a burst") { subject in
      let trial = try await Trial(subject)
      let rate = JobRate(7, per: .seconds(10), burst: 4)
      try await trial.limit(JobLimits(rate: rate))
      _ = try await trial.add(300)
      var starts: [Double] = []
      var random = SeededNumbers(seed: 7)
      for step in 0..<400 where starts.count < 200 {
        let room = Int.random(in: 1...6, using: &random)
        let batch = try await trial.store.claim(trial.request(by: step % 2 == 0 ? "w" : "v", ["q": room]))
        starts += batch.jobs.map { _ in trial.clock.uptime / .seconds(1) }
        trial.clock.advance(by: .milliseconds(Int.random(in: 0...2500, using: &random)))
        // Leases do not matter here.
        _ = try await trial.renew(batch.jobs)
      }
      try same(starts.count >= 200, true, "whether all begin")
      for first in starts.indices {
        for last in starts.indices[first...] {
          let allowed = Double(rate.burst) + (starts[last] - starts[first]) * 0.7 + 0.000_1
          try holds(Double(last - first + 1) <= allowed, "no more than \(allowed) begin from \(starts[first]) on")
        }
      }
    },
    Case("A rate counts every attempt, and one that a worker asks for by its id") { subject in
      let trial = try await Trial(subject)
      try await trial.limit(JobLimits(rate: JobRate(1, per: .seconds(60))))
      let ids = try await trial.add(2, .attempts(9))
      var request = trial.request(["q": 1])
      request.only = ids[1]
      let job = try present(try await trial.store.claim(request).jobs.first, "the job asked for")
      try same(job.token.job, ids[1], "the job asked for")
      request.only = ids[0]
      let none = try await trial.store.claim(request)
      try same(none.jobs.count, 0, "jobs claimed by id before the time")
      try same(none.nextDue, .seconds(60), "when it may begin")
      _ = try await trial.settle(job, .interrupted)
      try same(try await trial.claim(["q": 9]).count, 0, "jobs claimed again before the time")
      trial.clock.advance(by: .seconds(60))
      try same(try await trial.claim(["q": 9]).count, 1, "jobs claimed in time")
    },
    Case("A schedule's own job takes nothing of a rate, which is for the job of its tick, and counts while it runs") {
      subject in
      let trial = try await Trial(subject)
      try await trial.limit(JobLimits(running: 2, rate: JobRate(1, per: .seconds(10))))
      let ids = try await trial.add(2)
      let own = try await trial.add(.priority(.high), kind: "durable.schedule")
      func claim() async throws -> ClaimBatch {
        try await trial.store.claim(trial.request(kinds: ["k", "durable.schedule"], ["q": 9]))
      }
      let first = try await claim()
      try same(first.jobs.map(\.token.job), [own], "the job claimed first")
      try same(first.nextDue, .zero, "when the next begins")
      let second = try await claim()
      try same(second.jobs.map(\.token.job), [ids[0]], "the job claimed beside that")
      try same(second.full, ["q"], "the queues that are full while two run")
      try await trial.end(first.jobs[0], .succeeded(output: nil), as: .succeeded)
      try same(try await claim().nextDue, .seconds(10), "when the next begins after it")
    },
    Case("Where both are set, both hold") { subject in
      let trial = try await Trial(subject)
      try await trial.limit(JobLimits(running: 2, rate: JobRate(1, per: .seconds(10), burst: 3)))
      _ = try await trial.add(9)
      let batch = try await trial.store.claim(trial.request(["q": 9]))
      try same(batch.jobs.count, 2, "jobs claimed at first")
      try same(batch.full, ["q"], "the queues that are full")
      try same(batch.nextDue, nil, "no time helps while two run")
      try await trial.end(batch.jobs[0], .succeeded(output: nil), as: .succeeded)
      try same(try await trial.claim(["q": 9]).count, 1, "jobs claimed once one has ended")
      try await trial.end(batch.jobs[1], .succeeded(output: nil), as: .succeeded)
      let last = try await trial.store.claim(trial.request(["q": 9]))
      try same(last.jobs.count, 0, "jobs claimed once the burst is used up")
      try same(last.full, [], "no queue is full for all that run")
      try same(last.nextDue, .seconds(10), "when the next begins")
    },
    Case("A job that is due earlier than a rate's next goes before it") { subject in
      let trial = try await Trial(subject)
      try await trial.limit(JobLimits(rate: JobRate(1, per: .seconds(10))))
      _ = try await trial.add(2)
      try await trial.add(.start(.after(.seconds(3))), queue: "p")
      let batch = try await trial.store.claim(trial.request(["q": 9, "p": 9]))
      try same(batch.nextDue, .seconds(3), "when the worker is to ask again")
      trial.clock.advance(by: .seconds(3))
      let next = try await trial.store.claim(trial.request(["q": 9, "p": 9]))
      try same(next.jobs.map(\.queue), ["p"], "the queue of the job that is due")
      try same(next.nextDue, .seconds(7), "when the worker is to ask again then")
    },
    Case("A clock that is set back has a rate wait no longer than from one to the next") { subject in
      let trial = try await Trial(subject)
      try await trial.limit(JobLimits(rate: JobRate(1, per: .seconds(10), burst: 2)))
      _ = try await trial.add(9)
      try same(try await trial.claim(["q": 9]).count, 2, "the burst")
      trial.clock.stepWallClock(by: .seconds(-86400))
      let batch = try await trial.store.claim(trial.request(["q": 9]))
      try same(batch.jobs.count, 0, "jobs claimed at once after that")
      try same(batch.nextDue, .seconds(10), "when the next begins")
      trial.clock.advance(by: .seconds(10))
      try same(try await trial.claim(["q": 9]).count, 1, "jobs claimed in time")
    },
    Case("Limits are set, replaced and lifted, also of a queue without jobs; who sets them last wins") { subject in
      let trial = try await Trial(subject)
      let queue = JobQueue("q", store: trial.store)
      try same(try await queue.limits, nil, "the limits at first")
      try await queue.setLimits(nil)
      try await queue.setLimits(JobLimits(running: 1))
      let both = JobLimits(running: 4, rate: JobRate(100, per: .milliseconds(1500), burst: 10))
      try await queue.setLimits(both)
      try same(try await queue.limits, both, "the limits")
      try same(try await JobQueue("p", store: trial.store).limits, nil, "the limits of another queue")
      try same(try await trial.store.settings(), [.limits(queue: "q", both)], "the settings")
      _ = try await trial.add(9)
      try same(try await trial.claim(["q": 9]).count, 4, "jobs claimed under them")
      try await queue.setLimits(nil)
      try same(try await queue.limits, nil, "the limits once they are lifted")
      try same(try await trial.claim(["q": 9]).count, 5, "jobs claimed without them")
    },
    Case("Limits below what runs let that go on, and no other begin") { subject in
      let trial = try await Trial(subject)
      _ = try await trial.add(5)
      let jobs = try await trial.take(3)
      try await trial.limit(JobLimits(running: 2))
      for job in jobs[..<2] {
        try same(try await trial.claim(["q": 9]).count, 0, "jobs claimed")
        try await trial.end(job, .succeeded(output: nil), as: .succeeded)
      }
      try same(try await trial.claim(["q": 9]).count, 1, "jobs claimed once fewer run")
    },
    Case("Limits that are none are refused, and nothing is set with them") { subject in
      let trial = try await Trial(subject)
      let wrong = [
        JobLimits(), JobLimits(running: 0), JobLimits(running: -1), JobLimits(rate: JobRate(0, per: .seconds(1))),
        JobLimits(rate: JobRate(1, per: .zero)), JobLimits(rate: JobRate(1, per: .seconds(-1))),
        JobLimits(rate: JobRate(1, per: .seconds(1), burst: 0)), JobLimits(rate: JobRate(.max, per: .seconds(1))),
        JobLimits(rate: JobRate(1, per: .seconds(Int64.max))),
        JobLimits(running: 1, rate: JobRate(1, per: .seconds(1), burst: .max)),
      ]
      for limits in wrong {
        try await refused(.invalidArgument, "\(limits)") {
          try await trial.store.configure([.queue("q", isPaused: true), .limits(queue: "q", limits)])
        }
      }
      try await refused(.invalidArgument, "a limit of no queue") {
        try await trial.store.configure([.limits(queue: "", JobLimits(running: 1))])
      }
      try same(try await trial.store.settings(), [], "the settings")
    },
    Case("The largest and the smallest limits hold") { subject in
      let trial = try await Trial(subject)
      try await trial.limit(JobLimits(running: .max, rate: JobRate(1, per: .seconds(366 * 86400), burst: 100_000)))
      _ = try await trial.add(3)
      try same(try await trial.take(2).count, 2, "jobs claimed")
      try await trial.limit(JobLimits(rate: JobRate(1_000_000, per: .milliseconds(1))))
      try same(try await trial.claim(["q": 9]).count, 0, "jobs claimed while it is as if a burst had just begun")
      trial.clock.advance(by: .milliseconds(1))
      try same(try await trial.claim(["q": 9]).count, 1, "jobs claimed at a great rate")
    },
    Case("A rate goes on where it was when it is set anew, or the store is opened again", needs: [.reopens]) {
      subject in
      let trial = try await Trial(subject)
      let limits = JobLimits(rate: JobRate(1, per: .seconds(60)))
      try await trial.limit(limits)
      _ = try await trial.add(2)
      _ = try await trial.take(1)
      try await trial.limit(nil)
      try await trial.limit(limits)
      try same(try await trial.claim(by: "v", ["q": 9]).count, 0, "jobs claimed when it is set anew")
      let again = Trial(store: try await subject.reopen!(trial.store), clock: trial.clock)
      try same(try await again.store.settings(), [.limits(queue: "q", limits)], "the settings")
      let batch = try await again.store.claim(again.request(by: "u", ["q": 9]))
      try same(batch.jobs.count, 0, "jobs claimed when it is opened again")
      try same(batch.nextDue, .seconds(60), "when the next begins")
    },
    Case("A job that a limit keeps says which, and when a rate lets it begin") { subject in
      let trial = try await Trial(subject)
      let rate = JobRate(1, per: .seconds(60))
      try await trial.limit(JobLimits(running: 1, rate: rate))
      let ids = try await trial.add(2)
      _ = try await trial.claim(["q": 9, "p": 9])
      try same(
        try await trial.explain(ids[1]),
        [.limit("q", running: 1), .rate("q", rate, next: trial.after(.seconds(60)))], "the reasons while one runs")
      try await trial.change(.complete(output: nil), ids[0])
      try same(
        try await trial.explain(ids[1]), [.rate("q", rate, next: trial.after(.seconds(60)))], "the reasons then")
      trial.clock.advance(by: .seconds(29))
      _ = try await trial.renew()
      trial.clock.advance(by: .seconds(31))
      _ = try await trial.renew()
      try same(try await trial.explain(ids[1]), [], "the reasons in time")
    },
  ]
}

extension Trial {
  func limit(_ limits: JobLimits?) async throws { try await store.configure([.limits(queue: "q", limits)]) }

  /// Why it does not run.
  func explain(_ id: JobID) async throws -> [JobExplanation.Reason] {
    try await JobQueue(store: store).explain(id).reasons
  }
}
