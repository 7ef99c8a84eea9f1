import DurableJobs
import Foundation

extension StoreConformance {
  static let timeCases: [Case] = [
    Case("Recovery makes due jobs ready") { subject in
      let trial = try await Trial(subject)
      _ = try await trial.add(5, .start(.after(.seconds(5))))
      try await trial.add(.start(.after(.seconds(6))))
      trial.clock.advance(by: .seconds(5))
      var report = try await trial.recover(limit: 2)
      for _ in 0..<10 where report.hasMore { report = try await trial.recover(limit: 2) }
      try holds(!report.hasMore, "recovery comes to an end")
      try same(try await trial.store.counts(where: .all), JobCounts([.ready: 5, .scheduled: 1]), "the counts")
    },
    Case("C42 A clock set back an hour makes no back-off longer, and moves no date") { subject in
      let trial = try await Trial(subject)
      let first = try await trial.addAndStart()
      try await trial.end(first, .retry(.after(.seconds(10)), message: "no"), as: .scheduled)
      let snoozed = try await trial.addAndStart()
      try await trial.end(snoozed, .snoozed(.after(.seconds(20))), as: .scheduled)
      let date = trial.after(.seconds(30))
      let dated = try await trial.add(.start(.at(date)))
      trial.clock.stepWallClock(by: .seconds(-3600))
      try await trial.recover()
      try same(try await trial.job(first.token.job).runAt, trial.after(.seconds(10)), "the end of the back-off")
      try same(try await trial.job(snoozed.token.job).runAt, trial.after(.seconds(20)), "the end of the snooze")
      try same(try await trial.job(dated).runAt, date, "the date of a first start")
      trial.clock.advance(by: .seconds(10))
      try await trial.start(first.token.job)
    },
    Case("C42 What was left of a wait when the clock was set back is left") { subject in
      let trial = try await Trial(subject)
      let first = try await trial.addAndStart()
      try await trial.end(first, .retry(.after(.seconds(3600)), message: "no"), as: .scheduled)
      for step in [-86_400, -60] {
        trial.clock.advance(by: .seconds(1200))
        trial.clock.stepWallClock(by: .seconds(step))
        try await trial.recover()
      }
      try same(try await trial.job(first.token.job).runAt, trial.after(.seconds(1200)), "the end of the back-off")
    },
    Case("C42 What was enqueued while the clock was far ahead waits for its time, and no longer") { subject in
      let trial = try await Trial(subject)
      try await trial.add()
      trial.clock.stepWallClock(by: .seconds(74 * 365 * 86_400))
      let id = try await trial.add(.start(.after(.milliseconds(200))))
      trial.clock.stepWallClock(by: .seconds(-74 * 365 * 86_400))
      try await trial.recover()
      try same(try await trial.job(id).runAt, trial.after(.milliseconds(200)), "its start")
    },
    Case("C42 What is left of a wait is left also where its job is suspended or skipped while the clock is set back") {
      subject in
      let trial = try await Trial(subject)
      let delay = JobTime.after(.seconds(600))
      let held = try await trial.add(.start(delay))
      try await trial.change(.suspend(reason: nil), held)
      let date = trial.after(.seconds(600))
      let dated = try await trial.add(.start(.at(date)))
      try await trial.change(.suspend(reason: nil), dated)
      let root = try await trial.add(.attempts(1))
      let skipped = try await trial.add([.plain(after: [.job(root)], terms: .start(delay))])[0]
      try await trial.end(try await trial.start(root), .failed(message: "f"), as: .failed)
      trial.clock.stepWallClock(by: .seconds(-3600))
      try await trial.recover()
      for id in [held, dated] { try await trial.change(.resume, id) }
      try same(try await trial.job(held).runAt, trial.after(.seconds(600)), "the start of one that was suspended")
      try same(try await trial.job(dated).runAt, date, "the date of one that was suspended")
      try await trial.change(.retry, root)
      try await trial.end(try await trial.start(root), .succeeded(output: nil), as: .succeeded)
      try same(try await trial.job(skipped).runAt, trial.after(.seconds(600)), "the start of one that was skipped")
    },
    Case("C42 Who opens the store after the clock was set back learns it from what was done last", needs: [.reopens]) {
      subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add((1...200).map { .plain(terms: .start(.after(.seconds(60 * $0)))) })
      trial.clock.stepWallClock(by: .seconds(7200))
      // Not one of those that are due first or last.
      try await trial.change(.setStart(.after(.seconds(600))), ids[0])
      trial.clock.stepWallClock(by: .seconds(-7200))
      let again = Trial(store: try await subject.reopen!(trial.store), clock: trial.clock)
      try await again.recover()
      try same(try await again.job(ids[0]).runAt, again.after(.seconds(600)), "the start that was changed last")
    },
    Case("C42 Order does not depend on the clock") { subject in
      let trial = try await Trial(subject)
      var ids: [JobID] = []
      for step in [0, -3600, 7200, -10, 86400] {
        trial.clock.stepWallClock(by: .seconds(step))
        ids.append(try await trial.add())
      }
      try same(try await trial.claim(["q": 9]).map(\.token.job), ids, "the order of the claim")
    },
    Case("A small step back changes nothing") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      try await trial.end(claimed, .retry(.after(.seconds(10)), message: "no"), as: .scheduled)
      let due = try await trial.job(claimed.token.job).runAt
      trial.clock.stepWallClock(by: .milliseconds(-900))
      try await trial.recover()
      try same(try await trial.job(claimed.token.job).runAt, due, "the end of the back-off")
    },
    Case("Jobs of a kind with a time of its own are kept for that, by their state, and the others for the store's") {
      subject in
      var policy = StorePolicy()
      policy.retention = .seconds(100)
      policy.failedRetention = .seconds(200)
      policy.retentionOfKind = [
        "short": StorePolicy.Retention(.seconds(10), failed: .seconds(50)),
        "long": StorePolicy.Retention(.seconds(300), failed: .seconds(400)),
      ]
      let trial = try await Trial(subject, policy: policy)
      var ids: [JobID] = []
      for kind in ["short", "k", "long"] {
        for change in [JobChange.complete(output: nil), .cancel(reason: nil), .fail(message: "no")] {
          let job = NewJob(queue: "q", kind: kind, payload: Data("{}".utf8))
          ids += try await trial.store.insert(JobInsertion([job])).ids
          try await trial.change(change, ids[ids.count - 1])
        }
      }
      var passed = 0
      for (seconds, gone) in [(10, 2), (50, 3), (100, 5), (200, 6), (300, 8), (400, 9)] {
        trial.clock.advance(by: .seconds(seconds - passed) - .milliseconds(1))
        try same(try await trial.recover().pruned, 0, "jobs deleted before \(seconds) seconds")
        trial.clock.advance(by: .milliseconds(1))
        _ = try await trial.recover()
        try same(try await trial.ids(), Array(ids[gone...]), "the jobs left after \(seconds) seconds")
        passed = seconds
      }
    },
    Case("Jobs are kept for ever where a time is as long as can be, and a short one beside it counts") { subject in
      let forEver = Duration.seconds(Int64.max)
      var policy = StorePolicy()
      (policy.retention, policy.failedRetention) = (forEver, forEver)
      policy.retentionOfKind = ["long": StorePolicy.Retention(forEver, failed: forEver)]
      for short in [false, true] {
        if short { policy.retentionOfKind["short"] = StorePolicy.Retention(.seconds(10), failed: forEver) }
        let trial = try await Trial(subject, policy: policy)
        var ids: [JobID] = []
        for kind in ["short", "k", "long"] {
          for change in [JobChange.complete(output: nil), .fail(message: "no")] {
            ids.append(try await trial.add(kind: kind))
            try await trial.change(change, ids[ids.count - 1])
          }
        }
        for _ in 1...2 {
          trial.clock.advance(by: .seconds(50 * 365 * 86_400))
          try await trial.recover()
          try same(try await trial.ids(), Array(ids[(short ? 1 : 0)...]), "the jobs left")
        }
      }
    },
    Case("Finished jobs are kept for their time, and not longer") { subject in
      var policy = StorePolicy()
      policy.retention = .seconds(100)
      policy.failedRetention = .seconds(1000)
      let trial = try await Trial(subject, policy: policy)
      let succeeded = try await trial.addAndStart(JobTerms(key: "key", tags: ["tag"]))
      try await trial.end(succeeded, .succeeded(output: Data("o".utf8)), as: .succeeded)
      let failed = try await trial.addAndStart()
      try await trial.end(failed, .failed(message: "no"), as: .failed)
      let cancelled = try await trial.add()
      try await trial.change(.cancel(reason: nil), cancelled)
      let ready = try await trial.add()
      trial.clock.advance(by: .milliseconds(99_999))
      try same(try await trial.recover().pruned, 0, "jobs deleted before their time")
      trial.clock.advance(by: .milliseconds(1))
      try same(try await trial.recover().pruned, 2, "jobs deleted after the first time")
      try same(try await trial.ids(), [failed.token.job, ready], "the jobs left")
      try same(try await trial.ids(.tag("tag") || .key("key")), [], "jobs with the tag or the key")
      trial.clock.advance(by: .seconds(900))
      try same(try await trial.recover().pruned, 1, "jobs deleted after the second time")
      try same(try await trial.ids(), [ready], "the jobs left at last")
      try same(try await trial.store.counts(where: .all), JobCounts([.ready: 1]), "the counts")
    },
    Case("A failed job that was retried is kept from its new end on") { subject in
      var policy = StorePolicy()
      policy.retention = .seconds(100)
      policy.failedRetention = .seconds(100)
      let trial = try await Trial(subject, policy: policy)
      let claimed = try await trial.addAndStart()
      try await trial.end(claimed, .failed(message: "no"), as: .failed)
      trial.clock.advance(by: .seconds(60))
      try await trial.change(.retry, claimed.token.job)
      let again = try await trial.start(claimed.token.job)
      try await trial.add()
      trial.clock.advance(by: .seconds(60))
      try await trial.end(again, .succeeded(output: nil), as: .succeeded)
      try same(try await trial.recover("w").pruned, 0, "jobs deleted")
      trial.clock.advance(by: .seconds(100))
      try same(try await trial.recover("w").pruned, 1, "jobs deleted after its time")
    },
    Case("Finished jobs are deleted in bites") { subject in
      var policy = StorePolicy()
      policy.retention = .seconds(100)
      let trial = try await Trial(subject, policy: policy)
      for id in try await trial.add(5) { try await trial.change(.cancel(reason: nil), id) }
      let last = try await trial.add()
      trial.clock.advance(by: .seconds(100))
      var report = try await trial.recover(limit: 2)
      try same(report.pruned, 2, "jobs deleted in the first bite")
      try holds(report.hasMore, "there is more")
      var pruned = 2
      for _ in 0..<10 where report.hasMore {
        report = try await trial.recover(limit: 2)
        pruned += report.pruned
      }
      try same(pruned, 5, "jobs deleted")
      try same(try await trial.ids(), [last], "the jobs left")
    },
  ]
}
