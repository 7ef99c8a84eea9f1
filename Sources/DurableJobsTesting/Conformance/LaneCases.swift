import DurableJobs
import Foundation

extension StoreConformance {
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
    Case("C41 A lane's first job keeps its place over retries, snoozes and suspensions") { subject in
      let trial = try await Trial(subject)
      let (first, second) = (try await trial.add(JobTerms(lane: "a")), try await trial.add(JobTerms(lane: "a")))
      try await trial.end(try await trial.start(first), .retry(.after(.seconds(5)), message: "r"), as: .scheduled)
      try same(try await trial.states([second]), [.blocked], "the second during a back-off")
      for other in [try await trial.add(JobTerms(lane: "b")), try await trial.add()] {
        try await trial.end(try await trial.start(other), .succeeded(output: nil), as: .succeeded)
      }
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
    Case("Jobs of a lane that are removed together give it to the first that stays") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(4, JobTerms(maxAttempts: 1, lane: "a"))
      try await trial.end(try await trial.start(ids[0]), .failed(message: "f"), as: .failed)
      let report = try await trial.store.change(.remove, where: .ids(ids[..<2]), after: nil, limit: 9)
      try same(report.changed, Array(ids[..<2]), "the removed")
      try same(try await trial.states(Array(ids[2...])), [.ready, .blocked], "those that stay")
      try same(try await trial.store.counts(where: .all)[.blocked], 1, "how many wait")
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
    Case("A failed first job gives its place to what was to run after what was skipped because of it") { subject in
      // Stored before the failure, after it, or skipped meanwhile and opened again.
      for when in ["before", "after", "again"] {
        let trial = try await Trial(subject)
        let first = try await trial.add(JobTerms(maxAttempts: 1, lane: "a"))
        let links = try await trial.chain(2, after: first)
        func add() async throws -> JobID {
          try await trial.add([
            .plain(after: [JobEdge(.job(links[1]), .failed)], terms: JobTerms(lane: "a"))
          ])[0]
        }
        let early = when == "after" ? nil : try await add()
        if when == "again" {
          try await trial.change(.cancel(reason: nil), first)
          try same(try await trial.states(links + [early!]), [.skipped, .skipped, .skipped], "after a cancellation")
          try await trial.change(.retry, first)
        }
        try await trial.end(try await trial.start(first), .failed(message: "f"), as: .failed)
        let last = if let early { early } else { try await add() }
        let next = try await trial.add(JobTerms(lane: "a"))
        try same(
          try await trial.states(links + [last, next]), [.skipped, .skipped, .ready, .blocked], "stored \(when)")
        try await trial.end(try await trial.start(last), .succeeded(output: nil), as: .succeeded)
        try await trial.start(next)
      }
    },
    Case("A catch that is stored with the link that it catches gets the place of the failed first job, too") {
      subject in
      let trial = try await Trial(subject)
      let first = try await trial.add(JobTerms(maxAttempts: 1, lane: "a"))
      try await trial.end(try await trial.start(first), .failed(message: "f"), as: .failed)
      let ids = try await trial.add([
        .plain(after: [.job(first)]),
        .plain(after: [JobEdge(.sibling(0), .failed)], terms: JobTerms(lane: "a")),
      ])
      try same(try await trial.states(ids), [.skipped, .ready], "the link and its catch")
    },
    Case("Who waits for another of its lane, too, takes no failed job's place before that has ended") { subject in
      // Stored before the failure, or after it.
      for isEarly in [true, false] {
        let trial = try await Trial(subject)
        let (first, second) = (try await trial.add(JobTerms(lane: "a")), try await trial.add(JobTerms(lane: "a")))
        let (other, both) = (try await trial.add(), [JobEdge(.job(first), .ended), JobEdge(.job(second), .ended)])
        let jobs = [
          NewJob.plain(after: both, terms: JobTerms(lane: "a")),
          .plain(after: [JobEdge(.job(first), .failed), .job(other)], terms: JobTerms(lane: "a")),
        ]
        var ids = isEarly ? try await trial.add(jobs) : []
        try await trial.end(try await trial.start(first), .failed(message: "f"), as: .failed)
        if !isEarly { ids = try await trial.add(jobs) }
        let (last, handler) = (ids[0], ids[1])
        try same(try await trial.states([second, last, handler]), [.blocked, .blocked, .blocked], "those behind it")
        try same(try await trial.circle(last), [], "a circle")
        try await trial.end(try await trial.start(other), .succeeded(output: nil), as: .succeeded)
        for id in [handler, second, last] {
          try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded)
        }
      }
    },
    Case("Who waits for one of its lane that lives again by way of others, or by a key, lets that go first") {
      subject in
      for isByKey in [false, true] {
        let trial = try await Trial(subject)
        let first = try await trial.add(JobTerms(key: "k", lane: "a"))
        try await trial.change(.cancel(reason: nil), first)
        let between = try await trial.add(after: [isByKey ? JobEdge(.key("k")) : JobEdge(.job(first), .ended)])
        let last = try await trial.add([.plain(after: [.job(between)], terms: JobTerms(lane: "a"))])[0]
        try await trial.change(.retry, first)
        try same(try await trial.states([first, between, last]), [.ready, .blocked, .blocked], "after the retry")
        for id in [first, between, last] {
          try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded)
        }
      }
    },
    Case("One that would stand in a lane behind a job that waits for it is refused by name, also within one call") {
      subject in
      let trial = try await Trial(subject)
      func job(key: String? = nil, after edges: [JobEdge] = []) -> NewJob {
        .plain(after: edges, terms: JobTerms(key: key, lane: "a"))
      }
      let bringer = NewJob.plain(after: [JobEdge(.sibling(0))], terms: JobTerms(key: "b"))
      let waiting = try await trial.add([job(after: [JobEdge(.key("b"))])])[0]
      for (jobs, words) in [
        ([job(key: "b")], "in the lane 'a' behind job \(waiting), which waits for it by the key 'b'"),
        // What it needs is in the lane, and not itself.
        ([job(), bringer], "in the lane 'a' behind job \(waiting), which waits for it by the key 'b'"),
        (
          [job(after: [JobEdge(.key("c"))]), job(key: "c")],
          "in the lane 'a' behind another job of this call, which waits for it by the key 'c'"
        ),
        ([job(after: [JobEdge(.sibling(1))]), job()], "waits for the job at place 1 of its call"),
      ] {
        let said = try await refusal(.invalidArgument, "a job behind one that waits for it") {
          _ = try await trial.add(jobs)
        }
        try holds(said.contains(words), "'\(said)' says: \(words)")
        try same(try await trial.ids(), [waiting], "all jobs")
      }
      // What it needs is there before it, behind the one that waits for it.
      let behind = try await trial.add([job()])[0]
      let said = try await refusal(.invalidArgument, "a job that needs one behind what waits for it") {
        _ = try await trial.add([.plain(after: [.job(behind)], terms: JobTerms(key: "b"))])
      }
      let words = "job \(behind) would stand in the lane 'a' behind job \(waiting), which waits for it by the key 'b'"
      try holds(said.contains(words), "'\(said)' says: \(words)")
      try same(try await trial.ids(), [waiting, behind], "all jobs")
      try await trial.change(.remove, behind)
      // Where the lane has room for both, neither stands behind the other.
      try await trial.store.configure([.lane("a", width: 2)])
      let brought = try await trial.add([job(key: "b")])[0]
      for id in [brought, waiting] {
        try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded)
      }
    },
    Case("A job that succeeded keeps nobody out for the sake of what stands behind that in a lane") { subject in
      let trial = try await Trial(subject)
      let waiting = try await trial.add([.plain(after: [JobEdge(.key("b"))], terms: JobTerms(lane: "a"))])[0]
      let behind = try await trial.add(JobTerms(lane: "a"))
      let done = try await trial.add(after: [.job(behind)])
      try await trial.change(.complete(output: nil), done)
      let bringer = try await trial.add([.plain(after: [.job(done)], terms: JobTerms(key: "b"))])[0]
      for id in [bringer, waiting, behind] {
        try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded)
      }
    },
    Case("A job may stand in a wide lane behind some that wait for it, and not behind as many as the lane is wide") {
      subject in
      func job(key: String? = nil, lane: JobLane? = "a", after edges: [JobEdge] = []) -> NewJob {
        .plain(after: edges, terms: JobTerms(key: key, lane: lane))
      }
      // It brings the key itself, or what it needs waits in the lane.
      for isInLane in [true, false] {
        let trial = try await Trial(subject)
        try await trial.store.configure([.lane("a", width: 2)])
        let waiting = try await trial.add([job(after: [JobEdge(.key("b"))])])[0]
        var ids = try await trial.add(isInLane ? [job()] : [job(), job()])
        ids += try await trial.add([isInLane ? job(key: "b") : job(key: "b", lane: nil, after: [.job(ids[1])])])
        for id in ids + [waiting] {
          try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded)
        }
      }
      let trial = try await Trial(subject)
      try await trial.store.configure([.lane("a", width: 2)])
      let first = try await trial.add([job(after: [JobEdge(.key("b"))])])[0]
      _ = try await trial.add([job(after: [JobEdge(.key("b")), JobEdge(.key("c"))])])
      let said = try await refusal(.invalidArgument, "a job behind as many that wait for it as the lane is wide") {
        _ = try await trial.add([job(key: "b")])
      }
      try holds(said.contains("behind job \(first), which waits for it"), "'\(said)' names job \(first)")
      // One waits for it by its key, and the other by way of what comes with another key.
      let other = try await Trial(subject)
      try await other.store.configure([.lane("a", width: 2)])
      _ = try await other.add([job(after: [JobEdge(.key("b"))]), job(after: [JobEdge(.key("c"))])])
      let behind = try await other.add([job(key: "b")])[0]
      try await refused(.invalidArgument, "a job that needs one behind what waits for both") {
        _ = try await other.add([job(key: "c", lane: nil, after: [.job(behind)])])
      }
    },
    Case("C17 Cancelled and stored again in its lane while the first still runs: it waits for that one's end") {
      subject in
      let trial = try await Trial(subject)
      let first = try await trial.addAndStart(JobTerms(lane: "a"))
      try await trial.change(.cancel(reason: nil), first.token.job)
      let second = try await trial.add(JobTerms(lane: "a"))
      try same(try await trial.claim(by: "v", ["q": 9]).count, 0, "jobs for another worker")
      try await trial.end(first, .interrupted, as: .cancelled)
      try await trial.start(second, by: "v")
    },
    Case("C17 However many enqueue, claim, cancel and settle at once, no two jobs of a lane run at once") { subject in
      let trial = try await Trial(subject)
      try await trial.expectOneAtOnce { try await trial.add(JobTerms(lane: "a")) }
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

extension Trial {
  /// So many of the lane `a`, each after the one before.
  fileprivate func chain(_ count: Int, after first: JobID) async throws -> [JobID] {
    var ids = [first]
    for _ in 0..<count { ids += try await add([.plain(after: [.job(ids.last!)], terms: JobTerms(lane: "a"))]) }
    return Array(ids.dropFirst())
  }
}
