import DurableJobs
import DurableJobsSQLite
import DurableJobsTesting
import Foundation
import TestProcesses
import Testing

@testable import DurableJobsSchedules

/// Schedules in a file that many work on.
@Suite(.serialized) struct ManyWorkersTests {
  private let folder: URL
  private var path: String { folder.appending(path: "jobs.sqlite").path }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "schedules-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  @Test func `C50 of twenty workers one stores the job of a tick, and a clock that is set back changes nothing`()
    async throws
  {
    defer { try? FileManager.default.removeItem(at: folder) }
    let clock = ManualClock()
    var configuration = SQLiteStore.Configuration()
    configuration.clock = clock
    let store = try SQLiteStore(path: path, configuration: configuration)
    let queue = JobQueue(store: store)
    try await queue.schedule("often", .every(.seconds(60)), Cleanup(), catchUp: .all)
    let workers = (0..<20).map { _ in JobWorker(queue) }
    for worker in workers {
      worker.register(JobSchedule.self)
      worker.register(Cleanup.self)
      worker.start()
    }
    for tick in 1...30 {
      if tick == 10 { clock.stepWallClock(by: .seconds(-600)) }
      // All timers of all workers fire at one moment, and a hair before it.
      let due = try #require(try await queue.schedules().first).nextTimes(1, after: clock.now)[0]
      let wait = due.timeIntervalSince(clock.now)
      clock.advance(by: .milliseconds(Int(wait * 1000) - 1))
      clock.advance(by: .milliseconds(1))
      _ = try await store.firstAfterEachSignal {
        let jobs = try await queue.jobs(where: .kind(Cleanup.self), limit: 100)
        return jobs.count >= tick && jobs.allSatisfy { $0.state == .succeeded } ? true : nil as Bool?
      }
      let last = try await queue.schedules().first?.last
      #expect(last == due)
    }
    for worker in workers { await worker.stop() }
    let start = Date(timeIntervalSince1970: 1_800_000_000)
    let keys = try await queue.jobs(where: .kind(Cleanup.self), limit: 100).map(\.key)
    #expect(keys == (1...30).map { "often@\((start + 60 * Double($0)).tickText)" })
    await store.close()
  }

  @Test func `C53 of twenty processes that declare a schedule at once one stores it, and the rest write nothing`()
    async throws
  {
    defer { try? FileManager.default.removeItem(at: folder) }
    let outputs = (0..<20).map { folder.appending(path: "out-\($0)").path }
    let processes = try outputs.map { try start(["declare", path], output: $0) }
    for process in processes { #expect(await process.ended() == .exited(0)) }
    let words = try outputs.flatMap { try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n") }
    #expect(words.count == 2000)
    #expect(words.filter { $0 == "added" }.count == 1)
    #expect(words.filter { $0 == "unchanged" }.count == 1999)
    let store = try SQLiteStore(path: path)
    #expect(try await store.counts(where: .all).total == 1)
    await store.close()
  }

  @Test func `C50 whatever is killed, each tick has one job`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    let origin = Date().timeIntervalSince1970.rounded(.down)
    let queue = JobQueue(store: try SQLiteStore(path: path))
    try await queue.schedule(
      "second", .every(.seconds(1), from: Date(timeIntervalSince1970: origin)), Tick(), catchUp: .all)
    await (queue.store as? SQLiteStore)?.close()
    func worker(_ fault: String? = nil) throws -> ChildProcess {
      var environment = ProcessInfo.processInfo.environment
      environment["DURABLE_FAULT"] = fault
      let skew = Int.random(in: -400...400)
      return try start(["work", path, "\(origin)", "\(skew)"], environment: environment)
    }
    var workers = try (0..<6).map { _ in try worker() }
    let store = try SQLiteStore(path: path)
    let watch = JobQueue(store: store)
    var seen = 0
    for round in 0..<40 {
      // Each is killed after the next tick that anybody stored, or where it was told to kill itself.
      let before = seen
      seen = try await store.firstAfterEachSignal {
        let count = try await watch.jobs(where: .kind(Tick.self), limit: 1_000_000).count
        return count > before ? count : nil
      }
      let index = round % workers.count
      workers[index].send(SIGKILL)
      await workers[index].ended()
      for dead in workers.indices where !workers[dead].isRunning {
        workers[dead] = try worker(Bool.random() ? Self.faults.randomElement()! + ":\(Int.random(in: 1...4))" : nil)
      }
    }
    for process in workers { process.send(SIGKILL) }
    for process in workers { await process.ended() }
    let jobs = try await watch.jobs(where: .kind(Tick.self), limit: 1_000_000)
    let ticks = jobs.compactMap { $0.key.flatMap { try? Date(tickText: String($0.dropFirst("second@".count))) } }
    #expect(ticks.count == jobs.count && ticks.count >= 40)
    #expect(
      zip(ticks, ticks.dropFirst()).allSatisfy { $1.timeIntervalSince($0) == 1 }, "one after the other, and none twice")
    let schedules = try await watch.jobs(where: .kind(JobSchedule.self) && !.state(.succeeded))
    #expect(schedules.count == 1)
    print("ticks \(ticks.count), the schedule's crashes now \(schedules.map(\.crashes))")
    await store.close()
  }

  private struct Tick: JobPayload { static let kind = "tick" }

  private static let faults = [
    "insert.begun", "insert.job", "claim.marked", "settle.begun", "settle.marked", "settle.result", "commit.before",
    "commit.after",
  ]

  private func start(
    _ arguments: [String], output: String? = nil, environment: [String: String]? = nil
  ) throws -> ChildProcess {
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
    let products =
      bundle?.deletingLastPathComponent() ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    let file = output.map { open($0, O_WRONLY | O_CREAT, 0o600) }
    defer { file.map { _ = close($0) } }
    return try ChildProcess(
      products.appending(path: "ScheduleProbe").path, arguments, environment: environment, output: file)
  }
}
