import DurableJobs
import DurableJobsSQLite
import DurableJobsTesting
import Foundation
import TestProcesses
import Testing

@testable import DurableJobsSchedules

/// Workers that are really killed while they tick.
@Suite struct TickKillTests {
  /// 20, or what `DURABLE_KILLS` says.
  private static let kills = ProcessInfo.processInfo.environment["DURABLE_KILLS"].flatMap(Int.init) ?? 20

  private let folder: ScheduleFolder

  init() throws { folder = try ScheduleFolder() }

  @Test func `C50 whatever is killed, each tick has one job`() async throws {
    let origin = Date().timeIntervalSince1970.rounded(.down)
    let queue = JobQueue(store: try SQLiteStore(path: folder.store))
    try await queue.schedule(
      "second", .every(.seconds(1), from: Date(timeIntervalSince1970: origin)), Tick(), catchUp: .all)
    await (queue.store as? SQLiteStore)?.close()
    func worker(_ fault: String? = nil) throws -> ChildProcess {
      var environment = ProcessInfo.processInfo.environment
      environment["DURABLE_FAULT"] = fault
      let skew = Int.random(in: -400...400)
      return try folder.start(["work", folder.store, "\(origin)", "\(skew)"], environment: environment)
    }
    var workers = try (0..<6).map { _ in try worker() }
    let store = try SQLiteStore(path: folder.store)
    let watch = JobQueue(store: store)
    var seen = 0
    for round in 0..<Self.kills {
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
        // One of them does not kill itself, so that somebody lives to tick.
        let hasFault = dead > 0 && Bool.random()
        workers[dead] = try worker(hasFault ? Self.faults.randomElement()! + ":\(Int.random(in: 1...4))" : nil)
      }
    }
    for process in workers { process.send(SIGKILL) }
    for process in workers { await process.ended() }
    let jobs = try await watch.jobs(where: .kind(Tick.self), limit: 1_000_000)
    let ticks = jobs.compactMap { $0.key.flatMap { try? Date(tickText: String($0.dropFirst("second@".count))) } }
    #expect(ticks.count == jobs.count && ticks.count >= Self.kills)
    #expect(
      zip(ticks, ticks.dropFirst()).allSatisfy { $1.timeIntervalSince($0) == 1 }, "one after the other, and none twice")
    let schedules = try await watch.jobs(where: .kind(JobSchedule.self) && !.state(.succeeded))
    #expect(schedules.count == 1)
    print("ticks \(ticks.count), the schedule's crashes now \(schedules.map(\.crashes))")
    await store.close()
  }

  private struct Tick: JobPayload { static let kind = "tick" }

  private static let faults = [
    "insertBegun", "insertJob", "claimMarked", "settleBegun", "settleMarked", "settleResult", "commitBefore",
    "commitAfter",
  ]
}
