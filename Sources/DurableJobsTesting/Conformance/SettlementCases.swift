import DurableJobs
import Foundation

extension StoreConformance {
  static let settlementCases: [Case] = [
    Case("A job that succeeded keeps its output and says when it ended") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      let started = trial.now
      trial.clock.advance(by: .milliseconds(1234))
      try await trial.end(claimed, .succeeded(output: Data("out".utf8)), as: .succeeded)
      let job = try await trial.job(claimed.token.job)
      try same(job.output, Data("out".utf8), "the output")
      try same(job.startedAt, started, "the start")
      try same(job.finishedAt, trial.now, "the end")
      try same(job.attempt, 1, "the attempts")
      try same(job.failures, [], "the failures")
      try same(try await trial.claim(["q": 9]).count, 0, "jobs claimed afterwards")
    },
    Case("A job may succeed without an output") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      try await trial.end(claimed, .succeeded(output: nil), as: .succeeded)
      try same(try await trial.job(claimed.token.job).output, nil, "the output")
    },
    Case("A failed attempt is followed by another when its back-off is over") { subject in
      let trial = try await Trial(subject)
      let first = try await trial.addAndStart(.attempts(3))
      let id = first.token.job
      let failedAt = trial.now
      try await trial.end(first, .retry(.after(.seconds(5)), message: "no route"), as: .scheduled)
      let waiting = try await trial.job(id)
      try same(waiting.runAt, trial.after(.seconds(5)), "the due time")
      try same(waiting.attempt, 1, "the attempts so far")
      try same(waiting.failures, [AttemptFailure(attempt: 1, at: failedAt, message: "no route")], "the failures")
      try same(waiting.finishedAt, nil, "the end")
      trial.clock.advance(by: .milliseconds(4999))
      try same(try await trial.claim().count, 0, "jobs claimed during the back-off")
      trial.clock.advance(by: .milliseconds(1))
      let second = try await trial.start(id)
      try same(second.attempt, 2, "the second attempt")
      try holds(second.token != first.token, "its token is a new one")
      try await trial.end(second, .succeeded(output: nil), as: .succeeded)
      try same(try await trial.job(id).failures.map(\.attempt), [1], "the failures that are remembered")
    },
    Case("What a failed attempt is matched by is kept with it, and none is where nothing was said or thrown") {
      subject in
      let trial = try await Trial(subject)
      let id = try await trial.add(.attempts(3))
      for (code, result) in [
        ("NoRoute", ClaimSettlement.Result.retry(.now, message: "one")), (nil, .retry(.now, message: "two")),
        ("Unused", .snoozed(.now)), ("Gone", .failed(message: "three")),
      ] {
        let job = try await trial.start(id)
        _ = try await trial.store.settle(
          [ClaimSettlement(token: job.token, result: result, code: code)], thenClaim: nil)
        trial.clock.advance(by: Defaults.leastSnooze)
      }
      let failed = try await trial.job(id)
      try same(failed.failures.map(\.code), ["NoRoute", nil, "Gone"], "the codes")
      try same(failed.failure.code, "Gone", "the code of the job's failure")
      let other = try await trial.add()
      try await trial.change(.fail(message: "outside", code: "Refused"), other)
      try same(
        try await trial.job(other).failures.map(\.code), ["Refused"], "the code of one that was failed from outside")
      let overdue = try await trial.addAndStart(JobTerms(deadline: .end(by: .after(.seconds(5)))))
      trial.clock.advance(by: .seconds(6))
      _ = try await trial.recover()
      _ = try await trial.store.settle(
        [ClaimSettlement(token: overdue.token, result: .retry(.now, message: "stopped"), code: "Stopped")],
        thenClaim: nil)
      try same(
        try await trial.job(overdue.token.job).failures.map(\.code), [nil], "the code of one whose time was over")
    },
    Case("C5 A job whose attempts are used up is kept as failed with its errors, and runs again when retried") {
      subject in
      let trial = try await Trial(subject)
      let id = try await trial.add(.attempts(2))
      try await trial.end(trial.start(id), .retry(.now, message: "one"), as: .ready)
      try await trial.end(trial.start(id), .retry(.now, message: "two"), as: .failed)
      let failed = try await trial.job(id)
      try same(failed.failures.map(\.message), ["one", "two"], "the failures")
      try same(failed.failures.map(\.attempt), [1, 2], "their attempts")
      try same(failed.finishedAt, trial.now, "the end")
      try await trial.change(.retry, id)
      let again = try await trial.job(id)
      try same(again.state, .ready, "the state after the retry")
      try same(again.attempt, 0, "the attempts after the retry")
      try same(again.finishedAt, nil, "the end after the retry")
      try same(again.failures.count, 2, "the failures that are remembered")
      let claimed = try await trial.start(id)
      try same(claimed.attempt, 1, "the attempt after the retry")
      try await trial.end(claimed, .succeeded(output: nil), as: .succeeded)
    },
    Case("A failure for good ends a job whatever attempts are left") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart(.attempts(9))
      try await trial.end(claimed, .failed(message: "never"), as: .failed)
      let job = try await trial.job(claimed.token.job)
      try same(job.failures.map(\.message), ["never"], "the failures")
      try same(job.attempt, 1, "the attempts")
    },
    Case("C59 A snooze keeps the job and gives the attempt back") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart(.attempts(1))
      let id = claimed.token.job
      try await trial.end(claimed, .snoozed(.after(.seconds(60))), as: .scheduled)
      try same(try await trial.job(id).attempt, 0, "the attempts")
      try same(try await trial.job(id).failures, [], "the failures")
      trial.clock.advance(by: .seconds(60))
      let again = try await trial.start(id)
      try same(again.attempt, 1, "the attempt after the snooze")
      try same(again.payload, claimed.payload, "the payload after the snooze")
      try await trial.end(again, .snoozed(.at(trial.after(.seconds(-1)))), as: .scheduled)
      try same(try await trial.job(id).runAt, trial.after(Defaults.leastSnooze), "the end of a snooze for no time")
    },
    Case("A job that its handler suspended is held until it is resumed, its attempt given back") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      let id = claimed.token.job
      try await trial.end(claimed, .suspended(reason: "asked the server"), as: .suspended)
      try same(try await trial.job(id).reason, "asked the server", "the reason")
      try same(try await trial.job(id).attempt, 0, "the attempts")
      trial.clock.advance(by: .seconds(86400))
      try await trial.recover()
      try same(try await trial.claim().count, 0, "jobs claimed while it is suspended")
      try await trial.change(.resume, id)
      try same(try await trial.job(id).reason, nil, "the reason once it is resumed")
      try await trial.start(id)
    },
    Case("C54 An interrupted job is back at once, its attempt given back") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart(.attempts(1))
      try await trial.end(claimed, .interrupted, as: .ready)
      let job = try await trial.job(claimed.token.job)
      try same(job.attempt, 0, "the attempts")
      try same(job.crashes, 0, "the crashes")
      try same(try await trial.start(job.id).attempt, 1, "the next attempt")
    },
    Case("Settlements are answered one by one and in order, the lost among them") { subject in
      let trial = try await Trial(subject)
      _ = try await trial.add(4)
      let claims = try await trial.take(4)
      try await trial.change(.complete(output: nil), claims[1].token.job)
      let results: [ClaimSettlement.Result] = [
        .succeeded(output: nil), .failed(message: "late"), .failed(message: "no"), .interrupted,
      ]
      let replies = try await trial.store.settle(
        zip(claims, results).map { ClaimSettlement(token: $0.token, result: $1) }, thenClaim: nil
      ).replies
      let expected = [(true, JobState.succeeded), (false, .succeeded), (true, .failed), (true, .ready)]
        .map { SettlementReply(isAccepted: $0, state: $1) }
      try same(replies, expected, "replies")
    },
    Case("Settle and claim in one call: the results first") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(2)
      let first = try await trial.start(ids[0])
      let batch = try await trial.store.settle(
        [ClaimSettlement(token: first.token, result: .retry(.now, message: "no"))], thenClaim: trial.request(["q": 9]))
      try same(batch.replies, [SettlementReply(isAccepted: true, state: .ready)], "replies")
      try same(batch.claimed?.jobs.map(\.token.job), ids, "jobs claimed")
      try same(batch.claimed?.jobs.map(\.attempt), [2, 1], "their attempts")
      let rest = try await trial.store.settle([], thenClaim: nil)
      try holds(rest.replies.isEmpty && rest.claimed == nil, "nothing asked, nothing answered")
    },
    Case("C63 Texts are cut, and only the newest failures are remembered") { subject in
      let trial = try await Trial(subject)
      let long = String(repeating: "ä€", count: Limits.messageBytes)
      let id = try await trial.add(.attempts(100))
      for number in 1...(Limits.failuresKept + 3) {
        try await trial.end(trial.start(id), .retry(.now, message: "\(number) \(long)"), as: .ready)
      }
      let failures = try await trial.job(id).failures
      try same(failures.map(\.attempt), Array(4...(Limits.failuresKept + 3)), "the attempts that are remembered")
      try holds(failures.allSatisfy { $0.message.utf8.count <= Limits.messageBytes }, "each message is cut")
      try holds(failures.allSatisfy { $0.message.hasPrefix("\($0.attempt) ä") }, "each message is whole at its start")

      let held = try await trial.addAndStart(.priority(9))
      try await trial.end(held, .suspended(reason: long), as: .suspended)
      try holds(
        try present(try await trial.job(held.token.job).reason, "the reason").utf8.count <= Limits.messageBytes,
        "the reason is cut")
      try await trial.change(.cancel(reason: long), held.token.job)
      try holds(
        try present(try await trial.job(held.token.job).reason, "the reason").utf8.count <= Limits.messageBytes,
        "the reason is cut")
      let ended = try await trial.addAndStart(.priority(9))
      try await trial.change(.fail(message: long), ended.token.job)
      let message = try present(try await trial.job(ended.token.job).failures.first, "a failure").message
      try holds(message.utf8.count <= Limits.messageBytes, "the message from outside is cut")
    },
    Case("Progress is stored by renewals, by the result and from outside, and the latest stands") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      let id = claimed.token.job
      try same(try await trial.job(id).progress, nil, "the progress of a job that told none")
      _ = try await trial.renew([claimed], progress: JobProgress(fraction: 0.5, message: "half"))
      try same(try await trial.job(id).progress, JobProgress(fraction: 0.5, message: "half"), "by a renewal")
      try same(try await trial.renew([claimed]), [.held], "a renewal without news")
      try same(try await trial.job(id).progress?.fraction, 0.5, "after a renewal without news")
      try await trial.change(.progress(JobProgress(fraction: 0.25)), id)
      try same(try await trial.job(id).progress, JobProgress(fraction: 0.25), "from outside")
      try await trial.settle(claimed, .suspended(reason: "s"), progress: JobProgress(fraction: 0.75))
      try same(try await trial.job(id).progress, JobProgress(fraction: 0.75), "with the result")
      try await trial.change(.progress(JobProgress(fraction: 1)), id)
      try same(try await trial.job(id).progress, JobProgress(fraction: 1), "while it is suspended")
    },
  ]
}
