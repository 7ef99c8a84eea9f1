import DurableJobs
import Foundation

extension StoreConformance {
  static let stepCases: [Case] = [
    Case("What a step gave is handed to the next attempt, however the one before ended") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.add()
      let first = try await trial.start(id)
      try same(first.steps, [:], "the steps of a first attempt")
      try await trial.step(first, "a", "1")
      try await trial.step(first, "b", "")
      try await trial.end(first, .retry(.now, message: "r"), as: .ready)
      let second = try await trial.start(id)
      try same(second.steps, ["a": Data("1".utf8), "b": Data()], "the steps of a second")
      try await trial.step(second, "c", "3")
      try await trial.loseWorkers()
      let third = try await trial.start(id, by: "v")
      try same(third.steps.keys.sorted(), ["a", "b", "c"], "the steps after a crash")
      try same(try await trial.job(id).steps, ["a", "b", "c"], "its steps, as they are told")
    },
    Case("Steps are kept for what failed or was cancelled, and go with success and removal") { subject in
      let trial = try await Trial(subject)
      for end in [ClaimSettlement.Result.failed(message: "f"), .interrupted] {
        let job = try await trial.addAndStart()
        try await trial.step(job, "a", "1")
        if end == .interrupted { try await trial.change(.cancel(reason: nil), job.token.job) }
        try await trial.end(job, end, as: end == .interrupted ? .cancelled : .failed)
        try await trial.change(.retry, job.token.job)
        let again = try await trial.start(job.token.job)
        try same(again.steps.keys.sorted(), ["a"], "the steps after \(end) and a retry")
        try await trial.end(again, .succeeded(output: nil), as: .succeeded)
        try same(try await trial.job(job.token.job).steps, [], "the steps of one that succeeded")
      }
      let completed = try await trial.addAndStart()
      try await trial.step(completed, "a", "1")
      try await trial.change(.complete(output: nil), completed.token.job)
      try same(try await trial.job(completed.token.job).steps, [], "the steps of one that was completed from outside")
    },
    Case("C69 A step under a claim that was lost is refused") { subject in
      let trial = try await Trial(subject)
      let job = try await trial.addAndStart()
      try await trial.loseWorkers()
      try same(try await trial.tryStep(job, "a", "1"), [.lost], "its standing")
      try same(try await trial.start(job.token.job, by: "v").steps, [:], "the steps of who has it now")
      try same(try await trial.tryStep(job, "a", "1"), [.lost], "its standing, once another has it")
      try same(try await trial.job(job.token.job).steps, [], "its steps")
    },
    Case("A step of one job gives no other job back, and a stop is told with it") { subject in
      let trial = try await Trial(subject)
      _ = try await trial.add(2)
      let jobs = try await trial.take(2)
      try await trial.step(jobs[0], "a", "1")
      try same(try await trial.renew(jobs), [.held, .held], "the standing of both")
      try await trial.change(.cancel(reason: nil), jobs[0].token.job)
      let standings = try await trial.tryStep(jobs[0], "b", "2")
      try same(standings, [.stopRequested(.cancelled)], "the standing of one that is to stop")
      try same(try await trial.job(jobs[0].token.job).steps, ["a", "b"], "its steps")
    },
    Case("A finished step sets the crashes in a row back, as progress does") { subject in
      var policy = StorePolicy()
      policy.maxCrashesInRow = 2
      policy.crashBackOff = BackOff(base: .zero, factor: 1, cap: .zero)
      let trial = try await Trial(subject, policy: policy)
      let id = try await trial.add()
      for number in 1...4 {
        try await trial.step(try await trial.start(id), "step \(number)", "1")
        try await trial.loseWorkers()
      }
      try same(try await trial.job(id).crashes, 4, "crashes that it survived")
      for _ in 1...2 {
        try await trial.start(id)
        try await trial.loseWorkers()
        if try await trial.job(id).state == .failed { return }
      }
      throw Difference("a job that dies in the same step again and again goes on")
    },
    Case("A step's name is one where Swift says so") { subject in
      let trial = try await Trial(subject)
      let job = try await trial.addAndStart()
      try await trial.step(job, "caf\u{e9}", "1")
      try await trial.step(job, "cafe\u{301}", "2")
      try await trial.end(job, .retry(.now, message: "r"), as: .ready)
      try same(try await trial.start(job.token.job).steps, ["caf\u{e9}": Data("2".utf8)], "its steps")
    },
  ]
}
