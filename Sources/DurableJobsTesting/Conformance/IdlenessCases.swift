import DurableJobs
import Foundation

extension StoreConformance {
  static let idlenessCases: [Case] = [
    Case("What keeps a worker from being idle: what it can serve and is ready, running or returning") { subject in
      let trial = try await Trial(subject)
      func work() async throws -> OutstandingWork {
        try await trial.store.outstanding(.worker(queues: ["q"], kinds: ["k"]))
      }
      try same(try await work(), OutstandingWork(active: 0, isReturning: false, left: JobCounts()), "an empty store")
      try await trial.add(kind: "other")
      try await trial.add(queue: "p")
      let ahead = try await trial.add(.start(.after(.seconds(60))))
      let held = try await trial.add()
      try await trial.change(.suspend(reason: nil), held)
      let idle = OutstandingWork(
        active: 0, isReturning: false, left: JobCounts([.ready: 1, .scheduled: 1, .suspended: 1]))
      try same(try await work(), idle, "unknown kinds, other queues, first starts ahead and suspended jobs")

      let claimed = try await trial.addAndStart()
      try await trial.add()
      try same(try await work().active, 2, "jobs that run or are ready")
      try holds(!(try await work().isIdle), "it is not idle while a job runs")
      try await trial.end(claimed, .retry(.after(.seconds(10)), message: "no"), as: .scheduled)
      try same(try await work().active, 1, "jobs that are ready")
      try holds(try await work().isReturning, "a job in back-off returns")
      let last = try await trial.take(1)[0]
      try await trial.end(last, .succeeded(output: nil), as: .succeeded)
      try same(try await work().active, 0, "jobs that run or are ready")
      try holds(!(try await work().isIdle), "it is not idle while a job is in back-off")
      trial.clock.advance(by: .seconds(10))
      try same(try await work().active, 1, "jobs whose back-off is over")
      let again = try await trial.start(claimed.token.job)
      try await trial.end(again, .failed(message: "no"), as: .failed)
      try same(try await work(), idle, "at the end")
      trial.clock.advance(by: .seconds(60))
      try same(try await work().active, 1, "first starts that have come")
      try await trial.start(ahead)
    },
    Case("A worker serves a queue while it is full") { subject in
      let trial = try await Trial(subject)
      let first = try await trial.add()
      let second = try await trial.add()
      let request = ClaimRequest(worker: WorkerID("w"), queues: ["q", "p"], kinds: ["k"], free: ["q": 1])
      try same(try await trial.store.claim(request).jobs.map(\.token.job), [first], "the job claimed")
      let full = ClaimRequest(worker: WorkerID("w"), queues: ["q", "p"], kinds: ["k"], free: ["p": 1])
      let batch = try await trial.store.claim(full)
      try same(batch.jobs.map(\.token.job), [], "what is claimed where there is no room")
      try holds(!batch.hasMore, "there is nothing more for what is free")
      let work = try await trial.store.outstanding(.queue("q"))
      try same(work.active, 2, "what any living worker can serve of the queue, the ready job \(second) too")
    },
    Case("A snooze and a crash return, a paused queue does not wait") { subject in
      var policy = StorePolicy()
      policy.crashBackOff = BackOff(base: .seconds(60), factor: 1, cap: .seconds(60))
      let trial = try await Trial(subject, policy: policy)
      func work() async throws -> OutstandingWork {
        try await trial.store.outstanding(.worker(queues: ["q"], kinds: ["k"]))
      }
      let snoozed = try await trial.addAndStart()
      try await trial.end(snoozed, .snoozed(.after(.seconds(3600))), as: .scheduled)
      try holds(try await work().isReturning, "a snoozed job returns")
      try await trial.change(.remove, snoozed.token.job)
      let crashing = try await trial.add()
      for _ in 0..<2 {
        try await trial.start(crashing)
        try await trial.loseWorkers()
      }
      try same(try await trial.job(crashing).state, .scheduled, "the state after two crashes")
      try holds(try await work().isReturning, "a job that crashed returns")
      try await trial.add()
      try await trial.store.configure([.queue("q", isPaused: true)])
      try holds(try await work().isIdle, "a paused queue is idle")
      try same(try await work().left, JobCounts([.ready: 1, .scheduled: 1]), "what is left in it")
    },
    Case("A queue is idle when no living worker can serve what is in it") { subject in
      let trial = try await Trial(subject)
      func work() async throws -> OutstandingWork { try await trial.store.outstanding(.queue("q")) }
      let id = try await trial.add()
      try await trial.add(kind: "other")
      try holds(try await work().isIdle, "it is idle while there is no worker")
      try same(try await work().left, JobCounts([.ready: 2]), "what is left without a worker")
      try await trial.add(queue: "p")
      try same(try await trial.claim(by: "v", kinds: ["k", "other"], ["p": 1]).count, 1, "jobs of the other queue")
      try holds(try await work().isIdle, "it is idle while all workers serve other queues")
      let claimed = try await trial.start(id)
      try same(try await work().active, 1, "jobs that the worker serves")
      try await trial.end(claimed, .interrupted, as: .ready)
      try same(try await work().active, 1, "jobs that the worker could serve")
      try await trial.retire("w")
      try holds(try await work().isIdle, "it is idle when the worker has retired")
    },
    Case("A worker that has fallen silent serves nothing") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      try await trial.end(claimed, .interrupted, as: .ready)
      trial.clock.advance(by: Defaults.lease - .milliseconds(1))
      try holds(!(try await trial.store.outstanding(.queue("q")).isIdle), "the queue is not idle under its lease")
      trial.clock.advance(by: .milliseconds(1))
      try holds(try await trial.store.outstanding(.queue("q")).isIdle, "the queue is idle when the lease has lapsed")
    },
  ]
}
