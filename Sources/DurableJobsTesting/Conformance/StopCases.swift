import DurableJobs
import Foundation

extension StoreConformance {
  static let stopCases: [Case] = [
    Case("A cancel or a suspension of a running job reaches its worker when it renews") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(3)
      let claims = try await trial.take(3)
      try await trial.change(.cancel(reason: "c"), ids[0])
      try await trial.change(.suspend(reason: "s"), ids[1])
      try same(
        try await trial.renew(claims), [.stopRequested(.cancelled), .stopRequested(.suspended), .held],
        "the standings")
      for (id, asked, reason) in [(ids[0], StopReason.cancelled, "c"), (ids[1], .suspended, "s")] {
        let job = try await trial.job(id)
        try same(job.state, .running, "the state")
        try same(job.stopAsked, asked, "what was asked")
        try same(job.reason, reason, "the reason")
      }
    },
    Case("A cancel outweighs a suspension that was asked for, and not the other way round") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      try await trial.change(.suspend(reason: nil), claimed.token.job)
      try await trial.change(.cancel(reason: nil), claimed.token.job)
      try same(try await trial.report(.suspend(reason: nil), claimed.token.job).refused.count, 1, "refusals")
      try same(try await trial.renew([claimed]), [.stopRequested(.cancelled)], "the standing")
    },
    Case("A suspension that was asked for is taken back by a resumption") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      try await trial.change(.suspend(reason: "s"), claimed.token.job)
      try await trial.change(.resume, claimed.token.job)
      try same(try await trial.renew([claimed]), [.held], "the standing")
      try await trial.end(claimed, .interrupted, as: .ready)
      try same(try await trial.job(claimed.token.job).reason, nil, "the reason")
    },
    Case("What a handler has suspended is a person's once one suspends it too, and what can't be read is not") {
      subject in
      let trial = try await Trial(subject)
      for (words, kept) in [("not before Monday", "not before Monday"), (nil, "its own")] {
        let claimed = try await trial.addAndStart()
        try await trial.end(claimed, .suspended(reason: "its own"), as: .suspended)
        try await trial.change(.suspend(reason: words), claimed.token.job)
        try same(try await trial.job(claimed.token.job).heldBy, .request, "who holds it")
        try same(try await trial.job(claimed.token.job).reason, kept, "the reason")
      }
      let odd = try await trial.addAndStart()
      try await trial.end(odd, .suspended(reason: "odd", by: .undecodable), as: .suspended)
      try await trial.change(.suspend(reason: "too"), odd.token.job)
      try same(try await trial.job(odd.token.job).heldBy, .undecodable, "what holds it")
      try same(try await trial.job(odd.token.job).reason, "odd", "its reason")
    },
    Case("C56 Cancel and result: success and failure for good win, any other end gives way") { subject in
      let expected: [(ClaimSettlement.Result, JobState)] = [
        (.succeeded(output: Data("o".utf8)), .succeeded), (.failed(message: "f"), .failed),
        (.retry(.now, message: "r"), .cancelled), (.retry(.after(.seconds(5)), message: "r"), .cancelled),
        (.snoozed(.after(.seconds(5))), .cancelled), (.suspended(reason: "h"), .cancelled), (.interrupted, .cancelled),
      ]
      for (result, state) in expected {
        let trial = try await Trial(subject)
        let claimed = try await trial.addAndStart()
        try await trial.change(.cancel(reason: "c"), claimed.token.job)
        try await trial.end(claimed, result, as: state)
        let job = try await trial.job(claimed.token.job)
        try same(job.stopAsked, nil, "what is asked after \(result)")
        try same(job.reason, state == .cancelled ? "c" : nil, "the reason after \(result)")
        try same(job.finishedAt, trial.now, "the end after \(result)")
        try same(job.runAt, nil, "the due time after \(result)")
        trial.clock.advance(by: .seconds(60))
        try same(try await trial.claim().count, 0, "jobs claimed after \(result)")
      }
    },
    Case("C56 A cancel that comes together with the result: one of the two wins, completely") { subject in
      let trial = try await Trial(subject)
      for round in 0..<20 {
        let claimed = try await trial.addAndStart()
        async let cancel = trial.report(.cancel(reason: "c"), claimed.token.job)
        async let end = trial.settle(claimed, .interrupted)
        let (report, reply) = try await (cancel, end)
        try same(report.changed, [claimed.token.job], "the report of the cancel, round \(round)")
        try holds(reply.isAccepted, "the result is accepted, round \(round)")
        let job = try await trial.job(claimed.token.job)
        try same(job.state, .cancelled, "the state, round \(round)")
        try same(job.stopAsked, nil, "what is asked, round \(round)")
      }
    },
    Case("Suspension and result: success and failure for good win, any other end is held") { subject in
      let expected: [(ClaimSettlement.Result, JobState, Int)] = [
        (.succeeded(output: nil), .succeeded, 1), (.failed(message: "f"), .failed, 1),
        (.retry(.now, message: "r"), .suspended, 1), (.snoozed(.after(.seconds(5))), .suspended, 0),
        (.suspended(reason: "h"), .suspended, 0), (.interrupted, .suspended, 0),
      ]
      for (result, state, attempt) in expected {
        let trial = try await Trial(subject)
        let claimed = try await trial.addAndStart()
        let id = claimed.token.job
        try await trial.change(.suspend(reason: "s"), id)
        try await trial.end(claimed, result, as: state)
        let job = try await trial.job(id)
        try same(job.attempt, attempt, "the attempts after \(result)")
        try same(job.reason, state == .suspended ? "s" : nil, "the reason after \(result)")
        guard state == .suspended else { continue }
        try await trial.change(.resume, id)
        let isSnoozed = if case .snoozed = result { true } else { false }
        try same(try await trial.job(id).state, isSnoozed ? .scheduled : .ready, "the state when it is resumed")
      }
    },
    Case("A job whose last attempt a suspension cut short has that attempt left") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart(.attempts(1))
      try await trial.change(.suspend(reason: nil), claimed.token.job)
      try await trial.end(claimed, .retry(.now, message: "stopped"), as: .suspended)
      try await trial.change(.resume, claimed.token.job)
      try same(try await trial.start(claimed.token.job).attempt, 1, "the attempt after the resumption")
    },
    Case("A process death ends a job whose cancel was asked for, and holds one whose suspension was") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(2)
      _ = try await trial.take(2)
      try await trial.change(.cancel(reason: "c"), ids[0])
      try await trial.change(.suspend(reason: "s"), ids[1])
      try await trial.loseWorkers()
      for (id, state, reason) in [(ids[0], JobState.cancelled, "c"), (ids[1], .suspended, "s")] {
        let job = try await trial.job(id)
        try same(job.state, state, "the state")
        try same(job.reason, reason, "the reason")
        try same(job.stopAsked, nil, "what is asked")
        try same(job.crashes, 1, "the crashes")
        try same(job.attempt, 0, "the attempts")
      }
    },
  ]
}
