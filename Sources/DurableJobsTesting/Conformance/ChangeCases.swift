import DurableJobs
import Foundation

extension StoreConformance {
  static let changeCases: [Case] = [
    Case("A priority is changed for what waits, and for the next attempt of what runs") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(4)
      let running = try await trial.start(ids[0])
      for (id, priority) in [(ids[0], JobPriority.high), (ids[2], .high), (ids[1], .low)] {
        try await trial.change(.setPriority(priority), id)
        try same(try await trial.job(id).priority, priority, "the priority")
      }
      try await trial.end(running, .retry(.now, message: "no"), as: .ready)
      let claimed = try await trial.take(4)
      try same(claimed.map(\.token.job), [ids[0], ids[2], ids[3], ids[1]], "the order of claims")
      try await trial.end(claimed[0], .succeeded(output: nil), as: .succeeded)
      try same(try await trial.report(.setPriority(.low), ids[0]).refused.map(\.job), [ids[0]], "of one that ended")
    },
    Case("A start is changed for what waits, sooner and later, and for nothing else") { subject in
      let trial = try await Trial(subject)
      let (ready, later) = (try await trial.add(), try await trial.add(.start(.after(.seconds(60)))))
      let blocked = try await trial.add(after: [.job(ready)])
      try await trial.change(.setStart(.after(.seconds(9))), ready)
      try await trial.change(.setStart(.after(.seconds(30))), blocked)
      try await trial.change(.setStart(.now), later)
      try same(try await trial.states([ready, later, blocked]), [.scheduled, .ready, .blocked], "the states")
      try same(try await trial.job(ready).runAt, trial.after(.seconds(9)), "when the one is due")
      let running = try await trial.start(later)
      try same(try await trial.report(.setStart(.now), later).refused.map(\.job), [later], "of one that runs")
      try await trial.end(running, .suspended(reason: "s"), as: .suspended)
      try same(try await trial.report(.setStart(.now), later).refused.map(\.job), [later], "of a suspended one")
      trial.clock.advance(by: .seconds(9))
      try await trial.end(try await trial.start(ready), .succeeded(output: nil), as: .succeeded)
      try same(try await trial.job(blocked).state, .scheduled, "the state of the one that waited, whose time is ahead")
      try same(try await trial.report(.setStart(.now), ready).refused.map(\.job), [ready], "of one that ended")
    },
    Case("What a person may do to a job depends on its state, as `JobCourse` says") { subject in
      for standing in Standing.allCases {
        for change in everyChange {
          let trial = try await Trial(subject)
          let id = try await standing.make(trial)
          let before = try await trial.job(id)
          var course = JobCourse(
            state: before.state, attempt: before.attempt, maxAttempts: before.maxAttempts, crashes: before.crashes,
            runAt: before.runAt, stopAsked: before.stopAsked, reason: before.reason)
          course.heldBy = before.heldBy
          var refusal: String?
          do { try course.apply(change, now: trial.now) } catch { refusal = "\(error)" }
          let report = try await trial.report(change, id)
          let what = "of \(change) on a job that is \(standing)"
          try same(report.refused.map(\.message), refusal.map { [$0] } ?? [], "the refusals \(what)")
          try same(report.changed, refusal == nil ? [id] : [], "the changed jobs \(what)")
          if change == .remove, refusal == nil {
            try same(try await trial.ids(), [], "the jobs left \(what)")
            try same(try await trial.store.counts(where: .all), JobCounts(), "the counts \(what)")
            continue
          }
          let after = try await trial.job(id)
          if refusal != nil { try same(after, before, "the job \(what)") }
          try same(after.state, course.state, "the state \(what)")
          try same(after.attempt, course.attempt, "the attempts \(what)")
          try same(after.runAt, course.state == .scheduled ? course.runAt : nil, "the due time \(what)")
          try same(after.stopAsked, course.stopAsked, "the stop asked \(what)")
          try same(after.reason, course.reason, "the reason \(what)")
          if after.state == .suspended { try same(after.heldBy, course.heldBy ?? .request, "who holds it \(what)") }
          try same(after.finishedAt != nil, course.state.isFinished, "that it has an end \(what)")
          try same(try await trial.store.counts(where: .all), JobCounts([after.state: 1]), "the counts \(what)")
        }
      }
    },
    Case("A callback that comes before the suspension ends the job") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      let id = claimed.token.job
      try await trial.change(.complete(output: Data("callback".utf8)), id)
      let reply = try await trial.settle(claimed, .suspended(reason: "waits for its callback"))
      try same(reply, SettlementReply(isAccepted: false, state: .succeeded), "the reply to the suspension")
      try same(try await trial.job(id).output, Data("callback".utf8), "the output")
      try same(try await trial.job(id).reason, nil, "the reason")
    },
    Case("A callback that comes together with the suspension ends the job") { subject in
      let trial = try await Trial(subject)
      for round in 0..<20 {
        let claimed = try await trial.addAndStart()
        async let callback = trial.report(.complete(output: Data("callback".utf8)), claimed.token.job)
        async let suspension = trial.settle(claimed, .suspended(reason: "waits for its callback"))
        let (report, _) = try await (callback, suspension)
        try same(report.changed, [claimed.token.job], "the report of the callback, round \(round)")
        let job = try await trial.job(claimed.token.job)
        try same(job.state, .succeeded, "the state, round \(round)")
        try same(job.output, Data("callback".utf8), "the output, round \(round)")
      }
    },
    Case("A callback that comes after the suspension ends the job") { subject in
      let trial = try await Trial(subject)
      for (change, state) in [
        (JobChange.complete(output: Data("o".utf8)), JobState.succeeded), (.fail(message: "f"), .failed),
      ] {
        let claimed = try await trial.addAndStart()
        try await trial.end(claimed, .suspended(reason: "waits for its callback"), as: .suspended)
        trial.clock.advance(by: .seconds(3600))
        try await trial.change(change, claimed.token.job)
        let job = try await trial.job(claimed.token.job)
        try same(job.state, state, "the state")
        try same(job.reason, nil, "the reason")
        try same(job.finishedAt, trial.now, "the end")
        try same(job.output, state == .succeeded ? Data("o".utf8) : nil, "the output")
        try same(job.failures.map(\.message), state == .failed ? ["f"] : [], "the failures")
      }
    },
    Case("C55 A cancelled job stays cancelled") { subject in
      let trial = try await Trial(subject)
      let ready = try await trial.add()
      let scheduled = try await trial.add(.start(.after(.seconds(5))))
      for id in [ready, scheduled] { try await trial.change(.cancel(reason: "no need"), id) }
      trial.clock.advance(by: .seconds(60))
      try await trial.recover()
      try same(try await trial.claim(["q": 9]).count, 0, "jobs claimed")
      for id in [ready, scheduled] {
        try same(try await trial.job(id).state, .cancelled, "the state")
        try same(try await trial.job(id).reason, "no need", "the reason")
      }
    },
    Case("A removed job is gone, whatever it was") { subject in
      let trial = try await Trial(subject)
      let terms = JobTerms(key: "key", tags: ["tag"])
      let claimed = try await trial.addAndStart(terms)
      try await trial.end(claimed, .failed(message: "no"), as: .failed)
      let waiting = try await trial.add(terms)
      for id in [claimed.token.job, waiting] {
        try await trial.change(.remove, id)
        try same(try await trial.report(.remove, id), ChangeReport(), "the report of a second removal")
      }
      for filter: JobFilter in [.all, .key("key"), .tag("tag"), .kind("k"), .state(.ready)] {
        try same(try await trial.ids(filter), [], "jobs of \(filter)")
        try same(try await trial.store.counts(where: filter), JobCounts(), "counts of \(filter)")
      }
      try same(try await trial.claim(["q": 9]).count, 0, "jobs claimed")
    },
    Case("A change of many jobs goes through them in bites, lowest ids first, each once") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(7)
      try await trial.add(kind: "other")
      _ = try await trial.start(ids[0])
      var changed: [JobID] = []
      var refused: [JobID] = []
      var after: JobID?
      for bite in 0..<20 {
        let report = try await trial.store.change(.remove, where: .kind("k"), after: after, limit: 2)
        let here = report.changed + report.refused.map(\.job)
        try holds(here.count <= 2, "bite \(bite) has at most 2 jobs")
        try same(report.changed, report.changed.sorted(), "the jobs of bite \(bite)")
        try holds(here.allSatisfy { after == nil || $0 > after! }, "bite \(bite) goes on behind the one before")
        changed += report.changed
        refused += report.refused.map(\.job)
        after = report.next
        if after == nil { break }
      }
      try same(after, nil, "where to go on at the end")
      try same(refused, [ids[0]], "the jobs refused")
      try same(changed, Array(ids.dropFirst()), "the jobs changed")
      try same(try await trial.ids().count, 2, "the jobs left")
    },
    Case("A change of what nobody has is no error, and a limit of 0 is one") { subject in
      let trial = try await Trial(subject)
      let nobody = JobID(rawValue: 12345)
      try same(try await trial.report(.cancel(reason: nil), nobody), ChangeReport(), "the report")
      try await refused(.invalidArgument, "a change of at most 0 jobs") {
        _ = try await trial.store.change(.retry, where: .all, after: nil, limit: 0)
      }
      try await refused(.invalidArgument, "a page of 0 jobs") { _ = try await trial.store.jobs(JobQuery(limit: 0)) }
      try await refused(.invalidArgument, "a bite of 0 jobs") { try await trial.recover(limit: 0) }
    },
    Case("A reset makes ready what runs or is suspended, and no attempt is lost by it") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart(.attempts(2))
      let id = claimed.token.job
      try await trial.end(claimed, .retry(.now, message: "no"), as: .ready)
      try await trial.start(id)
      try await trial.change(.reset, id)
      try same(try await trial.job(id).state, .ready, "the state of one that ran")
      try same(try await trial.job(id).attempt, 1, "its attempts")
      let again = try await trial.start(id)
      try same(again.attempt, 2, "the attempt after the reset")
      try await trial.end(again, .suspended(reason: "held"), as: .suspended)
      try await trial.change(.reset, id)
      try same(try await trial.job(id).state, .ready, "the state of one that was suspended")
      try same(try await trial.job(id).attempt, 1, "its attempts")
      try same(try await trial.job(id).reason, nil, "its reason")
    },
    Case("C55 A reset of a job that was asked to cancel ends it, whoever holds it") { subject in
      let trial = try await Trial(subject)
      let running = try await trial.addAndStart()
      let id = running.token.job
      let next = try await trial.add([.plain(after: [JobEdge(.job(id), .ended)])])[0]
      try await trial.change(.cancel(reason: "no need"), id)
      try await trial.change(.reset, id)
      try same(try await trial.states([id, next]), [.cancelled, .ready], "the job, and one that waited for its end")
      try same(try await trial.job(id).reason, "no need", "the reason")
      try same(try await trial.job(id).attempt, 0, "its attempts")
      try same(try await trial.renew([running]), [.lost], "the standing of its claim")
      try same(
        try await trial.settle(running, .succeeded(output: nil)),
        SettlementReply(isAccepted: false, state: .cancelled), "the reply to its worker")
    },
    Case("A job gets another payload until it runs, and between its attempts, and not once it has ended") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.add()
      let (second, third) = (Data("second".utf8), Data("third".utf8))
      try await trial.change(.replacePayload(second), id)
      try same(try await trial.job(id).payload, second, "the payload")
      try same(try await trial.job(id).state, .ready, "its state")
      let claimed = try await trial.start(id)
      try same(claimed.payload, second, "the payload that runs")
      try same(try await trial.report(.replacePayload(third), id).refused.count, 1, "refusals while it runs")
      try await trial.end(claimed, .retry(.now, message: "no"), as: .ready)
      try await trial.change(.replacePayload(third), id)
      try same(try await trial.start(id).payload, third, "the payload of the next attempt")
      try await trial.change(.complete(output: nil), id)
      try same(try await trial.report(.replacePayload(second), id).refused.count, 1, "refusals at the end")
      try same(try await trial.job(id).payload, third, "the payload at the end")
    },
    Case("A retry of what waits for its time makes it ready at once") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      try await trial.end(claimed, .retry(.after(.seconds(3600)), message: "no"), as: .scheduled)
      try await trial.change(.retry, claimed.token.job)
      try same(try await trial.start(claimed.token.job).attempt, 2, "the next attempt")
    },
  ]

  private static let everyChange: [JobChange] = [
    .retry, .cancel(reason: "c"), .suspend(reason: "s"), .suspend(reason: nil), .resume, .remove,
    .complete(output: Data("o".utf8)), .fail(message: "f"), .progress(JobProgress(fraction: 0.5)), .reset,
  ]

  /// The ways in which a job may stand when somebody changes it.
  private enum Standing: CaseIterable {
    case ready, scheduled, backingOff, running, runningAgain, cancelAsked, suspendAsked, suspended, suspendedByHandler
    case succeeded, failed, cancelled

    func make(_ trial: Trial) async throws -> JobID {
      if self == .scheduled { return try await trial.add(.start(.after(.seconds(60)))) }
      let id = try await trial.add()
      switch self {
      case .ready, .scheduled: break
      case .cancelled: try await trial.change(.cancel(reason: "before"), id)
      case .suspended: try await trial.change(.suspend(reason: "before"), id)
      default:
        var claimed = try await trial.start(id)
        switch self {
        case .backingOff: try await trial.settle(claimed, .retry(.after(.seconds(9)), message: "before"))
        case .runningAgain:
          try await trial.settle(claimed, .retry(.now, message: "before"))
          claimed = try await trial.start(id)
        case .cancelAsked: try await trial.change(.cancel(reason: "before"), id)
        case .suspendAsked: try await trial.change(.suspend(reason: "before"), id)
        case .suspendedByHandler: try await trial.settle(claimed, .suspended(reason: "before"))
        case .succeeded: try await trial.settle(claimed, .succeeded(output: Data("before".utf8)))
        case .failed: try await trial.settle(claimed, .failed(message: "before"))
        default: break
        }
      }
      return id
    }
  }
}
