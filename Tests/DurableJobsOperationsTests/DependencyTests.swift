import DurableJobs
import DurableJobsOperations
import DurableJobsSQLite
import DurableJobsTesting
import Foundation
import Logging
import Testing

/// What operations wait for that ended before, in another queue, or without a job.
@Suite struct DependencyTests {
  enum End: CaseIterable {
    case cancelledBefore, cancelledWhileItWaits, refused, tooLarge, failed

    /// An operation that will have ended so once ``end(_:in:)`` has returned, perhaps but for the store's answers.
    var operation: DurableOperation {
      switch self {
      case .refused: DurableOperation(id: "first", kind: "")
      case .tooLarge: DurableOperation(id: "first", kind: "work", payload: Data(count: Limits.payloadBytes + 1))
      case .failed: Bench.trouble("first")
      default: Bench.work("first")
      }
    }

    func end(_ operation: DurableOperation, in queue: DurableOperationQueue) async {
      if case .cancelledBefore = self { operation.cancel() }
      if case .cancelledWhileItWaits = self { operation.addDependency(BlockOperation {}) }
      await queue.add(operation)
      if case .cancelledWhileItWaits = self { operation.cancel() }
    }
  }

  @Test(arguments: End.allCases)
  func `A dependency that ends without a job has ended`(_ end: End) async throws {
    let bench = Bench()
    bench.registerWork()
    let (first, second) = (end.operation, Bench.work("second"))
    second.addDependency(first)
    await bench.queue.add(second, DurableOperation(id: "third", kind: "work", dependsOn: ["first"]))
    await end.end(first, in: bench.queue)
    await bench.queue.finished()
    #expect(first.error != nil)
    #expect(second.error == nil)
    #expect(bench.record.all.suffix(2) == ["second", "third"])
    await bench.queue.stop()
  }

  @Test(arguments: End.allCases)
  func `What needs the success of a dependency that ends without a job is skipped`(_ end: End) async throws {
    let bench = Bench()
    bench.registerWork()
    let (first, second) = (end.operation, Bench.work("second"))
    second.addDependency(first, mustSucceed: true)
    await bench.queue.add(second)
    await end.end(first, in: bench.queue)
    await bench.queue.finished()
    #expect(second.error is JobFailure)
    #expect(!bench.record.all.contains("second"))
    await bench.queue.stop()
  }

  @Test func `What waits for a dependency that ends without a job goes on once the store takes that`() async throws {
    let store = FaultyStore(InMemoryStore())
    let (queue, record) = (DurableOperationQueue(name: "bench", store: store), Record())
    queue.register("work") { operation, _ in record.add(operation.id) }
    await queue.add(DurableOperation(id: "second", kind: "work", dependsOn: ["first"]))
    store.fail(next: 2, .insert, with: JobError(.diskFull, "the disk is full"))
    let first = Bench.work("first")
    await queue.add(first)
    #expect((first.error as? JobError)?.code == .diskFull)
    await queue.finished()
    #expect(record.all == ["second"])
    await queue.stop()
  }

  @Test func `Where the end of one can't be stored, those that wait for the others go on`() async throws {
    let store = FaultyStore(InMemoryStore())
    let queue = DurableOperationQueue(name: "bench", store: store)
    let (waiting, cancelled) = (
      ["one", "other"].map { DurableOperation(kind: "work", dependsOn: [$0]) }, ["one", "other"].map(Bench.work)
    )
    await queue.add(waiting[0], waiting[1])
    for operation in cancelled { operation.cancel() }
    store.fail(.change, with: JobError(.wrongState, "it has ended"))
    await onThread { queue.addOperations(cancelled, waitUntilFinished: true) }
    let states = try await queue.jobs.jobs(where: .ids(waiting.compactMap(\.jobID))).map(\.state)
    #expect(states == [.blocked, .ready])
    await onThread { queue.cancelAllOperations() }
    await queue.finished()
    await queue.stop()
  }

  @Test func `To find who waits, nothing that has ended is read`() async throws {
    let store = FaultyStore(InMemoryStore())
    let other = JobQueue("other", store: store)
    _ = try await store.insert(
      JobInsertion((0..<1000).map { _ in NewJob(queue: "other", kind: "work", payload: Data()) }))
    try await other.cancelAll(where: .all)
    let (queue, operation) = (DurableOperationQueue(name: "bench", store: store), Bench.work("a"))
    #expect(await onThread { queue.durableOperations } == [])
    let before = store.calls(of: .jobs)
    operation.cancel()
    await queue.add(operation)
    #expect(store.calls(of: .jobs) == before + 1)
    await queue.stop()
  }

  @Test func `What is suspended while it waits goes on once it is resumed`() async throws {
    let bench = Bench()
    bench.registerWork()
    let (first, second) = (Bench.work("first"), Bench.work("second"))
    second.addDependency(first)
    await bench.queue.add(second)
    let id = try #require(second.jobID)
    try await bench.queue.jobs.suspend(id)
    first.cancel()
    await bench.queue.add(first)
    try await bench.queue.jobs.resume(id)
    await bench.queue.finished()
    #expect(bench.record.all == ["second"])
    await bench.queue.stop()
  }

  @Test func `A dependency that ends without a job has ended for later processes too`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "durable-\(UUID().uuidString.prefix(8)).sqlite")
    defer {
      for end in ["", "-wal", "-shm", "-durable"] { try? FileManager.default.removeItem(atPath: file.path + end) }
    }
    func life(_ body: (DurableOperationQueue) async throws -> Void) async throws {
      let store = try SQLiteStore(path: file.path)
      let queue = DurableOperationQueue(name: "bench", store: store)
      try await body(queue)
      await queue.stop()
      await store.close()
    }
    try await life { queue in
      let (one, other) = (Bench.work("one"), Bench.work("other"))
      other.addDependency(one)
      await queue.add(other)
    }
    try await life { queue in
      let one = Bench.work("one")
      one.cancel()
      await queue.add(one)
      let states = try await queue.jobs.jobs().map { [$0.key: $0.state] }
      #expect(states == [["bench/other": .ready], ["bench/one": .cancelled]])
    }
    let record = Record()
    try await life { queue in
      queue.register("work") { operation, _ in record.add(operation.id) }
      await queue.finished()
    }
    #expect(record.all == ["other"])
  }

  @Test func `C22 Where a circle is refused, what was stored of it goes on`() async throws {
    let bench = Bench()
    bench.registerWork()
    let (one, other) = (Bench.work("one"), Bench.work("other"))
    one.addDependency(other)
    other.addDependency(one)
    await bench.queue.add(one, other)
    await bench.queue.finished()
    #expect((other.error as? JobError)?.code == .invalidArgument)
    #expect(bench.record.all == ["one"])
    await bench.queue.stop()
  }

  @Test(arguments: [true, false])
  func `Added at the same moment as what does not succeed, an operation runs`(isCancelled: Bool) async throws {
    let bench = Bench(maxConcurrency: 4)
    bench.registerWork()
    for number in 0..<50 {
      let (first, second) = (Bench.trouble("first \(number)"), Bench.work("second \(number)"))
      let third = DurableOperation(id: "third \(number)", kind: "work", dependsOn: [first.id])
      second.addDependency(first)
      if isCancelled { first.cancel() }
      async let one: Void = bench.queue.add(first)
      async let other: Void = bench.queue.add(second)
      async let last: Void = bench.queue.add(third)
      _ = await (one, other, last)
      if isCancelled {
        await second.finished()
        third.cancel()  // its dependency may never have been heard of when it was added
      }
      await bench.queue.finished()
    }
    #expect(bench.record.all.filter { $0.hasPrefix("second") } == (0..<50).map { "second \($0)" })
    await bench.queue.stop()
  }

  // MARK: By id

  @Test func `What has ended under an id, however, is not waited for, and what is unfinished is`() async throws {
    let bench = Bench()
    bench.registerWork()
    let cancelled = Bench.work("cancelled")
    await bench.queue.add(Bench.trouble("failed"))
    await bench.queue.finished()
    bench.queue.isSuspended = true
    await bench.queue.add(cancelled)
    cancelled.cancel()
    await cancelled.finished()
    await bench.queue.add(DurableOperation(id: "a", kind: "work", dependsOn: ["failed", "cancelled"]))
    await bench.queue.add(Bench.work("failed"))
    let waiting = DurableOperation(id: "b", kind: "work", dependsOn: ["failed"])
    await bench.queue.add(waiting)
    #expect(try await bench.queue.jobs.job(#require(waiting.jobID)).state == .blocked)
    bench.queue.isSuspended = false
    await bench.queue.finished()
    #expect(bench.record.all == ["failed 1", "a", "failed", "b"])
    await bench.queue.stop()
  }

  @Test func `Queues and ids with slashes in them are told apart`() async throws {
    let store = InMemoryStore()
    func queue(_ name: String) -> DurableOperationQueue { DurableOperationQueue(name: name, store: store) }
    let (names, ids) = (["mail", "mail/in", "mail%2Fin"], ["in/7", "7", "7"])
    let operations = ids.map(Bench.work)
    for (name, operation) in zip(names, operations) {
      let queue = queue(name)
      await queue.add(operation)
      await queue.stop()
    }
    let keys = try await store.jobs(JobQuery()).map(\.key)
    #expect(keys == ["mail/in/7", "mail%2Fin/7", "mail%252Fin/7"])
    for (name, id) in zip(names, ids) {
      let queue = queue(name)
      #expect(await onThread { queue.durableOperations.map(\.id) } == [id])
      await onThread { queue.cancelAllOperations() }
      await queue.finished()
      await queue.stop()
    }
    withExtendedLifetime(operations) {}
  }

  // MARK: In another queue

  @Test(arguments: [true, false])
  func `A dependency that is added to another queue later has ended when it has, and as it did`(isSameStore: Bool)
    async throws
  {
    let bench = Bench()
    let other = DurableOperationQueue(name: "other", store: isSameStore ? bench.store : InMemoryStore(), maxRetries: 0)
    bench.registerWork()
    let (good, bad) = (Bench.work("good"), Bench.trouble("bad"))
    let needy = [good, bad].map { dependency in
      let operation = Bench.work("needs \(dependency.id)")
      operation.addDependency(dependency, mustSucceed: true)
      return operation
    }
    let patient = Bench.work("after bad")
    patient.addDependency(bad)
    await bench.queue.add(needy[0], needy[1], patient)
    other.register("work") { operation, _ in bench.record.add(operation.id) }
    other.register("trouble") { _, _ in throw Trouble() }
    await other.add(good, bad)
    await bench.queue.finished()
    #expect(Set(bench.record.all) == ["good", "needs good", "after bad"])
    #expect((needy[1].error as? JobFailure)?.message.contains("trouble") == true)
    await other.stop()
    await bench.queue.stop()
  }

  // MARK: After it was added

  @Test func `A dependency of what is stored is left out and logged, and one of what still waits counts`() async throws
  {
    let (bench, log) = (Bench(), Record())
    let queue = DurableOperationQueue(
      name: "logged", store: bench.store, logger: Logger(label: "test") { _ in LogRecord(record: log) })
    queue.register("work") { operation, _ in bench.record.add(operation.id) }
    let (stored, waiting, last) = (Bench.work("stored"), Bench.work("waiting"), Bench.work("last"))
    let (gate, second) = (BlockOperation { bench.record.add("gate") }, BlockOperation { bench.record.add("second") })
    queue.isSuspended = true
    waiting.addDependency(gate)
    await queue.add(stored, waiting)
    stored.addDependency(waiting)
    waiting.addDependency(last, mustSucceed: true)
    waiting.addDependency(second)
    #expect(stored.dependencies == [])
    #expect(log.all == ["an operation that is stored gets no more dependencies: waiting of stored"])
    queue.isSuspended = false
    await stored.finished()
    await queue.add(gate)
    await gate.finished()
    await queue.add(second)
    await second.finished()
    await queue.add(last)
    await queue.finished()
    #expect(bench.record.all == ["stored", "gate", "second", "last", "waiting"])
    await queue.stop()
    await bench.queue.stop()
  }
}

/// Writes down warnings about operations.
private struct LogRecord: LogHandler {
  let record: Record
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.warning

  func log(event: LogEvent) {
    guard event.level == .warning else { return }
    let (dependency, operation) = (event.metadata?["dependency"], event.metadata?["operation"])
    record.add("\(event.message): \(dependency ?? "") of \(operation ?? "")")
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }
}
