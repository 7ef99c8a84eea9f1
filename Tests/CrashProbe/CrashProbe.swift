import DurableJobs
import DurableJobsSQLite
import Foundation
import Logging

#if Postgres
  import DurableJobsPostgres
#endif

/// A process for the crash tests to kill: a worker or a producer on a store, that says in a file what it did. STORE is a
/// file; or a connection string to a PostgreSQL server, a space and `schema=` with the name of a schema.
///
///     CrashProbe work STORE RECORD [idle | by-signals]    by-signals: no timer ever fires
///     CrashProbe produce STORE RECORD COUNT BATCH
///     CrashProbe produce-graphs STORE RECORD COUNT BATCH
///     CrashProbe recover STORE RECORD SHIFT DOUBT  by a clock that is so many seconds ahead; until who is asked for a sign
///                                                  of life has given one, or so many seconds have passed
@main struct CrashProbe {
  static func main() async throws {
    LoggingSystem.bootstrap(SwiftLogNoOpLogHandler.init)
    let arguments = CommandLine.arguments
    let record = Record(path: arguments[3])
    switch arguments[1] {
    case "work":
      let mode = arguments.dropFirst(4).first
      let clock: any JobClock = mode == "by-signals" ? TimerlessClock() : SystemClock()
      let queue = JobQueue(store: try await store(at: arguments[2], clock: clock))
      let worker = JobWorker(queue, maxConcurrentJobs: 4)
      register(with: worker, on: queue, record)
      if mode == "idle" { try await worker.runUntilIdle() } else { try await worker.run() }
    case "produce":
      let queue = JobQueue(store: try await store(at: arguments[2]))
      try await produce(Int(arguments[4])!, batch: Int(arguments[5])!, on: queue, record)
    case "produce-graphs":
      let queue = JobQueue(store: try await store(at: arguments[2]))
      for lane in 0..<5 { try await queue.setWidth(of: "wide-\(lane)", to: 2) }
      for _ in 0..<Int(arguments[4])! {
        try await produceGraph(on: queue, record)
        try await producePlan(on: queue, record)
      }
    case "recover":
      try await recover(shift: Int(arguments[4])!, doubt: Double(arguments[5])!, path: arguments[2], record)
    default:
      fatalError("unknown mode \(arguments[1])")
    }
  }

  /// With waits that are short enough for a test, and long enough for a process to start in: what crashed together is to
  /// come back apart. Its turn to write it waits for as long as that takes.
  private static func store(
    at path: String, clock: any JobClock = SystemClock(), doubt: Duration = Defaults.doubtInterval
  ) async throws -> any JobStore {
    var policy = StorePolicy()
    policy.doubtInterval = doubt
    policy.crashBackOff = BackOff(base: .milliseconds(40), factor: 2, cap: .milliseconds(500))
    #if Postgres
      if path.contains("schema=") {
        let parts = path.split(separator: " schema=")
        var configuration = PostgresStore.Configuration()
        configuration.schema = String(parts[1])
        configuration.policy = policy
        configuration.clock = clock is SystemClock ? nil : clock
        return try await PostgresStore(String(parts[0]), configuration: configuration)
      }
    #endif
    var configuration = SQLiteStore.Configuration()
    configuration.clock = clock
    configuration.busyTimeout = .seconds(864_000)
    configuration.policy = policy
    return try SQLiteStore(path: path, configuration: configuration)
  }

  /// Jobs whose handlers end well, end badly once, and take the process with them.
  private static func register(with worker: JobWorker, on queue: JobQueue, _ record: Record) {
    worker.register(kind: "work") { job, context in
      record.write("run \(context.id) \(context.attempt)")
      for _ in 0..<Int.random(in: 0...20) { await Task.yield() }
      return job.payload
    }
    worker.register(kind: "lingers") { _, context in
      record.write("run \(context.id) \(context.attempt)")
      for _ in 0..<3000 { await Task.yield() }
      return nil
    }
    worker.register(kind: "flaky", retry: .constant(.milliseconds(1))) { _, context in
      record.write("run \(context.id) \(context.attempt)")
      if context.attempt == 1 { throw JobFailure(job: context.id, kind: "flaky", message: "once", attempts: 1) }
      return nil
    }
    worker.register(kind: "link") { job, context in
      record.write("run \(context.id) \(context.attempt)")
      for _ in 0..<Int.random(in: 0...20) { await Task.yield() }
      record.write("end \(context.id) \(context.attempt)")
      return job.payload
    }
    worker.register(kind: "breaks", retry: .never) { _, context in
      record.write("run \(context.id) \(context.attempt)")
      record.write("end \(context.id) \(context.attempt)")
      throw .permanent(JobFailure(job: context.id, kind: "breaks", message: "as it should", attempts: 1))
    }
    worker.register(kind: "leads") { _, context in
      record.write("run \(context.id) \(context.attempt)")
      try context.enqueueOnSuccess(Follow(), options: JobOptions(key: "\(context.id)"))
      record.write("end \(context.id) \(context.attempt)")
      return nil
    }
    for kind in ["paces", "completes"] {
      worker.register(kind: kind) { _, context in
        record.write("run \(context.id) \(context.attempt)")
        for number in kind == "paces" ? [1, 2, 3] : [] {
          try await context.step("\(number)") { record.write("step \(context.id) \(number)") }
        }
        record.write("end \(context.id) \(context.attempt)")
        return nil
      }
    }
    worker.register(kind: "follows") { _, context in
      record.write("run \(context.id) \(context.attempt)")
      record.write("end \(context.id) \(context.attempt)")
      return nil
    }
    worker.register(Draw.self) { _, context in
      record.write("run \(context.id) \(context.attempt)")
      record.write("end \(context.id) \(context.attempt)")
      return .random(in: 0..<1_000_000_000)
    }
    worker.register(Gather.self) { inputs, context in
      record.write("run \(context.id) \(context.attempt)")
      record.write("end \(context.id) \(context.attempt)")
      guard case .failed(let failure) = inputs.broken else { return [] }
      return [inputs.left, inputs.right, Int(failure.job.rawValue)]
    }
    worker.register(kind: "poison") { _, context in
      record.write("run \(context.id) \(context.attempt)")
      kill(getpid(), SIGKILL)
      return nil
    }
    worker.register(kind: "poison-once") { _, context in
      record.write("run \(context.id) \(context.attempt)")
      if try await queue.job(context.id).crashes == 0 { kill(getpid(), SIGKILL) }
      return nil
    }
    worker.register(kind: "poison-that-progresses") { _, context in
      record.write("run \(context.id) \(context.attempt)")
      let before = try await queue.job(context.id).progress?.fraction ?? 0
      try context.report(progress: before + 0.001)
      while try await queue.job(context.id).progress?.fraction ?? 0 <= before { await Task.yield() }
      kill(getpid(), SIGKILL)
      return nil
    }
    worker.register(kind: "stepwise") { _, context in
      record.write("run \(context.id) \(context.attempt)")
      var sum = 0
      for number in 1...4 {
        sum += try await context.step("step \(number)") {
          record.write("step \(context.id) \(number)")
          return number
        }
        let crashes = try await queue.job(context.id).crashes
        if crashes < number, number % 2 == 1 { kill(getpid(), SIGKILL) }  // after a step
      }
      try await context.step("last") {
        record.write("step \(context.id) 5")
        if try await queue.job(context.id).crashes < 4 { kill(getpid(), SIGKILL) }  // within one
      }
      return Data("\(sum)".utf8)
    }
    worker.register(kind: "hold") { _, context in
      record.write("run \(context.id) \(context.attempt)")
      try await queue.enqueue(kind: "news", payload: Data())  // which other processes hear of
      while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
      record.write("stopped \(context.id) \(context.stopReason.map { "\($0)" } ?? "?")")
      exit(0)
    }
  }

  private static func recover(shift: Int, doubt: Double, path: String, _ record: Record) async throws {
    let store = try await store(at: path, clock: ShiftedClock(by: .seconds(shift)), doubt: .seconds(doubt))
    var recovered = 0
    var report = try await store.recover(RecoveryRequest())
    while report.comeAgain != nil {
      recovered += report.recovered
      report = try await store.recover(RecoveryRequest())
    }
    record.write("recovered \(recovered + report.recovered)")
  }

  private static func produce(_ count: Int, batch: Int, on queue: JobQueue, _ record: Record) async throws {
    var stored = 0
    while stored < count {
      let jobs = (0..<min(batch, count - stored)).map { _ in
        NewJob(queue: queue.name, kind: Int.random(in: 0..<10) == 0 ? "flaky" : "work", payload: Data("{}".utf8))
      }
      let ids = try await queue.store.insert(JobInsertion(jobs)).ids
      record.write("stored " + ids.map(\.description).joined(separator: " "))
      stored += jobs.count
    }
  }
}

struct Follow: JobPayload { static let kind = "follows" }

/// Draws another number at each attempt: what counts is the one that was stored.
struct Draw: JobPayload {
  typealias Output = Int
  static let kind = "draws"
}

struct Break: JobPayload {
  typealias Output = Int
  static let kind = "breaks"
}

/// Returns what it was given: two numbers, and the job that failed.
struct Gather: JobPayload {
  typealias Output = [Int]
  @JobInput var left: Int
  @JobInput var right: Int
  @JobInput var broken: JobOutcome<Int>
  static let kind = "gathers"
}

/// Stores a plan whose last job gathers what the others returned.
private func producePlan(on queue: JobQueue, _ record: Record) async throws {
  var plan = JobPlan()
  let (left, right) = (plan.add(Draw(), named: "left"), plan.add(Draw(), named: "right"))
  let broken = plan.add(Break(), named: "broken")
  let all = plan.add(Gather(left: left.output, right: right.output, broken: broken.outcome), named: "all")
  let stored = try await queue.enqueue(plan)
  let ids = [
    try stored.handle(of: left).id, try stored.handle(of: right).id, try stored.handle(of: broken).id,
    try stored.handle(of: all).id,
  ]
  record.write("stored " + ids.map(\.description).joined(separator: " "))
}

/// A diamond, a job that fails with what needs it and what catches it, two jobs of a lane and three of one that is two
/// wide, two that are appended to all with their key, of which some fail, one that has another follow, one in steps, and a
/// batch that others join while it runs.
private func produceGraph(on queue: JobQueue, _ record: Record) async throws {
  func job(_ kind: String, lane: JobLane? = nil, unique: UniqueKey? = nil, after edges: [JobEdge] = []) -> NewJob {
    let terms = JobTerms(unique: unique, lane: lane)
    return NewJob(queue: queue.name, kind: kind, payload: Data("{}".utf8), terms: terms, edges: edges)
  }
  let lane = JobLane("lane-\(Int.random(in: 0..<5))")
  let wide = JobLane("wide-\(Int.random(in: 0..<5))")
  let turn = UniqueKey("turn-\(Int.random(in: 0..<5))", policy: .append)
  let graph = [
    job("link"), job("link", after: [JobEdge(.sibling(0))]), job("link", after: [JobEdge(.sibling(0))]),
    job("link", after: [JobEdge(.sibling(1)), JobEdge(.sibling(2))]),
    job("breaks"), job("link", after: [JobEdge(.sibling(4))]), job("link", after: [JobEdge(.sibling(5))]),
    job("link", after: [JobEdge(.sibling(4), .failed)]), job("link", after: [JobEdge(.sibling(6), .ended)]),
    job("link", lane: lane), job("link", lane: lane), job("leads"), job("paces"),
    job("paces", lane: wide), job("link", lane: wide), job("paces", lane: wide),
    job("link", unique: turn), job(Int.random(in: 0..<4) == 0 ? "breaks" : "link", unique: turn),
  ]
  let ids = try await queue.store.insert(JobInsertion(graph)).ids
  record.write("stored " + ids.map(\.description).joined(separator: " "))

  let batch = try await queue.store.insert(
    JobInsertion([job("link"), job("breaks")], batch: .new(name: "b", whenDone: job("completes"))))
  record.write("stored " + batch.ids.map(\.description).joined(separator: " "))
  guard let id = batch.batch else { return }
  do {
    let joined = try await queue.store.insert(JobInsertion([job("link")], batch: .join(id)))
    record.write("stored " + joined.ids.map(\.description).joined(separator: " "))
  } catch let error as JobError where error.code == .wrongState {
    // It is done by now.
  }
}

/// The machine's clock, with timers that never fire: who goes by it is woken by signals alone.
struct TimerlessClock: JobClock {
  private struct Never: JobTimer { func cancel() {} }

  var now: Date { SystemClock().now }
  var uptime: Duration { SystemClock().uptime }
  func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> any JobTimer { Never() }
}

/// The machine's clock, ahead of its time.
struct ShiftedClock: JobClock {
  let shift: Duration

  init(by shift: Duration) { self.shift = shift }

  var now: Date { SystemClock().now.addingTimeInterval(Double(shift.components.seconds)) }
  var uptime: Duration { SystemClock().uptime }
  func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> any JobTimer {
    SystemClock().schedule(at: due, action)
  }
}

/// A file of lines, each written whole, with the number that the campaign gave this life, and there even if the process is
/// killed next.
struct Record: Sendable {
  private let file: Int32
  private let life = ProcessInfo.processInfo.environment["DURABLE_LIFE"] ?? "0"

  init(path: String) { file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600) }

  func write(_ line: String) {
    var line = "\(life) \(line)\n"
    line.withUTF8 { bytes in
      guard Foundation.write(file, bytes.baseAddress!, bytes.count) == bytes.count else { abort() }
    }
  }
}
