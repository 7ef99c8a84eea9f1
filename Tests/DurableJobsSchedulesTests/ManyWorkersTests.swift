import DurableJobs
import DurableJobsSQLite
import DurableJobsTesting
import Foundation
import TestProcesses
import Testing

@testable import DurableJobsSchedules

/// Schedules in a file that many work on.
@Suite(.serialized) struct ManyWorkersTests {
  private let folder: ScheduleFolder

  init() throws { folder = try ScheduleFolder() }

  @Test func `C50 of twenty workers one stores the job of a tick, and a clock that is set back changes nothing`()
    async throws
  {
    let clock = ManualClock()
    var configuration = SQLiteStore.Configuration()
    configuration.clock = clock
    let store = try SQLiteStore(path: folder.store, configuration: configuration)
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
    let outputs = (0..<20).map { folder.url.appending(path: "out-\($0)").path }
    let processes = try outputs.map { try folder.start(["declare", folder.store], output: $0) }
    for process in processes { #expect(await process.ended() == .exited(0)) }
    let words = try outputs.flatMap { try String(contentsOfFile: $0, encoding: .utf8).split(separator: "\n") }
    #expect(words.count == 2000)
    #expect(words.filter { $0 == "added" }.count == 1)
    #expect(words.filter { $0 == "unchanged" }.count == 1999)
    let store = try SQLiteStore(path: folder.store)
    #expect(try await store.counts(where: .all).total == 1)
    await store.close()
  }
}
