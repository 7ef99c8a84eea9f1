import DurableJobs
import Foundation

extension StoreConformance {
  static let laneRateCases: [Case] = [
    Case("Attempts of a lane begin no more often than its rate, retries too; other lanes go on") { subject in
      let trial = try await Trial(subject)
      try await trial.pace(JobRate(6, per: .seconds(60)))
      let ids = try await trial.add(2, JobTerms(maxAttempts: 9, lane: "a"))
      let first = try await trial.start(ids[0])
      try await trial.add(JobTerms(lane: "b"))
      try await trial.add()
      try same(try await trial.claim(["q": 9]).count, 2, "jobs of another lane, and of none")
      trial.clock.advance(by: .seconds(4))
      try await trial.end(first, .retry(.now, message: "r"), as: .scheduled)
      try same(try await trial.job(ids[0]).runAt, trial.after(.seconds(6)), "when the retry may begin")
      trial.clock.advance(by: .milliseconds(5999))
      try same(try await trial.claim(["q": 9]).count, 0, "jobs claimed a millisecond before")
      trial.clock.advance(by: .milliseconds(1))
      let second = try await trial.start(ids[0])
      // Ten seconds after the start there is room again.
      trial.clock.advance(by: .seconds(25))
      _ = try await trial.renew([second])
      try await trial.end(second, .succeeded(output: nil), as: .succeeded)
      try await trial.end(try await trial.start(ids[1]), .succeeded(output: nil), as: .succeeded)
      let last = try await trial.add(JobTerms(lane: "a"))
      try same(try await trial.job(last).runAt, trial.after(.seconds(10)), "when a new one may begin")
    },
    Case("A lane has a burst begin one after the other, and the others apart; rest is not saved beyond it") { subject in
      let trial = try await Trial(subject)
      try await trial.pace(JobRate(6, per: .seconds(60), burst: 3))
      var ids = try await trial.add(9, JobTerms(lane: "a"))[...]
      func expectBurst(_ what: String) async throws {
        for number in 1...3 {
          let job = try await trial.start(ids.removeFirst())
          let isLast = number == 3
          try await trial.end(job, .succeeded(output: nil), as: .succeeded)
          try same(
            try await trial.states([ids.first!]), [isLast ? .scheduled : .ready], "the job after \(number) of \(what)")
        }
        try same(try await trial.job(ids.first!).runAt, trial.after(.seconds(10)), "when the next begins after \(what)")
      }
      try await expectBurst("the burst")
      trial.clock.advance(by: .seconds(3600))
      try await expectBurst("a rest")
    },
    Case("A worker is not idle while the rate of a lane alone keeps a job from it, but is before a first start") {
      subject in
      let trial = try await Trial(subject)
      try await trial.pace(JobRate(1, per: .seconds(60)))
      let ids = try await trial.add(2, JobTerms(lane: "a"))
      try await trial.end(try await trial.start(ids[0]), .succeeded(output: nil), as: .succeeded)
      let scope = WorkScope.worker(queues: ["q"], kinds: ["k"])
      try same(try await trial.job(ids[1]).state, .scheduled, "the state of the next")
      try holds(try await trial.store.outstanding(scope).isReturning, "its turn comes")
      for change in [JobChange.suspend(reason: nil), .resume] { try await trial.change(change, ids[1]) }
      try holds(try await trial.store.outstanding(scope).isReturning, "its turn comes after a suspension")
      try await trial.change(.setStart(.after(.seconds(3600))), ids[1])
      try holds(try await trial.store.outstanding(scope).isIdle, "somebody wants it later")
      try await trial.change(.setStart(.now), ids[1])
      try holds(try await trial.store.outstanding(scope).isReturning, "nobody does any more")
      trial.clock.advance(by: .seconds(60))
      try await trial.end(try await trial.start(ids[1]), .succeeded(output: nil), as: .succeeded)
      try await trial.add(JobTerms(start: .after(.seconds(3600)), lane: "a"))
      try holds(try await trial.store.outstanding(scope).isIdle, "a first start is ahead of its lane's turn")
    },
    Case("However an attempt ends or goes back, it counts in the rate of its lane") { subject in
      let results: [ClaimSettlement.Result] = [
        .retry(.now, message: "r"), .snoozed(.now), .interrupted, .crashed,
      ]
      for result in results {
        let trial = try await Trial(subject)
        try await trial.pace(JobRate(1, per: .seconds(600)))
        let id = try await trial.add(JobTerms(maxAttempts: 9, lane: "a"))
        try await trial.end(try await trial.start(id), result, as: .scheduled)
        try same(try await trial.job(id).runAt, trial.after(.seconds(600)), "when it begins after \(result)")
      }
      let trial = try await Trial(subject)
      try await trial.pace(JobRate(1, per: .seconds(600)))
      let ids = try await trial.add(4, JobTerms(lane: "a"))
      for (id, change) in zip(ids, [.complete(output: nil), .fail(message: "f"), .reset] as [JobChange]) {
        try await trial.start(id)
        try await trial.change(change, id)
        if change == .fail(message: "f") { try await trial.change(.remove, id) }
        let next = change == .reset ? id : try present(ids.first { $0 > id }, "the next job")
        try same(try await trial.job(next).runAt, trial.after(.seconds(600)), "when the next begins after \(change)")
        trial.clock.advance(by: .seconds(600))
      }
    },
    Case("Nobody begins sooner than the rate of the lane allows because a person says so") { subject in
      let trial = try await Trial(subject)
      try await trial.pace(JobRate(1, per: .seconds(60)))
      let ids = try await trial.add(2, JobTerms(lane: "a"))
      try await trial.end(try await trial.start(ids[0]), .succeeded(output: nil), as: .succeeded)
      let start = trial.after(.seconds(60))
      for change in [.retry, .setStart(.now), .setPriority(.high), .suspend(reason: nil), .resume] as [JobChange] {
        try await trial.change(change, ids[1])
        try same(try await trial.claim(["q": 9]).count, 0, "jobs claimed after \(change)")
      }
      try same(try await trial.job(ids[1]).runAt, start, "when it begins after all that")
      try await trial.change(.setStart(.after(.seconds(90))), ids[1])
      try same(try await trial.job(ids[1]).runAt, trial.after(.seconds(90)), "when it begins that is to begin later")
    },
    Case("In no time more attempts of a lane begin than its rate allows, and a burst") { subject in
      let trial = try await Trial(subject)
      let rate = JobRate(7, per: .seconds(10), burst: 4)
      try await trial.pace(rate)
      _ = try await trial.add(120, JobTerms(maxAttempts: 9, lane: "a"))
      var starts: [Double] = []
      var random = SeededNumbers(seed: 7)
      for step in 0..<400 where starts.count < 100 {
        let batch = try await trial.store.claim(trial.request(by: step % 2 == 0 ? "w" : "v", ["q": 3]))
        try holds(batch.jobs.count <= 1, "one runs at a time")
        starts += batch.jobs.map { _ in trial.clock.uptime / .seconds(1) }
        trial.clock.advance(by: .milliseconds(Int.random(in: 0...2500, using: &random)))
        for job in batch.jobs {
          let result: ClaimSettlement.Result = step % 3 == 0 ? .retry(.now, message: "r") : .succeeded(output: nil)
          _ = try await trial.settle(job, result)
        }
      }
      try same(starts.count >= 100, true, "whether so many begin")
      for first in starts.indices {
        for last in starts.indices[first...] {
          let allowed = Double(rate.burst) + (starts[last] - starts[first]) * 0.7 + 0.000_1
          try holds(Double(last - first + 1) <= allowed, "no more than \(allowed) begin from \(starts[first]) on")
        }
      }
    },
    Case("A rate of a lane is set, replaced and lifted, and goes with no other width than 1") { subject in
      let trial = try await Trial(subject)
      let (rate, other) = (JobRate(1, per: .seconds(60)), JobRate(100, per: .milliseconds(1500), burst: 10))
      try await trial.pace(nil)
      try await trial.pace(rate)
      try same(try await trial.store.settings(), [.laneRate("a", rate)], "the settings")
      try await refused(.wrongState, "a width beside a rate") {
        try await trial.store.configure([.lane("a", width: 2)])
      }
      try same(try await trial.store.settings(), [.laneRate("a", rate)], "the settings after a width was refused")
      try await trial.store.configure([.lane("a", width: 1)])
      try await trial.pace(other)
      try same(try await trial.store.settings(), [.laneRate("a", other)], "the settings once it is replaced")
      for wrong in [JobRate(0, per: .seconds(1)), JobRate(-5, per: .seconds(1)), JobRate(1, per: .zero)] {
        try await refused(.invalidArgument, "\(wrong)") { try await trial.pace(wrong) }
      }
      try await refused(.invalidArgument, "a rate of no lane") {
        try await trial.store.configure([.laneRate("", rate)])
      }
      try await trial.pace(nil)
      try same(try await trial.store.settings(), [], "the settings once it is lifted")
      try await trial.store.configure([.lane("a", width: 2)])
      try await refused(.wrongState, "a rate beside a width") { try await trial.pace(rate) }
      try same(try await trial.store.settings(), [.lane("a", width: 2)], "the settings after a rate was refused")
    },
    Case("A lane gets no rate as long as several of its jobs have a seat, from when it was wider") { subject in
      let trial = try await Trial(subject)
      let rate = JobRate(1, per: .seconds(60))
      try await trial.store.configure([.lane("a", width: 3)])
      let ids = try await trial.add(3, JobTerms(lane: "a"))
      try await trial.store.configure([.lane("a", width: 1)])
      let words = try await refusal(.wrongState, "a rate of a lane with three seats taken") {
        try await trial.pace(rate)
      }
      try holds(words.contains("3 of its jobs"), "the refusal says how many: \(words)")
      try same(try await trial.store.settings(), [], "the settings")
      for id in ids.prefix(2) { try await trial.change(.cancel(reason: nil), id) }
      try await trial.pace(rate)
      try await trial.start(ids[2])
    },
    Case("Of settings that are set together none is, where one is refused") { subject in
      let trial = try await Trial(subject)
      try await refused(.wrongState, "a rate beside a width") {
        try await trial.store.configure([
          .queue("q", isPaused: true), .lane("a", width: 2), .laneRate("a", JobRate(1, per: .seconds(1))),
        ])
      }
      try same(try await trial.store.settings(), [], "the settings")
      try await trial.start(try await trial.add())
    },
    Case("A rate of a lane goes on where it was when the store is opened again", needs: [.reopens]) { subject in
      let trial = try await Trial(subject)
      let rate = JobRate(1, per: .seconds(60))
      try await trial.pace(rate)
      try await trial.end(
        try await trial.start(try await trial.add(JobTerms(lane: "a"))), .succeeded(output: nil), as: .succeeded)
      let again = Trial(store: try await subject.reopen!(trial.store), clock: trial.clock)
      try same(try await again.store.settings(), [.laneRate("a", rate)], "the settings")
      let id = try await again.add(JobTerms(lane: "a"))
      try same(try await again.job(id).runAt, again.after(.seconds(60)), "when the next begins")
    },
    Case("A clock that is set back has a lane wait as long as it had to") { subject in
      let trial = try await Trial(subject)
      try await trial.pace(JobRate(1, per: .seconds(60)))
      let ids = try await trial.add(2, JobTerms(lane: "a"))
      try await trial.end(try await trial.start(ids[0]), .succeeded(output: nil), as: .succeeded)
      trial.clock.advance(by: .seconds(20))
      _ = try await trial.recover()
      trial.clock.stepWallClock(by: .seconds(-86400))
      _ = try await trial.recover()
      try same(try await trial.job(ids[1]).runAt, trial.after(.seconds(40)), "when the one that waits begins")
      try await trial.change(.cancel(reason: nil), ids[1])
      let new = try await trial.add(JobTerms(lane: "a"))
      try same(try await trial.job(new).runAt, trial.after(.seconds(40)), "when a new one begins")
    },
    Case("A job of a lane with a rate begins no sooner than the date that it was given, though the clock is set back") {
      subject in
      let trial = try await Trial(subject)
      try await trial.pace(JobRate(1, per: .seconds(60)))
      let first = try await trial.add(JobTerms(lane: "a"))
      let date = trial.after(.seconds(10))
      let dated = try await trial.add(JobTerms(start: .at(date), lane: "a"))
      try await trial.end(try await trial.start(first), .succeeded(output: nil), as: .succeeded)
      try same(try await trial.job(dated).runAt, trial.after(.seconds(60)), "when its lane has it begin")
      trial.clock.stepWallClock(by: .seconds(-3600))
      _ = try await trial.recover()
      let start = try present(try await trial.job(dated).runAt, "its start")
      try holds(start >= date, "it begins at \(start), and was not to begin before \(date)")
    },
    Case("A job that the rate of its lane keeps says which, and when it may begin") { subject in
      let trial = try await Trial(subject)
      let rate = JobRate(1, per: .seconds(60))
      try await trial.pace(rate)
      let ids = try await trial.add(3, JobTerms(lane: "a"))
      try await trial.end(try await trial.start(ids[0]), .succeeded(output: nil), as: .succeeded)
      let start = trial.after(.seconds(60))
      try same(try await trial.explain(ids[1]), [.laneRate("a", rate, next: start)], "why the next waits")
      try same(try await trial.explain(ids[2]), [.lane("a", ids[1], .scheduled)], "why the one after that waits")
      try await trial.change(.setStart(.after(.seconds(90))), ids[1])
      try same(
        try await trial.explain(ids[1]), [.start(trial.after(.seconds(90)))], "why one waits that is to begin later")
    },
  ]
}

extension Trial {
  /// Of the lane `a`.
  fileprivate func pace(_ rate: JobRate?) async throws { try await store.configure([.laneRate("a", rate)]) }
}
