import DurableJobs
import Foundation

extension StoreConformance {
  static let claimCases: [Case] = [
    Case("A claimed job runs, and the claim says all that a worker needs") { subject in
      let trial = try await Trial(subject)
      let terms = JobTerms(maxAttempts: 4, timeout: .seconds(2))
      let id = try await trial.add([NewJob(queue: "q", kind: "k", payload: Data("p".utf8), terms: terms)])[0]
      let claimed = try await trial.start(id)
      try same(claimed.queue, "q", "the queue")
      try same(claimed.kind, "k", "the kind")
      try same(claimed.payload, Data("p".utf8), "the payload")
      try same(claimed.attempt, 1, "the attempt")
      try same(claimed.maxAttempts, 4, "the attempts in all")
      try same(claimed.timeout, .seconds(2), "the timeout")
      let job = try await trial.job(id)
      try same(job.state, .running, "the state")
      try same(job.attempt, 1, "the attempt that is stored")
      try same(job.startedAt, trial.now, "the start")
      try same(job.finishedAt, nil, "the end")
    },
    Case("A claimed job is not claimed again") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(3)
      var claimed: [JobID] = []
      for worker in ["w", "v", "w", "v"] { claimed += try await trial.claim(by: worker).map(\.token.job) }
      try same(claimed, ids, "jobs claimed by two workers in turn")
    },
    Case("A claim takes no more from a queue than it has room for, and nothing from other queues") { subject in
      let trial = try await Trial(subject)
      for queue in ["a", "b", "c", "a", "b", "c", "a", "b", "c"] { try await trial.add(queue: queue) }
      let claimed = try await trial.claim(["a": 2, "b": 1, "d": 5])
      try same(claimed.map(\.queue), ["a", "b", "a"], "queues of the jobs claimed")
      try same(try await trial.claim(["a": 0]).count, 0, "jobs claimed without room")
      try same(try await trial.claim(["c": 9]).count, 3, "jobs claimed with room to spare")
    },
    Case("C2 A job of a kind that a worker does not know stays ready for one that does") { subject in
      let trial = try await Trial(subject)
      let unknown = try await trial.add(kind: "other")
      let known = try await trial.add()
      try same(try await trial.claim(["q": 9]).map(\.token.job), [known], "jobs of the known kind")
      try same(try await trial.job(unknown).state, .ready, "the state of the other job")
      try same(try await trial.job(unknown).attempt, 0, "its attempts")
      let claimed = try await trial.claim(by: "v", kinds: ["k", "other"], ["q": 9])
      try same(claimed.map(\.token.job), [unknown], "jobs of a worker that knows it")
      try same(try await trial.claim(kinds: [], ["q": 9]).count, 0, "jobs of a worker that knows nothing")
    },
    Case("A job is claimed once it is due, and not a millisecond before, with nobody to promote it") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.add(.start(.after(.seconds(5))))
      trial.clock.advance(by: .milliseconds(4999))
      try same(try await trial.claim().count, 0, "jobs claimed before the time")
      trial.clock.advance(by: .milliseconds(1))
      try await trial.start(id)
      try same(try await trial.job(id).runAt, nil, "the due time of a running job")
    },
    Case("C36 Many jobs that come due at once are all claimed, in order") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(300, .start(.after(.seconds(60))))
      let first = try await trial.add(JobTerms(priority: 1, start: .after(.seconds(60))))
      trial.clock.advance(by: .seconds(61))
      var claimed: [JobID] = []
      for _ in 0..<50 where claimed.count < 301 { claimed += try await trial.claim(["q": 40]).map(\.token.job) }
      try same(claimed, [first] + ids, "jobs claimed")
    },
    Case("C35 One that can run is claimed at once, whatever waits before it for others, for a time or for its lane") {
      subject in
      let trial = try await Trial(subject)
      _ = try await trial.add(200, JobTerms(priority: .high, start: .after(.seconds(60))))
      let lane = try await trial.add(200, JobTerms(priority: .high, lane: "a"))
      let edges = [JobEdge.job(lane[0]), JobEdge(.key("nobody"))]
      _ = try await trial.add((0..<200).map { .plain(after: [edges[$0 % 2]], terms: .priority(.high)) })
      let last = try await trial.add(.priority(.low))
      try await trial.start(lane[0])
      let batch = try await trial.store.claim(trial.request(["q": 1]))
      try same(batch.jobs.map(\.token.job), [last], "the job claimed")
      try same(batch.nextDue, .seconds(60), "when the next is due")
      try same(try await trial.claim(["q": 9]).count, 0, "jobs claimed then")
    },
    Case("`nextDue` is exact, and about jobs that the worker could run") { subject in
      let trial = try await Trial(subject)
      func nextDue() async throws -> Duration? {
        let batch = try await trial.store.claim(trial.request(["q": 1, "p": 1]))
        return batch.nextDue
      }
      try same(try await nextDue(), nil, "nextDue of an empty store")
      try await trial.add(.start(.after(.milliseconds(1234))))
      try await trial.add(.start(.after(.seconds(9))))
      try await trial.add(.start(.after(.milliseconds(10))), kind: "other")
      try await trial.add(.start(.after(.milliseconds(20))), queue: "elsewhere")
      try await trial.add(.start(.after(.milliseconds(30))), queue: "p")
      try await trial.store.configure([.queue("p", isPaused: true)])
      try same(try await nextDue(), .milliseconds(1234), "nextDue")
      trial.clock.advance(by: .milliseconds(1000))
      try same(try await nextDue(), .milliseconds(234), "nextDue a second later")
      trial.clock.advance(by: .milliseconds(234))
      let batch = try await trial.store.claim(trial.request())
      try same(batch.jobs.count, 1, "jobs claimed when it is due")
      try same(batch.nextDue, .milliseconds(9000 - 1234), "nextDue after that")
    },
    Case("`hasMore` tells that room was short") { subject in
      let trial = try await Trial(subject)
      _ = try await trial.add(3)
      try await trial.add(kind: "other")
      try holds(try await trial.store.claim(trial.request(["q": 2])).hasMore, "there was more than room for 2")
      let rest = try await trial.store.claim(trial.request(["q": 2]))
      try same(rest.jobs.count, 1, "jobs left")
      try holds(!rest.hasMore, "there is no more once room is left")
    },
    Case("No job of a paused queue is claimed, and those that run go on") { subject in
      let trial = try await Trial(subject)
      _ = try await trial.add(2)
      let elsewhere = try await trial.add(queue: "p")
      let running = try await trial.take(1)[0]
      try await trial.store.configure([.queue("q", isPaused: true)])
      try same(try await trial.claim(["q": 9, "p": 9]).map(\.token.job), [elsewhere], "jobs claimed")
      try await trial.end(running, .succeeded(output: nil), as: .succeeded)
      let paused = try await trial.store.settings().filter { $0 == .queue("q", isPaused: true) }
      try same(paused.count, 1, "settings that say that it is paused")
      try await trial.store.configure([.queue("q", isPaused: false)])
      try same(try await trial.claim(["q": 9]).count, 1, "jobs claimed once it is unpaused")
      try holds(!(try await trial.store.settings().contains(.queue("q", isPaused: true))), "it is paused no more")
    },
    Case("A queue may be paused before it has a job, and twice") { subject in
      let trial = try await Trial(subject)
      try await trial.store.configure([.queue("q", isPaused: true), .queue("q", isPaused: true)])
      try await trial.add()
      try same(try await trial.claim().count, 0, "jobs claimed")
    },
  ]

  static let orderCases: [Case] = [
    Case("Priority goes first, then the id, also over queues") { subject in
      let trial = try await Trial(subject)
      let a = try await trial.add(.priority(.low), queue: "a")
      let b = try await trial.add(.priority(.high), queue: "b")
      let c = try await trial.add(queue: "a")
      let d = try await trial.add(queue: "b")
      let e = try await trial.add(.priority(.high), queue: "a")
      let f = try await trial.add(.priority(JobPriority(rawValue: -1_000_000)), kind: "other", queue: "a")
      let g = try await trial.add(.priority(1_000_000), kind: "other", queue: "b")
      let claimed = try await trial.claim(kinds: ["k", "other"], ["a": 9, "b": 9])
      try same(claimed.map(\.token.job), [g, b, e, c, d, a, f], "the order of the claim")
    },
    Case("The order is kept from claim to claim, a job at a time") { subject in
      let trial = try await Trial(subject)
      var expected: [(priority: Int, id: JobID)] = []
      for priority in [0, 5, -5, 5, 0, 10, -5, 0] {
        expected.append((priority, try await trial.add(.priority(JobPriority(rawValue: priority)))))
      }
      expected.sort { $0.priority == $1.priority ? $0.id < $1.id : $0.priority > $1.priority }
      var claimed: [JobID] = []
      for _ in expected { claimed += try await trial.claim().map(\.token.job) }
      try same(claimed, expected.map(\.id), "the order")
    },
    Case("C43 Place and priority survive each way back to `ready`") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(7, .priority(3))
      let claims = try await trial.take(7)
      try await trial.add(.priority(3))
      try await trial.end(claims[6], .retry(.now, message: "no"), as: .ready)
      try await trial.end(claims[5], .snoozed(.after(.milliseconds(5))), as: .scheduled)
      try await trial.end(claims[4], .interrupted, as: .ready)
      try await trial.end(claims[3], .suspended(reason: "held"), as: .suspended)
      try await trial.change(.resume, ids[3])
      try await trial.end(claims[2], .failed(message: "no"), as: .failed)
      try await trial.change(.retry, ids[2])
      try await trial.change(.reset, ids[1])
      try same(try await trial.loseWorkers(), 1, "jobs recovered")
      for id in ids { try same(try await trial.job(id).priority, 3, "the priority of \(id)") }
      let claimed = try await trial.claim(["q": 7]).map(\.token.job)
      try same(claimed, ids, "the order of the second claim")
    },
    Case("C43 A delay survives suspension and resumption") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.add(.start(.after(.seconds(60))))
      let due = try await trial.job(id).runAt
      try await trial.change(.suspend(reason: nil), id)
      try same(try await trial.job(id).runAt, nil, "the due time while it is suspended")
      trial.clock.advance(by: .seconds(10))
      try await trial.change(.resume, id)
      try same(try await trial.job(id).state, .scheduled, "the state after the resumption")
      try same(try await trial.job(id).runAt, due, "the due time after the resumption")
      try await trial.change(.suspend(reason: nil), id)
      trial.clock.advance(by: .seconds(60))
      try await trial.change(.resume, id)
      try same(try await trial.job(id).state, .ready, "the state of one whose time came while it was suspended")
    },
  ]
}
