import DurableJobs
import Foundation

extension Trial {
  fileprivate func addBatch(_ count: Int, whenDone: NewJob? = .plain(), terms: JobTerms = JobTerms()) async throws
    -> (id: BatchID, jobs: [JobID])
  {
    let jobs = (0..<count).map { _ in NewJob(queue: "q", kind: "k", payload: Data(), terms: terms) }
    let reply = try await store.insert(JobInsertion(jobs, batch: .new(name: "b", whenDone: whenDone)))
    return (try present(reply.batch, "a batch"), reply.ids)
  }

  fileprivate func openBatch(whenDone: NewJob?) async throws -> BatchID {
    try present(try await store.insert(JobInsertion([], batch: .open(name: "o", whenDone: whenDone))).batch, "a batch")
  }

  fileprivate func batch(_ id: BatchID) async throws -> BatchSnapshot {
    try present(try await store.batches(.id(id)).first, "the batch \(id)")
  }
}

extension StoreConformance {
  static let batchCases: [Case] = [
    Case("A batch counts its jobs, and the job that follows it is stored once, when the last of them ends") { subject in
      let trial = try await Trial(subject)
      let follower = NewJob(
        queue: "q", kind: "done", payload: Data("p".utf8), terms: JobTerms(priority: .high, key: "d"))
      let (id, jobs) = try await trial.addBatch(3, whenDone: follower)
      let other = try await trial.add()
      try same(
        try await trial.batch(id),
        BatchSnapshot(id: id, name: "b", total: 3, unfinished: 3, succeeded: 0, isDone: false), "a new batch")
      try same(try await trial.ids(.batch(id)), jobs, "its jobs")
      try same(try await trial.job(jobs[0]).batch, id, "the batch of one of them")
      let claimed = try await trial.take(4)
      try await trial.end(claimed[0], .succeeded(output: nil), as: .succeeded)
      try await trial.end(claimed[1], .failed(message: "f"), as: .failed)
      try await trial.end(claimed[3], .succeeded(output: nil), as: .succeeded)
      try same(try await trial.ids(.kind("done")), [], "its follower, before it is done")
      try await trial.end(claimed[2], .retry(.now, message: "r"), as: .ready)
      try await trial.change(.cancel(reason: nil), jobs[2])
      let next = try await trial.ids(.kind("done"))
      try same(next.count, 1, "its followers")
      let stored = try await trial.job(next[0])
      try same(
        [stored.key, "\(stored.priority.rawValue)", "\(stored.batch == nil)"], ["d", "10", "true"], "what it is")
      try same(stored.payload, Data("p".utf8), "its payload")
      try same(
        try await trial.batch(id),
        BatchSnapshot(id: id, name: "b", total: 3, unfinished: 0, succeeded: 1, isDone: true, whenDone: next[0]),
        "the batch, done")
      try await trial.change(.retry, jobs[1])
      try same(try await trial.batch(id).unfinished, 1, "unfinished jobs after a retry")
      try await trial.change(.complete(output: nil), jobs[1])
      try same(try await trial.batch(id).succeeded, 2, "those that succeeded by then")
      try same(try await trial.ids(.kind("done")), next, "its followers, after that")
      try same(try await trial.job(other).batch, nil, "the batch of another job")
    },
    Case("Who claims a job of a batch, or the one that follows it, is told which batch") { subject in
      let trial = try await Trial(subject)
      let follower = NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(tags: ["t"]))
      let (first, jobs) = try await trial.addBatch(1, whenDone: follower)
      let claimed = try await trial.start(jobs[0])
      try same(claimed.batch, first, "the batch of one of its jobs")
      try await trial.end(claimed, .failed(message: "f"), as: .failed)
      let next = try present(try await trial.batch(first).whenDone, "what follows")
      let followed = try await trial.start(next)
      try same(followed.batch, first, "the batch that it follows")
      try await trial.end(followed, .retry(.now, message: "r"), as: .ready)
      try same(try await trial.start(next).batch, first, "the batch that it follows, at its next attempt")
      try same(try await trial.job(next).batch, nil, "the batch that it is in")
      try same(try await trial.start(try await trial.add()).batch, nil, "the batch of another job")
    },
    Case("What follows a batch is stored, whoever has its unique key by then") { subject in
      let trial = try await Trial(subject)
      let follower = NewJob(
        queue: "q", kind: "k", payload: Data(), terms: JobTerms(unique: UniqueKey("u"), tags: ["follows"]))
      var followers: [JobID] = []
      for _ in 1...2 {
        let (id, jobs) = try await trial.addBatch(1, whenDone: follower)
        try await trial.change(.complete(output: nil), jobs[0])
        let next = try present(try await trial.batch(id).whenDone, "what follows")
        try same(try await trial.start(next).batch, id, "the batch that it follows")
        followers.append(next)
      }
      try same(try await trial.ids(.tag("follows")), followers, "its followers")
      let again = try await trial.store.insert(JobInsertion([follower]))
      try same(again.ids, [followers[0]], "who has the key")
    },
    Case("Jobs that end in one call end their batch once, and those that are skipped end with it") { subject in
      let trial = try await Trial(subject)
      let new = [NewJob.plain(), .plain(), .plain(after: [JobEdge(.sibling(0))])]
      let reply = try await trial.store.insert(JobInsertion(new, batch: .new(name: "b", whenDone: .plain())))
      let claimed = try await trial.take(2)
      let settlements = claimed.map { ClaimSettlement(token: $0.token, result: .failed(message: "f")) }
      _ = try await trial.store.settle(settlements, thenClaim: nil)
      let batch = try await trial.batch(try present(reply.batch, "a batch"))
      try same([batch.total, batch.unfinished, batch.succeeded], [3, 0, 0], "its numbers")
      try same(try await trial.ids(.state(.ready)).map { Optional($0) }, [batch.whenDone], "what follows")
    },
    Case("Jobs join a batch until it is done, and a batch of none is done at once") { subject in
      let trial = try await Trial(subject)
      let (id, jobs) = try await trial.addBatch(1)
      let join = JobInsertion([.plain()], batch: .join(id))
      let second = try await trial.store.insert(join)
      try same(second.batch, id, "the batch that it joined")
      try await trial.change(.cancel(reason: nil), jobs[0])
      try same(try await trial.batch(id).isDone, false, "done, with one left")
      try await trial.change(.cancel(reason: nil), second.ids[0])
      try same(try await trial.batch(id).isDone, true, "done")
      try await refused(.wrongState, "to join a batch that is done") { _ = try await trial.store.insert(join) }
      try await refused(.notFound, "to join a batch that there is not") {
        _ = try await trial.store.insert(JobInsertion([.plain()], batch: .join(BatchID(rawValue: 99))))
      }
      try same(try await trial.batch(try await trial.addBatch(0).id).isDone, true, "one of no jobs")
      try same(try await trial.store.batches(.name("b")).map(\.total), [0], "the newest of the name")
      try same(try await trial.store.batches(.name("c")).count, 0, "one of another name")
    },
    Case("A batch whose last jobs are removed is done, and what follows it can look at it") { subject in
      let trial = try await Trial(subject)
      let (id, jobs) = try await trial.addBatch(2)
      for job in jobs { try await trial.change(.remove, job) }
      let batch = try await trial.batch(id)
      try same([batch.unfinished, batch.succeeded], [0, 0], "its numbers")
      try same(batch.isDone, true, "done")
      try same(try await trial.ids(.state(.ready)).map { Optional($0) }, [batch.whenDone], "what follows")
    },
    Case("A batch that is open is not done before it is closed") { subject in
      let trial = try await Trial(subject)
      let reply = try await trial.store.insert(JobInsertion([], batch: .open(name: "o", whenDone: .plain())))
      let id = try present(reply.batch, "a batch")
      try same([try await trial.batch(id).isOpen, try await trial.batch(id).isDone], [true, false], "open, and done")
      let join = JobInsertion([.plain()], batch: .join(id))
      let first = try await trial.store.insert(join).ids[0]
      try await trial.change(.complete(output: nil), first)
      try same(try await trial.batch(id).isDone, false, "done, while it is open")
      try await trial.change(.remove, first)
      let second = try await trial.store.insert(join).ids[0]
      let third = try await trial.store.insert(JobInsertion([.plain()], batch: .close(id))).ids[0]
      try same(
        [try await trial.batch(id).isOpen, try await trial.batch(id).isDone], [false, false], "closed, and done")
      try await trial.change(.complete(output: nil), second)
      try await trial.change(.complete(output: nil), third)
      let done = try await trial.batch(id)
      try same([done.total, done.unfinished, done.succeeded], [3, 0, 3], "its numbers")
      try same(try await trial.ids(.state(.ready)).map { Optional($0) }, [done.whenDone], "what follows")
      let close = JobInsertion([], batch: .close(id))
      _ = try await trial.store.insert(close)
      try same(try await trial.batch(id), done, "closed again")
      try await refused(.wrongState, "to close it with more jobs") {
        _ = try await trial.store.insert(JobInsertion([.plain()], batch: .close(id)))
      }
      let empty = try await trial.store.insert(JobInsertion([], batch: .open(name: "e", whenDone: .plain())))
      _ = try await trial.store.insert(JobInsertion([], batch: .close(try present(empty.batch, "a batch"))))
      try same(try await trial.store.batches(.newest(5)).map(\.name), ["e", "o"], "all of them, the newest first")
      try same(try await trial.store.batches(.newest(1)).map(\.isDone), [true], "one that is closed without jobs")
    },
    Case("A job that stands for one of a batch is none of it, and a follower that waits is refused") { subject in
      let trial = try await Trial(subject)
      let kept = try await trial.add(JobTerms(unique: UniqueKey("u")))
      let (id, jobs) = try await trial.addBatch(1, terms: JobTerms(unique: UniqueKey("u")))
      try same(jobs, [kept], "who stands for it")
      try same([try await trial.batch(id).total, try await trial.ids(.batch(id)).count], [0, 0], "jobs of the batch")
      try await refused(.invalidArgument, "a follower that waits for a job") {
        _ = try await trial.addBatch(1, whenDone: .plain(after: [.job(kept)]))
      }
      try await refused(.invalidArgument, "a follower that might stand in a lane behind who waits for its key") {
        _ = try await trial.addBatch(1, whenDone: .plain(terms: JobTerms(key: "k", lane: "l")))
      }
    },
    Case("A batch keeps its numbers while jobs of it are deleted, and goes with the last") { subject in
      let trial = try await Trial(subject)
      let (id, jobs) = try await trial.addBatch(2, whenDone: nil)
      for job in try await trial.take(2) { try await trial.end(job, .succeeded(output: nil), as: .succeeded) }
      try await trial.change(.remove, jobs[0])
      let batch = try await trial.batch(id)
      try same([batch.total, batch.unfinished, batch.succeeded], [2, 0, 2], "its numbers")
      try await trial.change(.remove, jobs[1])
      try same(try await trial.store.batches(.id(id)).count, 0, "batches left")
    },
    Case("A batch that is done without jobs is told as done, and goes as what succeeded then") { subject in
      var policy = StorePolicy()
      (policy.retention, policy.failedRetention) = (.seconds(100), .seconds(1000))
      let trial = try await Trial(subject, policy: policy)
      let open = try await trial.openBatch(whenDone: nil)
      let never = try await trial.openBatch(whenDone: .plain())
      let left = try await trial.openBatch(whenDone: .plain())
      let joined = try await trial.store.insert(JobInsertion([.plain()], batch: .join(left))).ids[0]
      try await trial.change(.remove, joined)
      trial.clock.advance(by: .seconds(500))
      _ = try await trial.recover()
      try same(try await trial.batch(left).isDone, false, "done, as long as it is open")
      for id in [never, left] { _ = try await trial.store.insert(JobInsertion([], batch: .close(id))) }
      let none = try await trial.addBatch(0, whenDone: nil).id
      for id in [never, left, none] { try same(try await trial.batch(id).isDone, true, "done") }
      let following = try await trial.ids(.state(.ready)).map { Optional($0) }
      let told = [try await trial.batch(never).whenDone, try await trial.batch(left).whenDone]
      try same(following, told, "what follows")
      trial.clock.advance(by: .milliseconds(99_999))
      _ = try await trial.recover()
      try same(try await trial.store.batches(.newest(9)).map(\.id), [none, left, never, open], "before the time")
      trial.clock.advance(by: .milliseconds(1))
      try same(try await trial.recover().pruned, 0, "jobs deleted with them")
      try same(try await trial.store.batches(.newest(9)).map(\.id), [open], "batches after it")
      try same(try await trial.ids(.state(.ready)).map { Optional($0) }, following, "what follows, after it")
      _ = try await trial.store.insert(JobInsertion([], batch: .close(open)))
      let later = try await trial.addBatch(0, whenDone: nil).id
      trial.clock.advance(by: .seconds(100))
      _ = try await trial.recover(limit: 1)
      try same(try await trial.store.batches(.newest(9)).map(\.id), [later], "batches after a bite")
      _ = try await trial.recover(limit: 1)
      try same(try await trial.store.batches(.newest(9)).map(\.id), [], "batches after two")
    },
    Case("A list of fewer batches than one is refused") { subject in
      let trial = try await Trial(subject)
      for limit in [0, -1] {
        try await refused(.invalidArgument, "the newest \(limit)") {
          _ = try await trial.store.batches(.newest(limit))
        }
      }
    },
    Case("A crash, a lost report and its repetition count a job of a batch once") { subject in
      let trial = try await Trial(subject)
      let (id, jobs) = try await trial.addBatch(2)
      let first = try await trial.start(jobs[0])
      try await trial.loseWorkers()
      try same(try await trial.settle(first, .succeeded(output: nil)).isAccepted, false, "a report that comes too late")
      try same(try await trial.batch(id).unfinished, 2, "unfinished after a crash")
      let again = try await trial.start(jobs[0], by: "v")
      for _ in 1...2 { try same(try await trial.settle(again, .succeeded(output: nil)).isAccepted, true, "its report") }
      try same(try await trial.batch(id).succeeded, 1, "succeeded")
      try same(try await trial.batch(id).unfinished, 1, "unfinished")
    },
  ]
}
