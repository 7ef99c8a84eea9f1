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
    Case("C20 A skipped job says whose end skipped it, and so do all that need it") { subject in
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
    Case("C20 A retry takes all along that were skipped because of it, and each waits again for what it waited for") {
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
      try await trial.end(try await trial.start(second), .succeeded(output: nil), as: .succeeded)
      try await trial.change(.remove, root)
      let other = try present(try await trial.report(.retry, child).refused.first, "a refusal").message
      try holds(!other.contains("retry"), "'\(other)' names no retry, as there is no job that could have one")
    },
    Case("C21 Jobs of one insertion wait for those before them, and for none after or unknown: then nothing is stored")
    {
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
      let words = try await refusal(.notFound, "a job that waits for one that there is not") {
        _ = try await trial.add([.plain(), .plain(after: [.job(JobID(rawValue: 999))])])
      }
      try holds(words.contains("999"), "'\(words)' names job 999")
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
    Case("A job that comes back to a need that was broken while it ran is skipped") { subject in
      let trial = try await Trial(subject)
      let root = try await trial.add(.attempts(1))
      let child = try await trial.add(after: [JobEdge(.job(root), .failed)])
      try await trial.end(try await trial.start(root), .failed(message: "f"), as: .failed)
      let running = try await trial.start(child)
      try await trial.change(.retry, root)
      try await trial.end(try await trial.start(root), .succeeded(output: nil), as: .succeeded)
      try await trial.end(running, .interrupted, as: .skipped)
    },
    Case("C21 A job that is needed is neither removed nor deleted by time, and a removal frees nobody") { subject in
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
    Case("A job that is retried brings its key to those that came meanwhile to wait for it") { subject in
      let trial = try await Trial(subject)
      let (root, blocker) = (try await trial.add(JobTerms(key: "one")), try await trial.add())
      let waiting = try await trial.add("two", after: [.job(blocker)])
      for id in [root, waiting] { try await trial.change(.cancel(reason: nil), id) }
      let late = try await ["one", "two"].asyncMap { try await trial.add(after: [JobEdge(.key($0))]) }
      for id in [root, waiting] { try await trial.change(.retry, id) }
      try same(
        try await trial.states([root, waiting] + late), [.ready, .blocked, .blocked, .blocked], "after the retries")
      try await trial.end(try await trial.start(root), .succeeded(output: nil), as: .succeeded)
      try same(try await trial.states(late), [.ready, .blocked], "those that waited, after the success of the first")
      try await trial.end(try await trial.start(blocker), .succeeded(output: nil), as: .succeeded)
      try await trial.end(try await trial.start(waiting), .succeeded(output: nil), as: .succeeded)
      try same(try await trial.states(late), [.ready, .ready], "those that waited, after the success of both")
    },
    Case("One that is retried does not wait for those that wait for its key") { subject in
      let trial = try await Trial(subject)
      let first = try await trial.add("one", after: [JobEdge(.key("two"))])
      try await trial.change(.cancel(reason: nil), first)
      let second = try await trial.add("two", after: [JobEdge(.key("one"))])
      try await trial.change(.retry, first)
      let third = try await trial.add(JobTerms(key: "one"))
      for id in [third, second, first] {
        try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded)
      }
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
    Case("One that waits for a job by its id and by its key is bound to it once that lives again") { subject in
      let trial = try await Trial(subject)
      let parent = try await trial.add(JobTerms(key: "k"))
      try await trial.change(.cancel(reason: nil), parent)
      let after = try await trial.add()
      let child = try await trial.add(after: [JobEdge(.job(parent), .ended), JobEdge(.key("k"), .ended), .job(after)])
      try await trial.change(.retry, parent)
      try same(try await trial.states([parent, after, child]), [.ready, .ready, .blocked], "after the retry")
      for id in [parent, after] {
        try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded)
      }
      try await trial.start(child)
    },
    Case(
      "A suspended job whose need breaks is skipped once it is resumed, and stays suspended if that is met after all"
    ) {
      subject in
      let trial = try await Trial(subject)
      let root = try await trial.add(.attempts(1))
      let (kept, resumed) = (try await trial.add(after: [.job(root)]), try await trial.add(after: [.job(root)]))
      for id in [kept, resumed] { try await trial.change(.suspend(reason: "not yet"), id) }
      try await trial.end(try await trial.start(root), .failed(message: "f"), as: .failed)
      try same(try await trial.states([kept, resumed]), [.suspended, .suspended], "after the failure")
      try await trial.change(.resume, resumed)
      try same(try await trial.job(resumed).cause, root, "what skips the one that is resumed")
      try await trial.change(.retry, root)
      try same(try await trial.states([kept, resumed]), [.suspended, .blocked], "after the retry")
      try await trial.end(try await trial.start(root), .succeeded(output: nil), as: .succeeded)
      try same(try await trial.job(kept).reason, "not yet", "why it is still suspended")
      try same(try await trial.take(1).map(\.token.job), [resumed], "the one that runs")
      try await trial.change(.resume, kept)
      try await trial.start(kept)
    },
    Case("One that was suspended while it ran is skipped once it is resumed, if its need broke meanwhile") { subject in
      let trial = try await Trial(subject)
      let parent = try await trial.add()
      let child = try await trial.add(after: [.job(parent)])
      try await trial.end(try await trial.start(parent), .succeeded(output: nil), as: .succeeded)
      let running = try await trial.start(child)
      try await trial.change(.suspend(reason: nil), child)
      try await trial.settle(running, .interrupted)
      try same(try await trial.job(child).state, .suspended, "the state of the child")
      try await trial.change(.resume, child)
      try await trial.start(child)
    },
    Case("One that is resumed by the call that reopens what it needs waits for that, and others for it") { subject in
      let trial = try await Trial(subject)
      let root = try await trial.add(.attempts(1))
      let middle = try await trial.add(after: [.job(root)])
      let held = try await trial.add(after: [.job(middle)])
      let last = try await trial.add(after: [.job(held)])
      try await trial.change(.suspend(reason: nil), held)
      try await trial.end(try await trial.start(root), .failed(message: "f"), as: .failed)
      try same(try await trial.states([middle, held, last]), [.skipped, .suspended, .blocked], "after the failure")
      _ = try await trial.store.change(.retry, where: .ids([root, held]), after: nil, limit: 10)
      let all = [root, middle, held, last]
      try same(try await trial.states(all), [.ready, .blocked, .blocked, .blocked], "after the retry")
      for id in all { try await trial.end(try await trial.start(id), .succeeded(output: nil), as: .succeeded) }
    },
    Case("One that waits for two ends waits for the one that is reopened as the other is skipped") { subject in
      let trial = try await Trial(subject)
      let (root, other) = (try await trial.add(.attempts(1)), try await trial.add(.attempts(1)))
      let held = try await trial.add(after: [.job(other)])
      let last = try await trial.add(after: [JobEdge(.job(held), .ended), JobEdge(.job(root), .ended)])
      try await trial.change(.suspend(reason: nil), held)
      for id in [root, other] {
        try await trial.end(try await trial.start(id), .failed(message: "f"), as: .failed)
      }
      _ = try await trial.store.change(.retry, where: .ids([root, held]), after: nil, limit: 10)
      try same(try await trial.states([root, held, last]), [.ready, .skipped, .blocked], "after the retry")
      try await trial.end(try await trial.start(root), .succeeded(output: nil), as: .succeeded)
      try await trial.start(last)
    },
    Case("A retry of several takes along what they need of each other, in any order of their ids") { subject in
      let trial = try await Trial(subject)
      let first = try await trial.add(JobTerms(maxAttempts: 1))
      let middle = try await trial.add(after: [.job(first)])
      let last = try await trial.add(after: [.job(middle)])
      try await trial.change(.cancel(reason: nil), last)
      try await trial.end(try await trial.start(first), .failed(message: "f"), as: .failed)
      let waits = try await trial.add(after: [JobEdge(.key("k"))])
      try await trial.change(.cancel(reason: nil), waits)
      let report = try await trial.store.change(
        .retry, where: .ids([first, middle, last]), after: nil, limit: 10)
      try same(report.changed, [first, middle, last], "those that are retried")
      try same(report.refused, [], "those that are not")
      try same(try await trial.states([first, middle, last]), [.ready, .blocked, .blocked], "their states")

      // The parent has the higher id.
      let early = try await trial.add(after: [JobEdge(.key("late"))])
      let late = try await trial.add(JobTerms(key: "late"))
      for id in [early, late] { try await trial.change(.cancel(reason: nil), id) }
      let both = try await trial.store.change(.retry, where: .ids([early, late]), after: nil, limit: 10)
      try same(both.changed, [early, late], "those that are retried")
      try same(try await trial.states([early, late]), [.blocked, .ready], "their states")
    },
    Case("A retry in bites takes all that one alone would take") { subject in
      let trial = try await Trial(subject)
      var ids = [try await trial.add()]
      for _ in 0..<4 { ids.append(try await trial.add(after: [.job(ids.last!)])) }
      for id in ids.reversed() { try await trial.change(.cancel(reason: nil), id) }
      let early = try await trial.add(after: [JobEdge(.key("late"))])
      let late = try await trial.add(JobTerms(key: "late"))
      for id in [early, late] { try await trial.change(.cancel(reason: nil), id) }
      let retried = try await trial.store.changeAll(.retry, where: .state(.cancelled), bite: 1)
      try same(retried.sorted(), ids + [early, late], "those that are retried")
    },
    Case("C20 One that was skipped for two reasons names the other once the first is gone, and so does what needs it") {
      subject in
      let trial = try await Trial(subject)
      let first = try await trial.add(.attempts(1))
      let second = try await trial.add(.attempts(1))
      let child = try await trial.add(after: [.job(first), .job(second)])
      let grandchild = try await trial.add(after: [.job(child)])
      for id in [first, second] {
        try await trial.end(try await trial.start(id), .failed(message: "f"), as: .failed)
      }
      try same(try await trial.job(grandchild).cause, first, "what skipped them")
      let skippedAt = try await trial.job(child).finishedAt
      trial.clock.advance(by: .seconds(1))
      try await trial.change(.retry, first)
      for id in [child, grandchild] {
        let job = try await trial.job(id)
        try same(job.state, .skipped, "the state of job \(id)")
        try same(job.cause, second, "what skips job \(id) now")
        try same(job.reason, "job \(second) (k) failed", "why job \(id) is skipped")
      }
      try same(try await trial.job(child).finishedAt, skippedAt, "since when it is skipped")
      try await trial.change(.retry, second)
      try same(try await trial.states([child, grandchild]), [.blocked, .blocked], "after both retries")
    },
    Case("C20 One that is skipped because of a cancelled job has not failed, though another failed before") { subject in
      let trial = try await Trial(subject)
      let root = try await trial.add(.attempts(1))
      let cancelled = try await trial.add(.start(.after(.seconds(60))))
      let child = try await trial.add(after: [.job(root), .job(cancelled)])
      try await trial.end(try await trial.start(root), .failed(message: "f"), as: .failed)
      try await trial.change(.cancel(reason: nil), cancelled)
      let waiting = try await trial.add(after: [JobEdge(.job(child), .failed), .job(try await trial.add())])
      try await trial.change(.retry, root)
      try same(try await trial.job(waiting).state, .skipped, "the state of one that waits for a failure")
      let late = try await trial.add(after: [JobEdge(.job(child), .failed)])
      try same(try await trial.job(late).state, .skipped, "the state of one that is added then")
      try await trial.change(.retry, cancelled)
      try same(
        try await trial.states([child, waiting, late]), [.blocked, .blocked, .blocked], "after that is retried, too")
    },
    Case("A chain that is removed in bites goes whole, whatever a bite may not remove yet") { subject in
      let trial = try await Trial(subject)
      var ids = [try await trial.add()]
      for _ in 0..<6 { ids.append(try await trial.add(after: [.job(ids.last!)])) }
      let other = try await trial.add()
      let removed = try await trial.store.changeAll(.remove, where: .ids(ids), bite: 2)
      try same(removed.sorted(), ids, "those that were removed")
      try same(try await trial.ids(), [other], "those that are left")
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
}

extension Trial {
  fileprivate func add(_ key: String, after edges: [JobEdge]) async throws -> JobID {
    try await add([NewJob(queue: "q", kind: "k", payload: Data("{}".utf8), terms: JobTerms(key: key), edges: edges)])[0]
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
