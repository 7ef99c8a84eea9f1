import DurableJobs
import Foundation

extension StoreConformance {
  static let watchCases: [Case] = [
    Case("C66 Events tell what becomes of a job, in order, with progress, each once a query sees it") { subject in
      let trial = try await Trial(subject)
      let told = Lock<[(change: JobTransition, found: [JobState])]>([])
      // It asks at the event, which may come before its verb has returned. Ends by the cancel below.
      let reader = Task { [events = JobQueue("q", store: trial.store).events.makeAsyncIterator()] in
        var events = events
        while let event = await events.next() {
          guard var change = event.change else { continue }
          change.concernsClaim = false
          let found = try await trial.store.jobs(JobQuery(.id(change.id))).map(\.state)
          told.withLock { [change] in $0.append((change, found)) }
        }
      }
      defer { reader.cancel() }
      func expect(_ state: JobState, _ id: JobID, isRemoval: Bool = false, _ what: String) async throws {
        for _ in 0..<5000 where told.withLock(\.isEmpty) {
          _ = try await trial.store.settings()
          await Task.yield()
        }
        guard let (change, found) = told.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else {
          throw Difference("an event of \(what) does not come")
        }
        try same(
          change, JobTransition(id: id, queue: "q", kind: "k", state: state, isRemoved: isRemoval),
          "the event of \(what)")
        try same(found, isRemoval ? [] : [state], "the states that a query at the event of \(what) finds")
      }
      let id = try await trial.add()
      try await expect(.ready, id, "the insertion")
      let job = try await trial.start(id)
      try await expect(.running, id, "the claim")
      _ = try await trial.renew([job], progress: JobProgress(fraction: 0.5))
      try await expect(.running, id, "the progress")
      try await trial.end(job, .succeeded(output: nil), as: .succeeded)
      try await expect(.succeeded, id, "the settlement")
      try await trial.change(.remove, id)
      try await expect(.succeeded, id, isRemoval: true, "the deletion")
    },
    Case("C68 Who watches sees each commit: jobs, counts and how far a batch is") { subject in
      let trial = try await Trial(subject)
      let queue = JobQueue("q", store: trial.store)
      let new = NewJob(queue: "q", kind: "k", payload: Data())
      let reply = try await trial.store.insert(
        JobInsertion([new, new], batch: .new(name: "b", whenDone: nil)))
      guard let batch = reply.batch else { throw Difference("the store makes no batch") }
      var jobs = queue.snapshots().makeAsyncIterator()
      var counts = queue.countSnapshots(where: .kind("k")).makeAsyncIterator()
      var statuses = queue.batch(batch).statuses.makeAsyncIterator()
      func expect(_ states: [JobState], _ fraction: Double, _ what: String) async throws {
        try same(
          try await trial.soon("a page", &jobs) { try await $0.next() }?.map(\.state), states, "the jobs after \(what)")
        var expected = JobCounts()
        for state in states { expected[state] += 1 }
        try same(try await trial.soon("counts", &counts) { try await $0.next() }, expected, "the counts after \(what)")
        try same(
          try await trial.soon("a status", &statuses) { try await $0.next() }?.fraction, fraction,
          "the batch after \(what)")
        trial.clock.advance(by: .milliseconds(100))
      }
      try await expect([.ready, .ready], 0, "the insertion")
      let job = try await trial.start(reply.ids[0])
      _ = try await trial.renew([job], progress: JobProgress(fraction: 0.5))
      try await expect([.running, .ready], 0.25, "the progress")
      try await trial.end(job, .succeeded(output: nil), as: .succeeded)
      try await trial.change(.cancel(reason: nil), reply.ids[1])
      try await expect([.succeeded, .cancelled], 1, "the ends")
      try same(try await statuses.next()?.fraction, nil, "what follows the last status")
    },
  ]
}

extension JobEvent {
  /// Of a removal, only if it says so itself.
  fileprivate var change: JobTransition? {
    switch self {
    case .changed(let change) where !change.isRemoved: change
    case .removed(let change) where change.isRemoved: change
    default: nil
    }
  }
}

extension Trial {
  /// What the iterator gives within some turns: a store that tells nothing keeps nobody waiting.
  fileprivate func soon<Iterator: Sendable, Element: Sendable>(
    _ what: String, _ iterator: inout Iterator, _ next: @escaping @Sendable (inout Iterator) async throws -> Element?
  ) async throws -> Element? {
    let answer = Lock<Result<(Iterator, Element?), any Error>?>(nil)
    // It ends with its answer, or by the cancel below.
    let task = Task { [iterator] in
      var iterator = iterator
      let result: Result<(Iterator, Element?), any Error>
      do {
        let element = try await next(&iterator)
        result = .success((iterator, element))
      } catch { result = .failure(error) }
      answer.withLock { [result] in $0 = result }
    }
    for _ in 0..<5000 where answer.withLock({ $0 == nil }) {
      _ = try await store.settings()
      await Task.yield()
    }
    task.cancel()
    guard let answer = answer.withLock({ $0 }) else { throw Difference("\(what) does not come") }
    let element: Element?
    (iterator, element) = try answer.get()
    return element
  }
}
