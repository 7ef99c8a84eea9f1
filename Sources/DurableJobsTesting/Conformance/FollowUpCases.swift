import DurableJobs
import Foundation

extension StoreConformance {
  static let followUpCases: [Case] = [
    Case("What follows from a success is stored with it, once, and from no other end") { subject in
      let trial = try await Trial(subject)
      let follow = [NewJob.plain(), .plain(after: [JobEdge(.sibling(0))])]
      for result in [
        ClaimSettlement.Result.failed(message: "f"), .snoozed(.after(.seconds(9))), .succeeded(output: nil),
      ] {
        let job = try await trial.addAndStart()
        let settlement = ClaimSettlement(token: job.token, result: result, followUps: follow)
        let before = try await trial.ids().count
        for _ in 1...2 { _ = try await trial.store.settle([settlement], thenClaim: nil) }
        let new = try await trial.ids().dropFirst(before)
        guard case .succeeded = result else {
          try same(new.count, 0, "jobs that follow from \(result)")
          continue
        }
        try same(try await trial.states(Array(new)), [.ready, .blocked], "those that follow from a success")
      }
    },
    Case("A success whose follow-up can't be stored is not stored either") { subject in
      let trial = try await Trial(subject)
      let job = try await trial.addAndStart()
      let follow = NewJob.plain(after: [.job(JobID(rawValue: 999))])
      let settlement = ClaimSettlement(token: job.token, result: .succeeded(output: nil), followUps: [follow])
      try await refused(.notFound, "a success with a follow-up of a job that there is not") {
        _ = try await trial.store.settle([settlement], thenClaim: nil)
      }
      try same(try await trial.job(job.token.job).state, .running, "its state")
      try await trial.end(job, .succeeded(output: nil), as: .succeeded)
    },
    Case("C22 Two successes whose follow-ups would wait for each other are refused, and nothing of them is stored") {
      subject in
      let trial = try await Trial(subject)
      let jobs = try await [trial.add(), trial.add()]
      let settlements = zip(try await trial.take(2), [("a", "b"), ("b", "a")]).map { job, keys in
        let follow = NewJob.plain(after: [JobEdge(.key(keys.1))], terms: JobTerms(key: keys.0))
        return ClaimSettlement(token: job.token, result: .succeeded(output: nil), followUps: [follow])
      }
      try await refused(.invalidArgument, "two successes with follow-ups that wait for each other") {
        _ = try await trial.store.settle(settlements, thenClaim: nil)
      }
      try same(try await trial.states(jobs), [.running, .running], "those that run")
      try same(try await trial.ids(), jobs, "all jobs")
      _ = try await trial.store.settle([settlements[0]], thenClaim: nil)
      try await refused(.invalidArgument, "the second success") {
        _ = try await trial.store.settle([settlements[1]], thenClaim: nil)
      }
      try same(try await trial.ids().count, 3, "all jobs after one success")
      try same(try await trial.states(jobs), [.succeeded, .running], "the two after one success")
    },
    Case("A follow-up is claimed in the call that stores it") { subject in
      let trial = try await Trial(subject)
      let job = try await trial.addAndStart()
      let settlement = ClaimSettlement(token: job.token, result: .succeeded(output: nil), followUps: [.plain()])
      let batch = try await trial.store.settle([settlement], thenClaim: trial.request())
      try same(try present(batch.claimed, "a claim").jobs.count, 1, "jobs claimed")
    },
  ]
}
