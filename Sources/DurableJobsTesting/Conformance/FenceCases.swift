import DurableJobs
import Foundation

extension StoreConformance {
  static let fenceCases: [Case] = [
    Case("C12 A worker that lost its claim is refused its result, and the job's new claim stands") { subject in
      let trial = try await Trial(subject)
      let lost = try await trial.addAndStart()
      let id = lost.token.job
      try await trial.loseWorkers()
      let held = try await trial.start(id, by: "v")
      let before = try await trial.job(id)
      for result: ClaimSettlement.Result in [
        .succeeded(output: Data("old".utf8)), .retry(.now, message: "old"), .failed(message: "old"), .snoozed(.now),
        .suspended(reason: "old"), .interrupted,
      ] {
        let reply = try await trial.settle(lost, result, progress: JobProgress(fraction: 0.9))
        try same(reply, SettlementReply(isAccepted: false, state: .running), "the reply to \(result)")
        try same(try await trial.job(id), before, "the job after \(result)")
      }
      try await trial.end(held, .succeeded(output: Data("new".utf8)), as: .succeeded)
      try same(try await trial.job(id).output, Data("new".utf8), "the output")
    },
    Case("C69 A worker that lost its claim is told so, and its progress is refused") { subject in
      let trial = try await Trial(subject)
      let lost = try await trial.addAndStart()
      try await trial.loseWorkers()
      try same(try await trial.renew([lost], progress: JobProgress(fraction: 0.5)), [.lost], "the standing")
      try same(try await trial.job(lost.token.job).progress, nil, "the progress")
      try same(try await trial.job(lost.token.job).state, .ready, "the state")
    },
    Case("C16 A result that is reported twice is accepted, and changes nothing the second time") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      try await trial.end(claimed, .succeeded(output: Data("1".utf8)), as: .succeeded)
      let before = try await trial.job(claimed.token.job)
      trial.clock.advance(by: .seconds(1))
      for result: ClaimSettlement.Result in [.succeeded(output: Data("2".utf8)), .failed(message: "no"), .interrupted] {
        let reply = try await trial.settle(claimed, result)
        try same(reply, SettlementReply(isAccepted: true, state: .succeeded), "the reply to \(result)")
      }
      try same(try await trial.job(claimed.token.job), before, "the job")
    },
    Case("A claim under which its worker ended the job is not lost, and changes nothing any more") { subject in
      for result: ClaimSettlement.Result in [.succeeded(output: Data("out".utf8)), .failed(message: "no")] {
        let trial = try await Trial(subject)
        let claimed = try await trial.addAndStart()
        let running = try await trial.addAndStart()
        try await trial.settle(claimed, result)
        let before = try await trial.job(claimed.token.job)
        let standings = try await trial.renew([claimed, running], progress: JobProgress(fraction: 0.5))
        try same(standings, [.held, .held], "the standings after \(result)")
        try same(try await trial.job(claimed.token.job), before, "the job")
        try same(try await trial.tryStep(claimed, "a", "1"), [.held], "its standing with a step")
        try same(try await trial.job(claimed.token.job), before, "the job after a step")
        try await trial.end(running, .succeeded(output: nil), as: .succeeded)
      }
    },
    Case("A claim that was ended from outside is lost") { subject in
      for (change, state) in [
        (JobChange.complete(output: Data("out".utf8)), JobState.succeeded), (.fail(message: "outside"), .failed),
        (.reset, .ready),
      ] {
        let trial = try await Trial(subject)
        let claimed = try await trial.addAndStart()
        let id = claimed.token.job
        try await trial.change(change, id)
        let before = try await trial.job(id)
        try same(before.state, state, "the state after \(change)")
        try same(try await trial.renew([claimed], progress: JobProgress(fraction: 0.1)), [.lost], "the standing")
        try same(
          try await trial.settle(claimed, .suspended(reason: "late")),
          SettlementReply(isAccepted: false, state: state), "the reply")
        try same(try await trial.job(id), before, "the job after a report that came too late")
      }
    },
    Case("C57 A report on a job that is gone is refused and harms nothing") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      try await trial.change(.complete(output: nil), claimed.token.job)
      try await trial.change(.remove, claimed.token.job)
      let other = try await trial.addAndStart()
      let batch = try await trial.store.settle(
        [claimed, other].map { ClaimSettlement(token: $0.token, result: .succeeded(output: nil)) }, thenClaim: nil)
      let expected = [
        SettlementReply(isAccepted: false, state: nil), SettlementReply(isAccepted: true, state: .succeeded),
      ]
      try same(batch.replies, expected, "the replies")
      try same(try await trial.renew([claimed]), [.lost], "the standing")
    },
    Case("A token that nobody was given opens nothing") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      let other = try await trial.add()
      for token in [
        ClaimToken(job: claimed.token.job, claim: claimed.token.claim &+ 1),
        ClaimToken(job: other, claim: claimed.token.claim), ClaimToken(job: other, claim: 0),
        ClaimToken(job: claimed.token.job, claim: -1),
      ] {
        let settlement = ClaimSettlement(token: token, result: .succeeded(output: nil))
        let replies = try await trial.store.settle([settlement], thenClaim: nil).replies
        try same(replies.map(\.isAccepted), [false], "whether \(token) is accepted")
      }
      try await trial.end(claimed, .succeeded(output: nil), as: .succeeded)
    },
    Case("A token is never used again") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.add(.attempts(1000))
      var tokens: Set<ClaimToken> = []
      for round in 0..<20 {
        let claimed = try await trial.start(id, by: "w\(round % 3)")
        try holds(tokens.insert(claimed.token).inserted, "\(claimed.token) is new")
        switch round % 4 {
        case 0: try await trial.settle(claimed, .retry(.now, message: "no"))
        case 1: try await trial.settle(claimed, .interrupted)
        case 2: try await trial.change(.reset, id)
        default: try await trial.retire("w\(round % 3)")
        }
      }
    },
    Case("C18 A worker that comes back under its old name holds none of its old claims") { subject in
      let trial = try await Trial(subject)
      let old = try await trial.addAndStart()
      try await trial.loseWorkers()
      let new = try await trial.addAndStart(.priority(1))
      try same(try await trial.renew([old, new]), [.lost, .held], "the standings")
      try holds(!(try await trial.settle(old, .succeeded(output: nil)).isAccepted), "the old claim is refused")
      try await trial.end(new, .succeeded(output: nil), as: .succeeded)
    },
  ]
}
