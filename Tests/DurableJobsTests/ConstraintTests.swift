import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

private struct Busy: Error {}

/// Jobs that require conditions, and workers for which these come and go.
@Suite struct ConstraintTests {
  let clock = ManualClock()
  let store: InMemoryStore
  let queue: JobQueue

  init() {
    store = InMemoryStore(clock: clock)
    queue = JobQueue(store: store)
  }

  private func add(
    _ requires: Set<JobConstraint>, whenLost: JobConstraint.Loss? = nil, kind: String = "k"
  ) async throws -> JobID {
    try await queue.enqueue(
      kind: kind, payload: Data(), options: JobOptions(requires: requires, whenLost: whenLost))
  }

  /// Returns once the store has told of a job in this state.
  private func heard(_ state: JobState, of id: JobID, after body: () async throws -> Void) async throws {
    let gate = Gate()
    let subscription = store.signals.listen { signal in
      if case .committed(let changes) = signal, changes.contains(where: { $0.id == id && $0.state == state }) {
        gate.open()
      }
    }
    try await body()
    await gate.pass()
    withExtendedLifetime(subscription) {}
  }

  @Test func `what a job requires adds up over its kind, its payload and the call`() throws {
    struct Sync: JobPayload {
      static let kind = "sync"
      static let options = JobOptions(requires: [.network], whenLost: .interrupts)
      var options: JobOptions { JobOptions(requires: ["vpn"]) }
    }
    let terms = try queue.prepare(Sync(), options: JobOptions(requires: [.externalPower])).terms
    #expect(terms.requires == [.network, .externalPower, "vpn"])
    #expect(terms.whenLost == .interrupts)
    #expect(try queue.prepare(Sync(), options: JobOptions(whenLost: .goesOn)).terms.whenLost == .goesOn)
  }

  @Test func `C32 a job whose condition does not hold takes no slot, is not waited for, and is told as left`()
    async throws
  {
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    worker.provide(.network, ManualConstraint(false))
    worker.register(kind: "k") { _, _ in nil }
    let waiting = [try await add([.network]), try await add(["nobody's"])]
    let other = try await add([])
    let left = try await worker.runUntilIdle()
    #expect(left == JobCounts([.ready: 2, .succeeded: 1]))
    #expect(try await queue.job(other).state == .succeeded)
    #expect(try await queue.jobs(where: .state(.ready)).map(\.id) == waiting)
    #expect(try await !worker.runNext())
  }

  @Test func `C25 a job that is resumed twice, first offline and then online, runs once`() async throws {
    let (network, runs) = (ManualConstraint(false), Recorder<JobID>())
    let worker = JobWorker(queue)
    worker.provide(.network, network)
    worker.register(kind: "k") { _, context in
      runs.add(context.id)
      return nil
    }
    let id = try await add([.network])
    try await queue.suspend(id)
    try await queue.resume(id)
    try await worker.runUntilIdle()
    #expect(runs.all == [])
    network.isSatisfied = true
    let error = await #expect(throws: JobError.self) { try await queue.resume(id) }
    #expect(error?.code == .wrongState)
    try await worker.runUntilIdle()
    #expect(runs.all == [id])
  }

  @Test func `a worker that runs until it is idle waits for the first word of its monitors`() async throws {
    struct Late: ConstraintMonitor {
      let gate: Gate
      func changes() -> some AsyncSequence<Bool, Never> {
        AsyncStream {
          await gate.pass()
          return Task.isCancelled ? nil : true
        }
      }
    }
    let gates = [Gate(), Gate()]
    let id = try await add(["late"])
    let other = try await add(["never told"])
    for (gate, isNext) in zip(gates, [true, false]) {
      let worker = JobWorker(queue)
      worker.register(kind: "k") { _, _ in nil }
      worker.provide("late", Late(gate: gate))
      worker.provide("ended", AsyncStreamMonitor())
      // By then it has looked, and found nothing to do.
      let opening = Task { [clock] in
        await clock.timerScheduled(within: Defaults.sweepInterval)
        gate.open()
      }
      if isNext {
        #expect(try await worker.runNext())
      } else {
        try await worker.runUntilIdle()
      }
      await opening.value
    }
    #expect(try await queue.job(id).state == .succeeded)
    #expect(try await queue.job(other).state == .ready)
  }

  private struct AsyncStreamMonitor: ConstraintMonitor {
    func changes() -> some AsyncSequence<Bool, Never> { AsyncStream<Bool> { $0.finish() } }
  }

  @Test func `a condition that comes to hold starts what waits for it, while the worker runs`() async throws {
    let network = ManualConstraint(false)
    let worker = JobWorker(queue)
    worker.provide(.network, network)
    worker.register(kind: "k") { _, _ in nil }
    let id = try await add([.network])
    worker.start()
    await clock.timerScheduled(within: Defaults.sweepInterval)
    #expect(try await queue.job(id).state == .ready)
    network.isSatisfied = true
    #expect(try await store.whenFinished(id).state == .succeeded)

    let late = try await add(["late"])
    worker.provide("late", ManualConstraint(true))
    #expect(try await store.whenFinished(late).state == .succeeded)
    await worker.stop()
  }

  @Test func `C31 a back-off ends within a second of the return of what the job requires`() async throws {
    let network = ManualConstraint(true)
    let worker = JobWorker(queue)
    worker.provide(.network, network)
    worker.register(kind: "k", retry: .constant(.seconds(3600))) { _, context in
      if context.attempt == 1 { throw Busy() }
      return nil
    }
    let id = try await add([.network])
    try await heard(.scheduled, of: id) { worker.start() }
    let other = try await add([])
    try await heard(.scheduled, of: other) {}
    network.isSatisfied = false
    network.isSatisfied = true
    await clock.timerScheduled(within: .seconds(1))
    clock.advance(by: .seconds(1))
    #expect(try await store.whenFinished(id).attempt == 2)
    #expect(try await queue.job(other).state == .scheduled, "what does not require it waits on")
    await worker.stop()
  }

  @Test func `C33 a job that is to be interrupted is told why, goes back, and no attempt is used; others go on`()
    async throws
  {
    let network = ManualConstraint(true)
    let reasons = Recorder<StopReason?>()
    let mayEnd = Gate()
    let begun = Gate()
    let worker = JobWorker(queue)
    worker.provide(.network, network)
    worker.register(kind: "k") { _, context in
      begun.open()
      if reasons.all.isEmpty { await untilCancelled() }
      reasons.add(context.stopReason)
      try Task.checkCancellation()
      return nil
    }
    worker.register(kind: "goes on") { _, context in
      begun.open()
      await mayEnd.pass()
      reasons.add(context.stopReason)
      return nil
    }
    worker.start()
    let steady = try await add([.network], kind: "goes on")
    await begun.pass()
    let id = try await add([.network], whenLost: .interrupts)
    await begun.pass()
    try await heard(.ready, of: id) { network.isSatisfied = false }
    #expect(reasons.all == [.constraintLost])
    let job = try await queue.job(id)
    #expect((job.attempt, job.state, job.failures) == (0, .ready, []))
    mayEnd.open()
    #expect(try await store.whenFinished(steady).state == .succeeded)
    network.isSatisfied = true
    #expect(try await store.whenFinished(id).attempt == 1)
    #expect(reasons.all == [.constraintLost, nil, nil])
    await worker.stop()
  }

  @Test func `C34 a condition that comes and goes a hundred times during a run uses no attempt`() async throws {
    let network = ManualConstraint(true)
    let begun = Gate()
    let isSteady = Flag(false)
    let worker = JobWorker(queue)
    worker.provide(.network, network)
    worker.register(kind: "k") { _, _ in
      begun.open()
      if !isSteady.value { await untilCancelled() }
      try Task.checkCancellation()
      return nil
    }
    let id = try await add([.network], whenLost: .interrupts)
    worker.start()
    for _ in 1...100 {
      await begun.pass()
      try await heard(.ready, of: id) { network.isSatisfied = false }
      network.isSatisfied = true
    }
    await begun.pass()
    isSteady.value = true
    network.isSatisfied = false
    network.isSatisfied = true
    let job = try await store.whenFinished(id)
    #expect((job.attempt, job.crashes, job.state) == (1, 0, .succeeded))
    await worker.stop()
  }

  @Test func `what is set by hand starts and interrupts jobs of a worker that knows nothing of it`() async throws {
    let begun = Gate()
    let reasons = Recorder<StopReason?>()
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    worker.register(kind: "k") { _, context in
      begun.open()
      if reasons.all.isEmpty { await untilCancelled() }
      reasons.add(context.stopReason)
      try Task.checkCancellation()
      return nil
    }
    let id = try await add(["office-hours"], whenLost: .interrupts)
    worker.start()
    try await queue.setConstraint("office-hours", satisfied: true)
    await begun.pass()
    // Its only slot is taken, so that no claim tells it.
    try await heard(.ready, of: id) { try await queue.setConstraint("office-hours", satisfied: nil) }
    #expect(reasons.all == [.constraintLost])
    try await queue.setConstraint("office-hours", satisfied: true)
    #expect(try await store.whenFinished(id).attempt == 1)
    await worker.stop()
  }

  @Test func `what returns by hand ends back-offs`() async throws {
    let worker = JobWorker(queue)
    worker.register(kind: "k", retry: .constant(.seconds(3600))) { _, context in
      if context.attempt == 1 { throw Busy() }
      return nil
    }
    let begun = Gate()
    worker.register(kind: "witness") { _, _ in
      begun.open()
      await untilCancelled()
      try Task.checkCancellation()
      return nil
    }
    try await queue.setConstraint("office-hours", satisfied: true)
    let id = try await add(["office-hours"])
    try await heard(.scheduled, of: id) { worker.start() }
    let witness = try await add(["office-hours"], whenLost: .interrupts, kind: "witness")
    await begun.pass()
    // Only what the worker has seen to go can return.
    try await heard(.ready, of: witness) { try await queue.setConstraint("office-hours", satisfied: false) }
    try await queue.setConstraint("office-hours", satisfied: true)
    await clock.timerScheduled(within: .seconds(1))
    clock.advance(by: .seconds(1))
    #expect(try await store.whenFinished(id).attempt == 2)
    await worker.stop(grace: .zero)
  }

  @Test func `a queue is idle once what its jobs require is lost, and who waits for that is told`() async throws {
    let network = ManualConstraint(true)
    let begun = Gate()
    let worker = JobWorker(queue, maxConcurrentJobs: 1)
    worker.provide(.network, network)
    worker.register(kind: "k") { _, _ in
      begun.open()
      await untilCancelled()
      throw Busy()
    }
    let id = try await add([.network], whenLost: .interrupts)
    worker.start()
    await begun.pass()
    async let left = queue.waitUntilIdle()
    network.isSatisfied = false
    #expect(try await left == JobCounts([.ready: 1]))
    #expect(try await queue.job(id).state == .ready)
    await worker.stop()
  }
}
