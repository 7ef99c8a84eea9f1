import DurableJobs
import DurableJobsOperations
import DurableJobsTesting
import Foundation
import Testing

@Suite struct OperationTests {
  @Test func `An operation is stored when addOperation has returned, and finishes with its job`() async throws {
    let bench = Bench()
    let operation = try DurableOperation(id: "a", kind: "work", payload: ["text": "hello"])
    await bench.queue.add(operation)
    let id = try #require(operation.jobID)
    let job = try await bench.queue.jobs.job(id)
    #expect((job.state, job.kind, job.key, job.queue) == (.ready, "work", "bench/a", "bench"))
    #expect(job.payload == Data(#"{"text":"hello"}"#.utf8))
    #expect(!operation.isFinished && !operation.isExecuting)

    bench.queue.register("work") { operation, context in
      #expect(operation.isExecuting && operation.jobID == context.id)
      bench.record.add(try operation.decode([String: String].self)["text"] ?? "")
    }
    await operation.finished()
    #expect(bench.record.all == ["hello"])
    #expect(operation.isFinished && !operation.isExecuting && operation.error == nil && operation.attempt == 1)
    await bench.ended.reached(1)
    #expect(bench.ended.all == ["a"])
    await bench.queue.stop()
  }

  @Test func `A dependent that is added first runs last, also if what it waits for fails`() async throws {
    let bench = Bench(maxConcurrency: 4)
    bench.registerWork()
    let (first, second) = (Bench.trouble("t1"), Bench.work("t2"))
    second.addDependency(first)
    await bench.queue.add(second)
    #expect(try await bench.queue.jobs.job(#require(second.jobID)).state == .blocked)
    await bench.queue.add(first)
    await bench.queue.finished()
    #expect(bench.record.all == ["t1 1", "t2"])
    #expect((first.error as? JobFailure)?.message == "trouble")
    #expect(second.error == nil)
    await bench.ended.reached(2)
    #expect(bench.ended.all.count == 2 && bench.ended.all[0].hasPrefix("t1: ") && bench.ended.all[1] == "t2")
    await bench.queue.stop()
  }

  @Test func `A dependency is finished before its dependent begins`() async throws {
    let bench = Bench(maxConcurrency: 4)
    bench.queue.register("work") { [record = bench.record] operation, _ in
      if !operation.dependencies.allSatisfy(\.isFinished) { record.add(operation.id) }
    }
    for number in 0..<200 {
      let (first, second) = (Bench.work("first-\(number)"), Bench.work("second-\(number)"))
      second.addDependency(first)
      await onThread { bench.queue.addOperations([first, second], waitUntilFinished: false) }
    }
    await bench.queue.finished()
    #expect(bench.record.all == [])
    await bench.queue.stop()
  }

  @Test func `A dependent that needs a success is skipped without one, in either order and in one call`() async throws {
    let bench = Bench()
    bench.registerWork()
    let first = Bench.trouble("first")
    let dependents = (0..<3).map { Bench.work("dependent-\($0)") }
    for dependent in dependents { dependent.addDependency(first, mustSucceed: true) }
    await bench.queue.add(dependents[0])
    await onThread { bench.queue.addOperations([dependents[1], first], waitUntilFinished: true) }
    await bench.queue.add(dependents[2])
    await bench.queue.finished()
    #expect(bench.record.all == ["first 1"])
    for dependent in dependents {
      #expect((dependent.error as? JobFailure)?.message.contains("failed") == true, "\(dependent.id)")
    }
    await bench.queue.stop()
  }

  @Test func `What succeeded before under an id is not waited for in place of an operation that is yet to be added`()
    async throws
  {
    let bench = Bench()
    bench.registerWork()
    await bench.queue.add(Bench.work("login"))
    await bench.queue.finished()
    let (login, avatar) = (Bench.work("login"), Bench.work("avatar"))
    avatar.addDependency(login)
    await bench.queue.add(avatar)
    #expect(try await bench.queue.jobs.job(#require(avatar.jobID)).state == .blocked)
    await bench.queue.add(login)
    await bench.queue.finished()
    #expect(bench.record.all == ["login", "login", "avatar"])
    await bench.queue.stop()
  }

  @Test func `Where what succeeded before under an id is still needed, who would wait for that id is refused`()
    async throws
  {
    let bench = Bench()
    bench.queue.isSuspended = true
    bench.registerWork()
    let (login, never, both) = (Bench.work("login"), Bench.work("never"), Bench.work("both"))
    both.addDependency(login)
    both.addDependency(never)
    await bench.queue.add(login, both)
    bench.queue.isSuspended = false
    await login.finished()
    let (again, avatar) = (Bench.work("login"), Bench.work("avatar"))
    avatar.addDependency(again)
    await bench.queue.add(avatar)
    let error = try #require(avatar.error as? JobError)
    #expect(error.code == .wrongState)
    let job = try #require(login.jobID)
    #expect(error.message.contains("'login' is to be added later, and job \(job), which had that id"))
    #expect(avatar.jobID == nil)

    let later = Bench.work("later")
    later.addDependency(again)
    await bench.queue.add(again, later)
    await later.finished()
    #expect(bench.record.all == ["login", "login", "later"])
    both.cancel()
    await bench.queue.finished()
    await bench.queue.stop()
  }

  @Test func `Its options are stored, and it runs once what it requires holds`() async throws {
    let bench = Bench()
    bench.registerWork()
    let door = ManualConstraint(false)
    bench.queue.provide("door", door)
    let deadline = JobDeadline.end(by: .at(Date(timeIntervalSinceReferenceDate: 3_000_000_000)))
    let options = JobOptions(priority: .high, deadline: deadline, lane: "lane", requires: ["door"])
    let (inside, outside) = (DurableOperation(id: "inside", kind: "work", options: options), Bench.work("outside"))
    await bench.queue.add(inside, outside)
    await outside.finished()
    let job = try await bench.queue.jobs.job(#require(inside.jobID))
    #expect((job.state, job.priority, job.lane, job.requires) == (.ready, .high, "lane", ["door"]))
    #expect(job.deadline == deadline)
    door.isSatisfied = true
    await inside.finished()
    #expect(bench.record.all == ["outside", "inside"])
    await bench.queue.stop()
  }

  @Test func `To start an operation that is in its queue calls no handler`() async throws {
    let bench = Bench()
    bench.queue.isSuspended = true
    bench.registerWork()
    let operation = Bench.work("a")
    await bench.queue.add(operation)
    operation.start()
    operation.main()
    #expect(bench.record.all == [])
    #expect(!operation.isExecuting && !operation.isFinished)
    bench.queue.isSuspended = false
    await operation.finished()
    operation.start()
    #expect(bench.record.all == ["a"])
    #expect(operation.error == nil)
    await bench.queue.stop()
  }

  @Test func `Operations named by id may be of an earlier process, or come later`() async throws {
    let bench = Bench()
    bench.registerWork()
    await bench.queue.add(DurableOperation(id: "b", kind: "work", dependsOn: ["a"]), Bench.work("a"))
    await bench.queue.finished()
    #expect(bench.record.all == ["a", "b"])
    await bench.queue.stop()
  }

  @Test func `C22 A circle of operations is refused where it closes`() async throws {
    let bench = Bench()
    let (one, other) = (Bench.work("one"), Bench.work("other"))
    one.addDependency(other)
    other.addDependency(one)
    await bench.queue.add(one, other)
    #expect(other.isFinished)
    #expect((other.error as? JobError)?.code == .invalidArgument)
    #expect(!one.isFinished)
    one.cancel()
    await one.finished()
    await bench.queue.stop()
  }

  @Test func `maxRetries is the number of attempts after the first`() async throws {
    let bench = Bench(maxRetries: 2)
    bench.registerWork()
    await bench.queue.add(Bench.trouble("a"))
    await bench.queue.finished()
    #expect(bench.record.all == ["a 1", "a 2", "a 3"])
    await bench.queue.stop()
  }

  @Test func `Higher priorities run first`() async throws {
    let bench = Bench()
    bench.queue.isSuspended = true
    bench.registerWork()
    let priorities: [Operation.QueuePriority] = [.normal, .veryHigh, .low, .high, .veryLow]
    for priority in priorities {
      let operation = Bench.work("\(priority.rawValue)")
      operation.queuePriority = priority
      await bench.queue.add(operation)
    }
    bench.queue.isSuspended = false
    await bench.queue.finished()
    #expect(bench.record.all == ["8", "4", "0", "-4", "-8"])
    await bench.queue.stop()
  }

  @Test func `C2 C6 An operation of a kind without a handler waits for it`() async throws {
    let bench = Bench(maxConcurrency: 1)
    bench.queue.register("other") { operation, _ in bench.record.add(operation.id) }
    let known = DurableOperation(id: "known", kind: "other")
    await bench.queue.add(Bench.work("unknown"), known)
    await known.finished()
    bench.registerWork()
    await bench.queue.finished()
    #expect(bench.record.all == ["known", "unknown"])
    await bench.queue.stop()
  }

  @Test func `C4 A payload that can't be encoded, or stored, is an error and no job`() async throws {
    let bench = Bench()
    let error = #expect(throws: JobError.self) {
      try DurableOperation(kind: "work", payload: [Double.nan])
    }
    #expect(error?.code == .notEncodable)
    let long = Bench.work(String(repeating: "x", count: 600))
    await bench.queue.add(long)
    #expect((long.error as? JobError)?.code == .invalidArgument)
    await bench.ended.reached(1)
    let second = await #expect(throws: JobError.self) {
      try await bench.queue.enqueue(Bench.work(String(repeating: "y", count: 600)))
    }
    #expect(second?.code == .invalidArgument)
    #expect(try await bench.queue.jobs.counts().total == 0)
    await bench.queue.stop()
  }

  @Test func `C3 A payload that does not decode any more suspends its job, and runs once it does`() async throws {
    let bench = Bench()
    bench.queue.register("work") { operation, _ in
      bench.record.add("begun")
      bench.record.add("\(try operation.decode(Int.self))")
    }
    let operation = try DurableOperation(id: "a", kind: "work", payload: "seven")
    await bench.queue.add(operation)
    let id = try #require(operation.jobID)
    _ = try await bench.store.firstAfterEachSignal { [jobs = bench.queue.jobs] in
      try await jobs.job(id).state == .suspended ? true : nil
    }
    #expect(try await bench.queue.jobs.job(id).reason?.contains("does not decode as Int") == true)
    bench.queue.register("work") { operation, _ in bench.record.add(try operation.decode()) }
    try await bench.queue.jobs.retry(id)
    await operation.finished()
    #expect(bench.record.all == ["begun", "seven"])
    await bench.queue.stop()
  }

  @Test func `C5 What has used up its attempts is kept as failed, and is an operation again when it is retried`()
    async throws
  {
    let bench = Bench()
    bench.registerWork()
    let operation = Bench.trouble("a")
    await bench.queue.add(operation)
    await bench.ended.reached(1)
    bench.queue.register("trouble") { operation, _ in bench.record.add(operation.id) }
    try await bench.queue.jobs.retry(#require(operation.jobID))
    await bench.ended.reached(2)
    #expect(bench.ended.all[1] == "a")
    #expect(bench.record.all == ["a 1", "a"])
    await bench.queue.stop()
  }

  @Test func `C71 What the store refuses finishes with its error, and the next one is stored`() async throws {
    struct Full: Error {}
    final class Disk: SnapshotProvider, Sendable {
      let isFull = Lock(true)
      func load() -> [String: Data] { [:] }
      func save(_: [String: Data]) throws { if isFull.withLock({ $0 }) { throw Full() } }
      func remove(_: [String]) throws {}
    }
    let disk = Disk()
    let bench = Bench(try InMemoryStore(provider: disk))
    let (one, other) = (Bench.work("a"), Bench.work("a"))
    await bench.queue.add(one)
    #expect(one.isFinished && one.error is Full)
    disk.isFull.withLock { $0 = false }
    await bench.queue.add(other)
    bench.registerWork()
    await other.finished()
    #expect(other.error == nil)
    await bench.queue.stop()
  }

  @Test func `A durable operation in a queue of Foundation's finishes with an error`() async {
    let operation = Bench.work("a")
    let queue = OperationQueue()
    queue.addOperation(operation)
    await onThread { queue.waitUntilAllOperationsAreFinished() }
    #expect((operation.error as? JobError)?.code == .wrongState)
  }

  @Test func `An operation that is added twice is stored once`() async throws {
    let bench = Bench()
    let operation = Bench.work("a")
    await bench.queue.add(operation, operation)
    #expect(try await bench.queue.jobs.counts().total == 1)
    operation.cancel()
    await operation.finished()
    await bench.queue.stop()
  }
}
