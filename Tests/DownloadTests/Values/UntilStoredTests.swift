#if HTTP
  import DurableJobs
  import Testing

  @testable import DurableJobsHTTP

  private struct Errand: JobPayload { static let kind = "errand" }

  /// Whether the store tells of a commit, in this very task.
  private enum Telling {
    @TaskLocal static var isOn = false
  }

  @Suite struct UntilStoredTests {
    /// Notes what happens to it, and whether the store waits for that.
    private final class Thing: Sendable {
      let notes: Lock<[String]>

      init(_ notes: Lock<[String]>) { self.notes = notes }
      deinit { note("closed") }
      func note(_ what: String) { notes.withLock { $0.append(Telling.isOn ? "\(what) while it tells" : what) } }
    }

    private let notes = Lock<[String]>([])
    private let things = UntilStored<Thing> { if $1 == .succeeded { $0.note("removed") } }

    private let first = ClaimToken(job: JobID(rawValue: 1), claim: 1)

    private func tell(_ state: JobState) {
      let change = JobTransition(id: JobID(rawValue: 1), queue: "default", kind: "a", state: state)
      Telling.$isOn.withValue(true) { things.hear(.committed([change])) }
    }

    @Test(arguments: [(JobState.succeeded, ["removed", "closed"]), (.failed, ["closed"]), (.running, [])])
    func `the store does not wait for what goes once an end is stored`(state: JobState, left: [String]) async {
      things.add(Thing(notes), of: first)
      tell(state)
      await things.settle()
      #expect(notes.withLock { $0 } == left)
    }

    @Test func `what goes is gone when it is waited for, also by a task that is cancelled`() async {
      things.add(Thing(notes), of: first)
      tell(.succeeded)
      let waiting = Task { [things, notes] in
        await things.settle()
        return notes.withLock { $0 }
      }
      waiting.cancel()
      #expect(await waiting.value == ["removed", "closed"])
    }

    @Test func `the loss of a claim lets go what that attempt has added, and nothing of the job's next one`() async {
      var next = first
      next.claim = 2
      things.add(Thing(notes), of: next)
      things.lose(first, .running)
      await things.settle()
      #expect(notes.value == [])
      things.lose(next, .running)
      await things.settle()
      #expect(notes.value == ["closed"])
    }

    @Test func `what waits for a result is let go where that is refused, or dropped as the claim is known to be lost`()
      async throws
    {
      let queue = JobQueue(store: InMemoryStore())
      let worker = JobWorker(queue)
      things.keep(worker)
      worker.register(Errand.self) { [things, notes] _, context in
        try await queue.complete(context.id)
        things.add(Thing(notes), of: context.token)
      }
      try await queue.enqueue(Errand())
      try await worker.runUntilIdle()
      await things.settle()
      // The store is asked, unless a renewal has told of the loss before.
      #expect([["removed", "closed"], ["closed"]].contains(notes.withLock { $0 }))
    }
  }
#endif
