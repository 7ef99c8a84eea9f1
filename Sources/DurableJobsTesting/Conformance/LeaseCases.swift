import DurableJobs
import Foundation

extension StoreConformance {
  static let leaseCases: [Case] = [
    Case("Recovery leaves living workers alone") { subject in
      let trial = try await Trial(subject)
      _ = try await trial.add(2)
      let dead = try await trial.take(1, by: "dead")[0]
      let alive = try await trial.take(1, by: "alive")[0]
      var recovered = 0
      for _ in 0..<5 {
        trial.clock.advance(by: .seconds(10))
        try same(try await trial.renew([alive], by: "alive"), [.held], "the standing of a worker that renews")
        recovered += try await trial.recover().recovered
      }
      try same(recovered, 1, "jobs recovered")
      try same(try await trial.job(dead.token.job).state, .ready, "the state of the dead worker's job")
      try await trial.end(alive, .succeeded(output: nil), as: .succeeded)
    },
    Case("A lease holds as long as it was granted for") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      trial.clock.advance(by: Defaults.lease - .milliseconds(1))
      try same(try await trial.recover(), RecoveryReport(), "recovery before the lease has lapsed")
      try await trial.end(claimed, .succeeded(output: nil), as: .succeeded)
    },
    Case("A renewal that comes late still counts while nobody has recovered the worker") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      trial.clock.advance(by: .seconds(3600))
      try same(try await trial.renew([claimed]), [.held], "the standing")
      try same(try await trial.recover().recovered, 0, "jobs recovered afterwards")
      trial.clock.advance(by: .seconds(3600))
      try await trial.end(claimed, .succeeded(output: nil), as: .succeeded)
    },
    Case("A worker in doubt is asked for a sign of life, and keeps its claims if it gives one") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      let heard = Heard()
      let subscription = trial.store.signals.listen { heard.add($0) }
      trial.clock.advance(by: Defaults.lease)
      let report = try await trial.recover()
      try same(report.recovered, 0, "jobs recovered at first sight")
      try same(report.comeAgain, Defaults.doubtInterval, "when to come again")
      try await heard.wait(trial, "the doubt") { $0.isDoubt }
      trial.clock.advance(by: .seconds(1))
      try same(try await trial.renew([claimed]), [.held], "the standing")
      trial.clock.advance(by: Defaults.doubtInterval)
      let second = try await trial.recover()
      try same(second.recovered, 0, "jobs recovered afterwards")
      try same(second.comeAgain, nil, "when to come again afterwards")
      try await trial.end(claimed, .succeeded(output: nil), as: .succeeded)
      withExtendedLifetime(subscription) {}
    },
    Case("A worker in doubt that stays silent loses its claims when the interval is over, and not before") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      trial.clock.advance(by: Defaults.lease)
      try await trial.recover()
      trial.clock.advance(by: Defaults.doubtInterval - .milliseconds(1))
      let early = try await trial.recover()
      try same(early.recovered, 0, "jobs recovered before")
      try same(early.comeAgain, .milliseconds(1), "when to come again")
      trial.clock.advance(by: .milliseconds(1))
      try same(try await trial.recover().recovered, 1, "jobs recovered")
      try same(try await trial.renew([claimed]), [.lost], "the standing")
    },
    Case("C42 A clock step of a minute takes nothing from a worker that answers") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      for _ in 0..<3 {
        trial.clock.stepWallClock(by: .seconds(60))
        try same(try await trial.recover().recovered, 0, "jobs recovered at the step")
        trial.clock.advance(by: .seconds(1))
        try same(try await trial.renew([claimed]), [.held], "the standing")
        trial.clock.advance(by: Defaults.doubtInterval)
        try same(try await trial.recover().recovered, 0, "jobs recovered afterwards")
      }
      trial.clock.stepWallClock(by: .seconds(-3600))
      try same(try await trial.recover().recovered, 0, "jobs recovered at a step back")
      try same(try await trial.renew([claimed]), [.held], "the standing after a step back")
      try await trial.end(claimed, .succeeded(output: nil), as: .succeeded)
    },
    Case("C15 Two that recover at once count one crash") { subject in
      let trial = try await Trial(subject)
      for round in 1...10 {
        let claimed = try await trial.addAndStart()
        trial.clock.advance(by: Defaults.lease)
        try await trial.recover()
        trial.clock.advance(by: Defaults.doubtInterval)
        async let first = trial.recover("r1")
        async let second = trial.recover("r2")
        let recovered = try await first.recovered + second.recovered
        try same(recovered, 1, "jobs recovered in all, round \(round)")
        try same(try await trial.job(claimed.token.job).crashes, 1, "the crashes, round \(round)")
        try await trial.change(.remove, claimed.token.job)
      }
    },
    Case("Who recovers leaves its own claims alone") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      trial.clock.advance(by: .seconds(3600))
      try await trial.recover("w")
      trial.clock.advance(by: .seconds(3600))
      try same(try await trial.recover("w").recovered, 0, "jobs recovered")
      try await trial.end(claimed, .succeeded(output: nil), as: .succeeded)
    },
    Case("A renewal is all that a worker holds: what is not on the list goes back") { subject in
      let trial = try await Trial(subject)
      let kept = try await trial.addAndStart(.attempts(1))
      let forgotten = try await trial.addAndStart(.attempts(1))
      let other = try await trial.addAndStart(by: "v")
      try same(try await trial.renew([kept]), [.held], "the standing")
      let job = try await trial.job(forgotten.token.job)
      try same(job.state, .ready, "the state of the job that was left out")
      try same([job.attempt, job.crashes], [0, 0], "its attempts and crashes")
      try same(try await trial.job(other.token.job).state, .running, "the state of another worker's job")
      try same(try await trial.renew([kept, forgotten]), [.held, .lost], "the standings")
      try same(
        try await trial.settle(forgotten, .succeeded(output: nil)), SettlementReply(isAccepted: false, state: .ready),
        "the reply to a late result")
      let again = try await trial.start(forgotten.token.job)
      try await trial.end(again, .succeeded(output: nil), as: .succeeded)
      try await trial.end(kept, .succeeded(output: nil), as: .succeeded)
    },
    Case("A worker that retires gives its jobs back as interrupted") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(3)
      let claims = try await trial.take(2)
      let other = try await trial.take(1, by: "v")[0]
      try await trial.change(.cancel(reason: "c"), ids[1])
      try await trial.retire("w")
      let job = try await trial.job(ids[0])
      try same(job.state, .ready, "the state")
      try same(job.attempt, 0, "the attempts")
      try same(job.crashes, 0, "the crashes")
      try same(try await trial.job(ids[1]).state, .cancelled, "the state of one whose cancel was asked for")
      try same(try await trial.renew(claims), [.lost, .lost], "the standings")
      try holds(!(try await trial.settle(claims[0], .succeeded(output: nil)).isAccepted), "a late result is refused")
      try await trial.end(other, .succeeded(output: nil), as: .succeeded)
      trial.clock.advance(by: .seconds(3600))
      try same(try await trial.recover().comeAgain, nil, "when to come again for a worker that is gone")
    },
  ]
}
