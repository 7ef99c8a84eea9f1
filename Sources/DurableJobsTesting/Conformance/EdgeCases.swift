import DurableJobs
import Foundation

extension StoreConformance {
  static let edgeCases: [Case] = [
    Case("A job is blocked until all that it needs have ended so, and then gets what they brought") { subject in
      let trial = try await Trial(subject)
      let parents = try await trial.add(2)
      let child = try await trial.add(after: [.job(parents[0], slot: 7), .job(parents[1])])
      try same(try await trial.job(child).state, .blocked, "the state of one that waits for two")
      try await trial.end(try await trial.start(parents[0]), .succeeded(output: Data("one".utf8)), as: .succeeded)
      try same(try await trial.job(child).state, .blocked, "the state of one that waits for one more")
      try await trial.end(try await trial.start(parents[1]), .succeeded(output: nil), as: .succeeded)
      let claimed = try await trial.start(child)
      try same(claimed.inputs, [7: .succeeded(output: Data("one".utf8))], "its inputs")
    },
    Case("Each end is met by the conditions that ask for it, and skips those that ask for another") { subject in
      for end in [JobState.succeeded, .failed, .cancelled] {
        let trial = try await Trial(subject)
        let parent = try await trial.add()
        let children = try await [JobEdge.Condition.succeeded, .ended, .failed].asyncMap { condition in
          try await trial.add(after: [JobEdge(.job(parent), condition)])
        }
        try await trial.bring(parent, to: end)
        let late = try await trial.add(after: [.job(parent)])
        let states = try await (children + [late]).asyncMap { try await trial.job($0).state }
        let whenSucceeded = end == .succeeded ? JobState.ready : .skipped
        try same(
          states, [whenSucceeded, .ready, end == .failed ? .ready : .skipped, whenSucceeded],
          "who needed success, any end, a failure, and success later, after \(end)")
      }
    },
    Case("A skipped job says whose end skipped it, and so do all that need it") { subject in
      let trial = try await Trial(subject)
      let root = try await trial.add(.attempts(1))
      let child = try await trial.add(after: [.job(root)])
      let grandchild = try await trial.add(after: [.job(child)])
      let clean = try await trial.add(after: [JobEdge(.job(grandchild), .failed, slot: 0)])
      try await trial.end(try await trial.start(root), .failed(message: "boom"), as: .failed)
      for id in [child, grandchild] {
        let job = try await trial.job(id)
        try same(job.state, .skipped, "the state of job \(id)")
        try same(job.cause, root, "what skipped job \(id)")
        try same(job.reason, "job \(root) (k) failed", "why job \(id) was skipped")
      }
      let failure = JobFailure(job: root, kind: "k", message: "boom", attempts: 1)
      try same(try await trial.start(clean).inputs, [0: .failed(failure)], "what the one that needs a failure gets")
    },
    Case("A retry takes all along that were skipped because of it, and each waits again for what it waited for") {
      subject in
      let trial = try await Trial(subject)
      let (root, other) = (try await trial.add(), try await trial.add(.priority(.low)))
      let left = try await trial.add(after: [.job(root)])
      let right = try await trial.add(after: [.job(root), .job(other)])
      let bottom = try await trial.add(after: [.job(left), .job(right)])
      try await trial.end(try await trial.start(root), .failed(message: "f"), as: .failed)
      try same(try await trial.states([left, right, bottom]), [.skipped, .skipped, .skipped], "those after a failure")
      try await trial.change(.retry, root)
      try same(
        try await trial.states([root, left, right, bottom]), [.ready, .blocked, .blocked, .blocked], "after a retry")
      try await trial.end(try await trial.start(root), .succeeded(output: nil), as: .succeeded)
      try same(try await trial.states([left, right, bottom]), [.ready, .blocked, .blocked], "after its success")
      try await trial.end(try await trial.start(left), .succeeded(output: nil), as: .succeeded)
      try await trial.end(try await trial.start(other), .succeeded(output: nil), as: .succeeded)
      try await trial.end(try await trial.start(right), .succeeded(output: nil), as: .succeeded)
      try same(try await trial.states([bottom]), [.ready], "the last")
    },
    Case("One that is skipped, or that needs one that failed, is not retried by itself: the refusal names the other") {
      subject in
      let trial = try await Trial(subject)
      let root = try await trial.add(.attempts(1))
      let child = try await trial.add(after: [.job(root)])
      let second = try await trial.add(after: [JobEdge(.job(root), .ended)])
      try await trial.end(try await trial.start(root), .failed(message: "f"), as: .failed)
      let refusal = try present(try await trial.report(.retry, child).refused.first, "a refusal").message
      try holds(refusal.contains("retry job \(root)"), "'\(refusal)' names job \(root)")
      try same(try await trial.states([second]), [.ready], "one that needs any end")
    },
    Case("Jobs of one insertion wait for those before them, and for none after or unknown: then nothing is stored") {
      subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add([
        .plain(), .plain(after: [JobEdge(.sibling(0))]), .plain(after: [JobEdge(.sibling(1))]),
      ])
      try same(try await trial.states(ids), [.ready, .blocked, .blocked], "three in a row")
      for broken in [[JobEdge(.sibling(1))], [JobEdge(.sibling(-1))]] {
        try await refused(.invalidArgument, "a job that waits for itself or for none") {
          _ = try await trial.add([.plain(), .plain(after: broken)])
        }
      }
      try await refused(.notFound, "a job that waits for one that there is not") {
        _ = try await trial.add([.plain(), .plain(after: [.job(JobID(rawValue: 999))])])
      }
      try same(try await trial.ids(), ids, "all jobs")
    },
    Case("A job that runs goes on when one that it needed lives again, and waits for it when it comes back") {
      subject in
      let trial = try await Trial(subject)
      let root = try await trial.add(.attempts(1))
      let child = try await trial.add(after: [JobEdge(.job(root), .ended)])
      try await trial.end(try await trial.start(root), .failed(message: "f"), as: .failed)
      let running = try await trial.start(child)
      try await trial.change(.retry, root)
      try same(try await trial.states([child]), [.running], "the child")
      try await trial.end(running, .interrupted, as: .blocked)
      try await trial.end(try await trial.start(root), .succeeded(output: nil), as: .succeeded)
      try await trial.end(try await trial.start(child), .succeeded(output: nil), as: .succeeded)
    },
    Case("A job that is needed is neither removed nor deleted by time, and a removal frees nobody") { subject in
      var policy = StorePolicy()
      policy.retention = .seconds(100)
      policy.failedRetention = .seconds(100)
      let trial = try await Trial(subject, policy: policy)
      let parents = try await trial.add(2, .attempts(1))
      let child = try await trial.add(after: [.job(parents[0], slot: 0), .job(parents[1])])
      try await trial.end(try await trial.start(parents[0]), .succeeded(output: Data([1])), as: .succeeded)
      trial.clock.advance(by: .seconds(101))
      try await trial.recover()
      let refusal = try present(try await trial.report(.remove, parents[0]).refused.first, "a refusal").message
      try holds(refusal.contains("job \(child)"), "'\(refusal)' names job \(child)")
      try await trial.end(try await trial.start(parents[1]), .failed(message: "f"), as: .failed)
      try same(try await trial.states([child]), [.skipped], "the child")
      try await trial.change(.remove, parents[1])
      try same(try await trial.report(.retry, child).refused.count, 1, "refusals of a retry of what can't be any more")
    },
    Case("Whose need is broken lets its unique key go, and stays skipped if another has it when the other lives again")
    {
      subject in
      let trial = try await Trial(subject)
      let root = try await trial.add(.attempts(1))
      let waiting = NewJob(
        queue: "q", kind: "k", payload: Data(), terms: JobTerms(unique: UniqueKey("u")), edges: [.job(root)])
      let child = try await trial.add([waiting])[0]
      try await trial.end(try await trial.start(root), .failed(message: "f"), as: .failed)
      let taker = try await trial.add(JobTerms(unique: UniqueKey("u")))
      try holds(taker != child, "the key was free")
      try await trial.change(.retry, root)
      try same(try await trial.states([root, child]), [.ready, .skipped], "the root and its child")
    },
    Case("Who was skipped is kept as long as what failed, and keeps its start time for when it lives again") {
      subject in
      var policy = StorePolicy()
      policy.retention = .seconds(100)
      policy.failedRetention = .seconds(1000)
      let trial = try await Trial(subject, policy: policy)
      let root = try await trial.add(.attempts(1))
      let start = trial.after(.seconds(5000))
      let late = NewJob(queue: "q", kind: "k", payload: Data(), terms: .start(.at(start)), edges: [.job(root)])
      let child = try await trial.add([late])[0]
      try await trial.end(try await trial.start(root), .failed(message: "f"), as: .failed)
      trial.clock.advance(by: .seconds(500))
      try await trial.recover()
      try await trial.change(.retry, root)
      try await trial.end(try await trial.start(root), .succeeded(output: nil), as: .succeeded)
      try same(try await trial.job(child).runAt, start, "when the child is due")
    },
    Case("What a job took in is kept as long as the job could be retried") { subject in
      var policy = StorePolicy()
      policy.retention = .seconds(100)
      policy.failedRetention = .seconds(1000)
      let trial = try await Trial(subject, policy: policy)
      let parent = try await trial.add()
      let child = try await trial.add([
        NewJob(queue: "q", kind: "k", payload: Data(), terms: .attempts(1), edges: [.job(parent, slot: 0)])
      ])[0]
      try await trial.end(try await trial.start(parent), .succeeded(output: Data([1])), as: .succeeded)
      try await trial.end(try await trial.start(child), .failed(message: "f"), as: .failed)
      trial.clock.advance(by: .seconds(500))
      try await trial.recover()
      try await trial.change(.retry, child)
      try same(try await trial.start(child).inputs, [0: .succeeded(output: Data([1]))], "its inputs in the retry")
    },
    Case("No removal frees who was cancelled, and what is removed with all that needs it goes") { subject in
      let trial = try await Trial(subject)
      let parent = try await trial.add()
      let child = try await trial.add(after: [.job(parent)])
      try await trial.change(.cancel(reason: nil), child)
      try await trial.change(.remove, parent)
      try same(try await trial.report(.retry, child).refused.count, 1, "refusals of a retry of what can't be any more")
      let row = try await trial.add([.plain(), .plain(after: [JobEdge(.sibling(0))])])
      let report = try await trial.store.change(.remove, where: .ids(row), after: nil, limit: 10)
      try same(report.changed, row, "a chain that is removed whole")
    },
    Case("A key stands for the newest that has it and has not failed, else for the first that comes") { subject in
      let trial = try await Trial(subject)
      let early = try await trial.add(after: [JobEdge(.key("k7"))])
      try same(try await trial.states([early]), [.blocked], "one that waits for a key that nobody has")
      let first = try await trial.add(JobTerms(maxAttempts: 1, key: "k7"))
      let second = try await trial.add(JobTerms(key: "k7"))
      let late = try await trial.add(after: [JobEdge(.key("k7"), slot: 0)])
      try await trial.end(try await trial.start(first), .failed(message: "f"), as: .failed)
      try same(
        try await trial.states([early, late]), [.skipped, .blocked], "who waited for the first, and for the second")
      try await trial.end(try await trial.start(second), .succeeded(output: Data([2])), as: .succeeded)
      try same(try await trial.start(late).inputs, [0: .succeeded(output: Data([2]))], "what the second brought")
      let after = try await trial.add(after: [JobEdge(.key("k7"))])
      try same(try await trial.states([after]), [.ready], "one that waits for a key whose newest has succeeded")
    },
    Case("A circle by keys is refused where it closes, also within one call, and nothing is stored") { subject in
      let trial = try await Trial(subject)
      func job(key: String? = nil, after edges: [JobEdge]) -> NewJob {
        NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(key: key), edges: edges)
      }
      let waiting = try await trial.add([job(key: "a", after: [JobEdge(.key("b"))])])[0]
      let circles = [
        [job(key: "b", after: [.job(waiting)])],
        [job(key: "c", after: [JobEdge(.key("d"))]), job(key: "d", after: [JobEdge(.sibling(0))])],
        [
          job(after: [JobEdge(.key("x"))]), job(key: "x", after: [JobEdge(.key("y"))]),
          job(key: "y", after: [JobEdge(.sibling(0))]),
        ],
      ]
      for circle in circles {
        try await refused(.invalidArgument, "a circle of \(circle.count + 1) or fewer") {
          _ = try await trial.add(circle)
        }
      }
      try same(try await trial.ids(), [waiting], "all jobs")
      try await trial.add(JobTerms(priority: .high, key: "b"))
      try same(try await trial.store.counts(where: .all), JobCounts([.ready: 1, .blocked: 1]), "the counts")
    },
    Case("A thousand jobs that wait for one are let go, skipped and opened again at once") { subject in
      let trial = try await Trial(subject)
      let root = try await trial.add(.attempts(1))
      let children = try await trial.add((0..<1000).map { _ in .plain(after: [.job(root)]) })
      try await trial.end(try await trial.start(root), .failed(message: "f"), as: .failed)
      try same(try await trial.store.counts(where: .all), JobCounts([.failed: 1, .skipped: 1000]), "the counts")
      try await trial.change(.retry, root)
      try same(try await trial.store.counts(where: .all), JobCounts([.ready: 1, .blocked: 1000]), "the counts")
      try await trial.end(try await trial.start(root), .succeeded(output: nil), as: .succeeded)
      try same(try await trial.take(1000).map(\.token.job), children, "those that run then")
    },
  ]

  static let laneCases: [Case] = [
    Case("Jobs of a lane run one at a time, in their order, whatever their priority; other lanes go on") { subject in
      let trial = try await Trial(subject)
      let first = try await trial.add(JobTerms(lane: "a"))
      let second = try await trial.add(JobTerms(priority: .high, lane: "a"))
      let other = try await trial.add(JobTerms(lane: "b"))
      try same(try await trial.states([first, second, other]), [.ready, .blocked, .ready], "two lanes")
      let claimed = try await trial.take(2)
      try same(claimed.map(\.token.job), [first, other], "those that run")
      try await trial.end(claimed[0], .succeeded(output: nil), as: .succeeded)
      try await trial.end(try await trial.start(second), .succeeded(output: nil), as: .succeeded)
    },
    Case("A lane's first job keeps its place over retries, snoozes and suspensions") { subject in
      let trial = try await Trial(subject)
      let (first, second) = (try await trial.add(JobTerms(lane: "a")), try await trial.add(JobTerms(lane: "a")))
      try await trial.end(try await trial.start(first), .retry(.after(.seconds(5)), message: "r"), as: .scheduled)
      try same(try await trial.states([second]), [.blocked], "the second during a back-off")
      trial.clock.advance(by: .seconds(5))
      try await trial.end(try await trial.start(first), .suspended(reason: "s"), as: .suspended)
      try same(try await trial.states([second]), [.blocked], "the second during a suspension")
      try await trial.change(.cancel(reason: nil), first)
      try await trial.start(second)
    },
    Case("A failed first job holds its lane until it is retried or removed, unless it lets the next run") { subject in
      for failedHead in [JobLane.FailedHead.holds, .letsNextRun] {
        let trial = try await Trial(subject)
        let terms = JobTerms(maxAttempts: 1, lane: JobLane("a", failedHead: failedHead))
        let ids = try await trial.add(3, terms)
        try await trial.end(try await trial.start(ids[0]), .failed(message: "f"), as: .failed)
        guard failedHead == .holds else {
          try same(try await trial.states(ids), [.failed, .ready, .blocked], "a lane that goes on")
          try await trial.change(.retry, ids[0])
          try same(try await trial.states(ids), [.blocked, .ready, .blocked], "after a retry of what lost its place")
          continue
        }
        try same(try await trial.states(ids), [.failed, .blocked, .blocked], "a lane that is held")
        try await trial.change(.retry, ids[0])
        try await trial.end(try await trial.start(ids[0]), .failed(message: "f"), as: .failed)
        try await trial.change(.remove, ids[0])
        try same(try await trial.states(Array(ids[1...])), [.ready, .blocked], "after its removal")
      }
    },
    Case("So many jobs of a lane run at once as it is wide") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(5, JobTerms(lane: "a"))
      try await trial.store.configure([.lane("a", width: 3)])
      try same(try await trial.states(ids), [.ready, .ready, .ready, .blocked, .blocked], "a lane of three")
      try same(try await trial.store.settings(), [.lane("a", width: 3)], "the settings")
      try await trial.store.configure([.lane("a", width: 1)])
      let claimed = try await trial.take(3)
      for job in claimed[..<2] { try await trial.end(job, .succeeded(output: nil), as: .succeeded) }
      try same(try await trial.states([ids[3]]), [.blocked], "the next in a lane that was made narrow")
      try await trial.end(claimed[2], .succeeded(output: nil), as: .succeeded)
      try same(try await trial.states([ids[3], ids[4]]), [.ready, .blocked], "the next two")
      try await refused(.invalidArgument, "a lane of no width") {
        try await trial.store.configure([.lane("a", width: 0)])
      }
    },
    Case("Who waits for one of its lane that lives again lets that go first") { subject in
      for isRunning in [false, true] {
        let trial = try await Trial(subject)
        let lane = JobLane("a", failedHead: .letsNextRun)
        let first = try await trial.add(JobTerms(maxAttempts: 1, lane: lane))
        let second = try await trial.add([
          NewJob(
            queue: "q", kind: "k", payload: Data(), terms: JobTerms(lane: lane), edges: [JobEdge(.job(first), .ended)])
        ])[0]
        try await trial.end(try await trial.start(first), .failed(message: "f"), as: .failed)
        let running = isRunning ? try await trial.start(second) : nil
        try await trial.change(.retry, first)
        if let running { try await trial.end(running, .interrupted, as: .blocked) }
        try same(try await trial.states([first, second]), [.ready, .blocked], "the two of the lane")
        try await trial.end(try await trial.start(first), .succeeded(output: nil), as: .succeeded)
        try await trial.start(second)
      }
    },
    Case("Who waits for a job and for its lane waits for both") { subject in
      let trial = try await Trial(subject)
      let parent = try await trial.add()
      let ids = try await trial.add([
        NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(lane: "a")),
        NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(lane: "a"), edges: [.job(parent)]),
      ])
      let claimed = try await trial.take(2)
      try await trial.end(claimed[0], .succeeded(output: nil), as: .succeeded)
      try same(try await trial.states([ids[1]]), [.blocked], "one that waits for its lane still")
      try await trial.end(claimed[1], .succeeded(output: nil), as: .succeeded)
      try await trial.start(ids[1])
    },
  ]
}

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
    Case("A follow-up is claimed in the call that stores it") { subject in
      let trial = try await Trial(subject)
      let job = try await trial.addAndStart()
      let settlement = ClaimSettlement(token: job.token, result: .succeeded(output: nil), followUps: [.plain()])
      let batch = try await trial.store.settle([settlement], thenClaim: trial.request())
      try same(try present(batch.claimed, "a claim").jobs.count, 1, "jobs claimed")
    },
  ]
}

extension JobEdge {
  fileprivate static func job(_ id: JobID, slot: Int? = nil) -> JobEdge { JobEdge(.job(id), slot: slot) }
}

extension NewJob {
  fileprivate static func plain(after edges: [JobEdge] = []) -> NewJob {
    NewJob(queue: "q", kind: "k", payload: Data(), edges: edges)
  }
}

extension Sequence {
  fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
    var all: [T] = []
    for element in self { all.append(try await body(element)) }
    return all
  }
}

extension Trial {
  fileprivate func add(after edges: [JobEdge]) async throws -> JobID { try await add([.plain(after: edges)])[0] }

  fileprivate func states(_ ids: [JobID]) async throws -> [JobState] {
    try await ids.asyncMap { try await job($0).state }
  }

  /// By a worker, or by a person.
  fileprivate func bring(_ id: JobID, to end: JobState) async throws {
    switch end {
    case .succeeded: try await self.end(try await start(id), .succeeded(output: nil), as: .succeeded)
    case .failed: try await self.end(try await start(id), .failed(message: "f"), as: .failed)
    default: try await change(.cancel(reason: nil), id)
    }
  }
}
