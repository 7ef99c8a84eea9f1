import DurableJobs
import Foundation

extension StoreConformance {
  static let crashCases: [Case] = [
    Case("C1 A job whose process died is back at once, its attempt given back and a crash counted") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart(.attempts(1))
      try same(try await trial.loseWorkers(), 1, "jobs recovered")
      let job = try await trial.job(claimed.token.job)
      try same(job.state, .ready, "the state")
      try same(job.attempt, 0, "the attempts")
      try same(job.crashes, 1, "the crashes")
      try same(job.failures, [], "the failures")
      let again = try await trial.start(job.id, by: "v")
      try same(again.attempt, 1, "the next attempt")
      try await trial.end(again, .succeeded(output: nil), as: .succeeded)
      try same(try await trial.job(job.id).crashes, 1, "the crashes that are remembered")
    },
    Case("What ran a job may die without its worker: that counts as a crash, and the claim is over") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart(.attempts(1))
      try await trial.end(claimed, .crashed, as: .ready)
      let job = try await trial.job(claimed.token.job)
      try same(job.attempt, 0, "the attempts")
      try same(job.crashes, 1, "the crashes")
      try same(job.failures, [], "the failures")
    },
    Case("The first crash costs no wait, and each later one a longer one") { subject in
      var policy = StorePolicy()
      policy.crashBackOff = BackOff(base: .seconds(8), factor: 2, cap: .seconds(3600))
      let trial = try await Trial(subject, policy: policy)
      let id = try await trial.add()
      try await trial.start(id)
      try await trial.loseWorkers()
      try same(try await trial.job(id).state, .ready, "the state after the first crash")
      for whole in [8.0, 16, 32] {
        try await trial.start(id)
        try await trial.loseWorkers()
        let job = try await trial.job(id)
        try same(job.state, .scheduled, "the state after a later crash")
        let wait = try present(job.runAt, "the due time").timeIntervalSince(trial.now)
        try holds(wait >= whole / 2 && wait <= whole, "the wait of \(wait) s is from \(whole / 2) to \(whole) s")
        trial.clock.advance(by: .seconds(whole))
      }
    },
    Case("C30 Crashes in a row end a job that kills its process, and not its neighbours") { subject in
      var policy = StorePolicy()
      policy.maxCrashesInRow = 3
      policy.crashBackOff.base = .zero
      let trial = try await Trial(subject, policy: policy)
      let poison = try await trial.add()
      for _ in 1...3 {
        try same(try await trial.job(poison).state, .ready, "the state before it is used up")
        try await trial.start(poison)
        try await trial.loseWorkers()
      }
      let job = try await trial.job(poison)
      try same(job.state, .failed, "the state")
      try same(job.crashes, 3, "the crashes")
      try same(job.finishedAt, trial.now, "the end")
      try same(job.failures.count, 1, "failures")
      let message = try present(job.failures.first, "a failure").message
      try holds(message.contains("the process ended during the attempt"), "'\(message)' says what happened")
      let neighbour = try await trial.addAndStart()
      try await trial.end(neighbour, .succeeded(output: nil), as: .succeeded)
      try await trial.change(.retry, poison)
      try same(try await trial.job(poison).crashes, 0, "the crashes after a retry")
      try await trial.start(poison)
      try await trial.loseWorkers()
      try same(try await trial.job(poison).state, .ready, "the state after a retry and a crash")
    },
    Case("Only progress beyond the highest that was stored sets the crashes in a row back") { subject in
      var policy = StorePolicy()
      policy.maxCrashesInRow = 2
      policy.crashBackOff.base = .zero
      let trial = try await Trial(subject, policy: policy)
      let id = try await trial.add()
      func crash(at fraction: Double?) async throws -> JobState {
        let claimed = try await trial.start(id)
        if let fraction { _ = try await trial.renew([claimed], progress: JobProgress(fraction: fraction)) }
        try await trial.loseWorkers()
        return try await trial.job(id).state
      }
      try same(try await crash(at: 0.5), .ready, "after a first crash, at 0.5")
      try same(try await crash(at: 0.6), .ready, "after a second crash, at 0.6")
      try same(try await crash(at: 0.9), .ready, "after a third crash, at 0.9")
      try same(try await crash(at: 0.9), .failed, "after a fourth crash, at 0.9 again")
      try same(try await trial.job(id).crashes, 4, "the crashes in all")

      try await trial.change(.retry, id)
      try same(try await crash(at: 0.2), .ready, "after a retry and a crash at 0.2")
      try same(try await crash(at: 0.3), .failed, "after a crash below the highest")
      try same(try await trial.job(id).progress?.fraction, 0.3, "the progress that is shown")
    },
    Case("C30 A job that tells progress and kills its process all the same ends by its crashes in all") { subject in
      var policy = StorePolicy()
      policy.maxCrashesInRow = 2
      policy.maxCrashes = 5
      policy.crashBackOff.base = .zero
      let trial = try await Trial(subject, policy: policy)
      let id = try await trial.add()
      for number in 1...5 {
        let claimed = try await trial.start(id)
        _ = try await trial.renew([claimed], progress: JobProgress(fraction: Double(number) / 10))
        try await trial.loseWorkers()
        try same(try await trial.job(id).state, number < 5 ? .ready : .failed, "the state after crash \(number)")
      }
    },
    Case("C68 Progress survives a crash") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      _ = try await trial.renew([claimed], progress: JobProgress(fraction: 0.5, message: "half"))
      try await trial.loseWorkers()
      let job = try await trial.job(claimed.token.job)
      try same(job.progress, JobProgress(fraction: 0.5, message: "half"), "the progress")
    },
    Case("However the jobs of lost workers lie among each other, recovery in bites gives back all") { subject in
      for limit in 1...4 {
        let trial = try await Trial(subject)
        let ids = try await trial.add(8)
        for worker in ["a", "b", "a", "c", "b", "b", "a", "c"] { _ = try await trial.take(1, by: worker) }
        trial.clock.advance(by: Defaults.lease)
        try await trial.recover()
        trial.clock.advance(by: Defaults.doubtInterval)
        var recovered = 0
        for _ in 0..<10 {
          let report = try await trial.recover(limit: limit)
          recovered += report.recovered
          if !report.hasMore { break }
        }
        try same(recovered, 8, "jobs recovered, at most \(limit) at once")
        try same(try await trial.store.counts(where: .all), JobCounts([.ready: 8]), "the counts")
        try same(try await trial.take(8, by: "d").map(\.token.job), ids, "what can be claimed")
      }
    },
    Case("Recovery goes in bites, and a recovered worker holds nothing from the first bite on") { subject in
      var policy = StorePolicy()
      policy.doubtInterval = .seconds(3)
      let trial = try await Trial(subject, policy: policy)
      _ = try await trial.add(5)
      let claims = try await trial.take(5)
      trial.clock.advance(by: Defaults.lease)
      try same(try await trial.recover().comeAgain, .seconds(3), "when to come again")
      trial.clock.advance(by: .seconds(3))
      var report = try await trial.recover(limit: 2)
      try same(report.recovered, 2, "jobs of the first bite")
      try holds(report.hasMore, "there is more")
      try same(try await trial.renew(claims), Array(repeating: .lost, count: 5), "the standings")
      try holds(!(try await trial.settle(claims[4], .succeeded(output: nil)).isAccepted), "a late result is refused")
      var recovered = 2
      for _ in 0..<10 where report.hasMore {
        report = try await trial.recover(limit: 2)
        recovered += report.recovered
      }
      try same(recovered, 5, "jobs recovered")
      try holds(!report.hasMore, "recovery comes to an end")
      try same(try await trial.store.counts(where: .all), JobCounts([.ready: 5]), "the counts")
      for id in claims.map(\.token.job) { try same(try await trial.job(id).crashes, 1, "the crashes of \(id)") }
    },
  ]
}
