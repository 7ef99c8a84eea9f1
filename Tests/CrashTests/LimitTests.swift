import DurableJobs
import DurableJobsSQLite
import Foundation
import TestProcesses
import Testing

/// Limits that hold over processes, some of which are killed.
@Suite(.serialized) struct LimitTests {
  private let path: String
  private let store: SQLiteStore

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "limits-\(UUID().uuidString).sqlite").path
    store = try SQLiteStore(path: path)
  }

  private func work(_ words: String...) throws -> ChildProcess {
    try ChildProcess(URL.built("CrashProbe").path, ["work", path, path + "-record"] + words)
  }

  private func counts() async throws -> JobCounts {
    let counts = try await store.counts(where: .all)
    #expect(counts[.running] <= 4)
    return counts
  }

  @Test func `A killed worker's places are free again, no more than the limit run at any time, and all jobs end`()
    async throws
  {
    try await store.configure([.limits(queue: "default", JobLimits(running: 4))])
    let jobs = (0..<400).map { _ in NewJob(queue: "default", kind: "lingers", payload: Data()) }
    _ = try await store.insert(JobInsertion(jobs))
    var workers = [try work()]
    // The one of them has all 4 when it is killed.
    while case let now = try await counts(), now[.running] < 4, now[.succeeded] < 380 {}
    for round in 0..<12 {
      let victim = workers.removeFirst()
      victim.send(SIGKILL)
      #expect(await victim.ended() == .killed(by: SIGKILL))
      while workers.count < 1 + round % 3 { workers.append(try work()) }
      let ended = try await counts()[.succeeded]
      while case let now = try await counts(), now[.running] < 4 || now[.succeeded] == ended, now[.succeeded] < 380 {}
    }
    while try await counts()[.succeeded] < 400 {}
    for worker in workers { worker.send(SIGKILL) }
    for worker in workers { _ = await worker.ended() }
    await store.close()
  }

  @Test func `Processes that are woken by signals alone take each place when it comes free elsewhere`() async throws {
    try await store.configure([.limits(queue: "default", JobLimits(running: 1))])
    let workers = [try work("by-signals"), try work("by-signals"), try work("by-signals")]
    let jobs = (0..<100).map { _ in NewJob(queue: "default", kind: "lingers", payload: Data()) }
    _ = try await store.insert(JobInsertion(jobs))
    while try await counts()[.succeeded] < 100 {}
    let finished = try await store.jobs(JobQuery(limit: 200))
    // One after the other: each began when the one before had ended.
    let times = finished.compactMap { job in
      job.startedAt.flatMap { start in job.finishedAt.map { (start: start, end: $0) } }
    }.sorted { $0.start < $1.start }
    for (one, next) in zip(times, times.dropFirst()) { #expect(one.end <= next.start) }
    for worker in workers { worker.send(SIGKILL) }
    for worker in workers { _ = await worker.ended() }
    await store.close()
  }

  @Test func `Whichever processes claim, no window has more starts than the rate and its burst`() async throws {
    let rate = JobRate(200, per: .seconds(1), burst: 5)
    try await store.configure([.limits(queue: "default", JobLimits(rate: rate))])
    let jobs = (0..<300).map { _ in NewJob(queue: "default", kind: "work", payload: Data()) }
    _ = try await store.insert(JobInsertion(jobs))
    var workers = try (0..<3).map { _ in try work() }
    for count in [50, 120, 200] {
      while try await store.counts(where: .all)[.succeeded] < count {}
      let victim = workers.removeFirst()
      victim.send(SIGKILL)
      _ = await victim.ended()
      workers.append(try work())
    }
    while try await store.counts(where: .all)[.succeeded] < 300 {}
    let starts = try await store.jobs(JobQuery(limit: 1000)).compactMap { $0.startedAt?.timeIntervalSince1970 }.sorted()
    #expect(starts.count == 300)
    for first in starts.indices {
      for last in starts.indices[first...] {
        let allowed = 5 + (starts[last] - starts[first]) * 200 + 0.000_1
        #expect(Double(last - first + 1) <= allowed)
      }
    }
    for worker in workers { worker.send(SIGKILL) }
    for worker in workers { _ = await worker.ended() }
    await store.close()
  }
}
