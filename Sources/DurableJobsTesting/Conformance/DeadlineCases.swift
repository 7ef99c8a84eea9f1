import DurableJobs
import Foundation

extension StoreConformance {
  private static func terms(_ deadline: JobDeadline, start: JobTime = .now) -> JobTerms {
    JobTerms(start: start, maxAttempts: 3, deadline: deadline)
  }

  /// In so many seconds.
  private static func endBy(_ seconds: Int) -> JobDeadline { .end(by: .after(.seconds(seconds))) }

  static let deadlineCases: [Case] = [
    Case("A job that has not ended by its deadline fails, whatever it waits for, and its dependents are skipped") {
      subject in
      let trial = try await Trial(subject)
      let parent = try await trial.add()
      var jobs = [terms(endBy(60)), terms(endBy(60), start: .after(.seconds(3600)))].map {
        NewJob(queue: "q", kind: "k", payload: Data(), terms: $0)
      }
      jobs.append(NewJob(queue: "q", kind: "k", payload: Data(), terms: terms(endBy(60)), edges: [.job(parent)]))
      jobs.append(NewJob(queue: "q", kind: "k", payload: Data(), terms: terms(endBy(60)), edges: [JobEdge(.key("x"))]))
      let ids = try await trial.add(jobs)
      try await trial.change(.suspend(reason: "s"), ids[0])
      let child = try await trial.add(after: [.job(ids[2])])
      try same(try await trial.recover().comeAgain, .seconds(60), "when to come again")
      trial.clock.advance(by: .milliseconds(59_999))
      try same(try await trial.recover(), RecoveryReport(comeAgain: .milliseconds(1)), "a recovery just before")
      trial.clock.advance(by: .milliseconds(1))
      try same(try await trial.recover(), RecoveryReport(overdue: 4), "the recovery at that moment")
      try same(try await trial.states(ids), ids.map { _ in .failed }, "their states")
      try same(
        try await trial.states([child, parent]), [.skipped, .ready], "a dependent, and what one of them waited for")
      let failed = try await trial.job(ids[0])
      let words =
        "its deadline has passed: it had not ended by \(trial.now.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))"
      try same(failed.failures.map(\.message), [words], "what is said of it")
      try same(failed.deadline, .end(by: .at(trial.now)), "its deadline")
      try same(try await trial.recover(), RecoveryReport(), "another recovery")
    },
    Case("One that is given up while it runs is not reset, since it would begin again") { subject in
      let trial = try await Trial(subject)
      let running = try await trial.addAndStart(terms(endBy(60)))
      trial.clock.advance(by: .seconds(60))
      _ = try await trial.renew([running])
      try await trial.recover()
      try same(
        try await trial.report(.reset, running.token.job).refused.map(\.job), [running.token.job], "who is not reset")
      try await trial.end(running, .interrupted, as: .failed)
    },
    Case("A job that had to begin by its deadline, and has, goes on") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(2, terms(.start(by: .after(.seconds(60)))))
      let begun = try await trial.start(ids[0])
      try same(begun.deadline, nil, "when it has to have ended")
      try await trial.end(begun, .retry(.after(.seconds(90)), message: "r"), as: .scheduled)
      trial.clock.advance(by: .seconds(60))
      try same(try await trial.recover(), RecoveryReport(overdue: 1), "the recovery")
      try same(try await trial.states(ids), [.scheduled, .failed], "one that has begun, and one that has not")
      trial.clock.advance(by: .seconds(30))
      try await trial.start(ids[0])
    },
    Case("A claim gives no job out whose deadline has passed, and gives it up") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(2, terms(endBy(60)))
      let child = try await trial.add(after: [JobEdge(.job(ids[0]), .failed)])
      let last = try await trial.add()
      trial.clock.advance(by: .seconds(60))
      try same(try await trial.take(1).map(\.token.job), [last], "what is claimed")
      try same(try await trial.states(ids + [child]), [.failed, .failed, .ready], "the others")
    },
    Case("A running job whose deadline passes is asked to stop, and fails unless it succeeds") { subject in
      let results: [(ClaimSettlement.Result, JobState)] = [
        (.interrupted, .failed), (.retry(.now, message: "r"), .failed), (.snoozed(.now), .failed),
        (.suspended(reason: "s"), .failed), (.crashed, .failed), (.failed(message: "f"), .failed),
        (.succeeded(output: nil), .succeeded),
      ]
      for (result, state) in results {
        let trial = try await Trial(subject)
        let job = try await trial.addAndStart(terms(endBy(20)))
        try same(job.deadline, trial.after(.seconds(20)), "its deadline, as it is claimed")
        trial.clock.advance(by: .seconds(20))
        try same(try await trial.renew([job]), [.held], "its standing before anybody looked")
        try same(try await trial.recover(), RecoveryReport(overdue: 1), "the recovery")
        try same(try await trial.renew([job]), [.stopRequested(.overdue)], "its standing")
        try same(try await trial.job(job.token.job).stopAsked, .overdue, "what was asked of it")
        try same(try await trial.report(.suspend(reason: nil), job.token.job).refused.count, 1, "refused suspensions")
        try await trial.end(job, result, as: state)
        let message = try await trial.job(job.token.job).failures.last?.message
        if case .failed(let own) = result {
          try same(message, own, "what is said of it")
        } else if state == .failed {
          try holds(message?.hasPrefix("its deadline has passed: it had not ended by ") ?? false, "\(message ?? "-")")
        }
      }
    },
    Case("An overdue job whose worker dies fails, and one that is cancelled is cancelled") { subject in
      let trial = try await Trial(subject)
      let job = try await trial.addAndStart(terms(endBy(10)))
      try await trial.loseWorkers()
      try same(try await trial.states([job.token.job]), [.failed], "one whose worker died")
      let second = try await trial.addAndStart(terms(endBy(10)))
      trial.clock.advance(by: .seconds(10))
      _ = try await trial.recover()
      try await trial.change(.cancel(reason: "c"), second.token.job)
      try await trial.end(second, .interrupted, as: .cancelled)
    },
    Case("An overdue job whose worker gives it back fails, and tells of its deadline") { subject in
      let trial = try await Trial(subject)
      let job = try await trial.addAndStart(terms(endBy(10)))
      trial.clock.advance(by: .seconds(10))
      try await trial.retire("w")
      let failed = try await trial.job(job.token.job)
      try same(failed.state, .failed, "its state")
      try same(failed.failures.map { $0.message.prefix(23) }, ["its deadline has passed"], "what is said of it")
    },
    Case("An overdue job that its worker does not know of fails of its deadline when it goes back") { subject in
      let trial = try await Trial(subject)
      let job = try await trial.addAndStart(terms(endBy(5)))
      trial.clock.advance(by: .seconds(5))
      try same(try await trial.recover().overdue, 1, "jobs given up")
      try same(try await trial.renew(), [], "the standings of none")
      let failed = try await trial.job(job.token.job)
      try same(failed.state, .failed, "its state")
      try same(failed.failures.map { $0.message.prefix(23) }, ["its deadline has passed"], "what is said of it")
    },
    Case("A retry runs a job whose deadline has passed without one, and keeps one that is ahead") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.add(terms(endBy(60)))
      try await trial.change(.cancel(reason: nil), id)
      try same(try await trial.recover().comeAgain, nil, "when to come again for one that has ended")
      try await trial.change(.retry, id)
      try same(try await trial.recover().comeAgain, .seconds(60), "when to come again after its retry")
      trial.clock.advance(by: .seconds(60))
      _ = try await trial.recover()
      try await trial.change(.retry, id)
      try same(try await trial.recover(), RecoveryReport(), "a recovery after another retry")
      let job = try await trial.start(id)
      try same(job.deadline, nil, "its deadline")
      try await trial.end(job, .succeeded(output: nil), as: .succeeded)
    },
    Case("A job is given no start at or after its deadline, unless that is one to begin by, and it has begun") {
      subject in
      let trial = try await Trial(subject)
      let waiting = try await trial.add(terms(endBy(60)))
      let begun = try await trial.add(terms(.start(by: .after(.seconds(60)))))
      for claim in try await trial.take(2) {
        try await trial.end(claim, .snoozed(.after(.seconds(1)), isBackOff: false), as: .scheduled)
      }
      for (start, isRefused) in [(60, true), (59, false)] {
        let report = try await trial.report(.setStart(.after(.seconds(Double(start)))), waiting)
        try same(report.refused.map(\.job), isRefused ? [waiting] : [], "who refuses a start in \(start) s")
      }
      try same(try await trial.job(waiting).runAt, trial.after(.seconds(59)), "its start")
      try await trial.change(.setStart(.after(.seconds(90))), begun)
    },
    Case("Overdue jobs are given up in bites") { subject in
      let trial = try await Trial(subject)
      _ = try await trial.add(7, terms(endBy(1)))
      trial.clock.advance(by: .seconds(1))
      let bites = try await [3, 3, 3].asyncMap { try await trial.recover(limit: $0) }
      try same(bites.map(\.overdue), [3, 3, 1], "how many in each bite")
      try same(bites.map(\.hasMore), [true, true, false], "whether there are more")
    },
    Case("That a deadline was set which is near is told at once") { subject in
      let trial = try await Trial(subject)
      let heard = Lock<ForeignChange>([])
      let subscription = trial.store.signals.listen { signal in
        if case .changedElsewhere(let change) = signal { heard.withLock { $0.formUnion(change) } }
      }
      try await trial.add()
      try await trial.add(terms(endBy(3600)))
      try holds(!heard.withLock { $0.contains(.deadlines) }, "one that the next sweep comes before is not told")
      try await trial.add(terms(endBy(1)))
      try holds(heard.withLock { $0.contains(.deadlines) }, "one that is nearer is")
      withExtendedLifetime(subscription) {}
    },
  ]
}
