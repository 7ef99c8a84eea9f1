import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

/// Transactions of an app's own in processes that are killed, or that are others.
@Suite struct TransactionKillTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  private func rows(_ path: String) async throws -> (deeds: [Int64], jobs: [JobSnapshot]) {
    let store = try SQLiteStore(path: path)
    let deeds = try await store.numbers("SELECT id FROM deed ORDER BY id")
    let jobs = try await store.jobs(JobQuery(limit: .max))
    await store.close()
    return (deeds, jobs)
  }

  @Test func `C45 A process that is killed before the COMMIT leaves neither row nor job, and after it both`()
    async throws
  {
    let path = folder.path("killed.sqlite")
    for (last, expected) in [("written", [Int64]()), ("committed", [7])] {
      let probe = try ProcessProbe("transact", path)
      try probe.tell("write 7")
      try await probe.hear("written")
      if last == "committed" { _ = try await probe.ask("go", hear: "committed") }
      probe.send(SIGKILL)
      await #expect(throws: ProcessProbe.Ended.self) { try await probe.hear("nothing") }
      let (deeds, jobs) = try await rows(path)
      #expect(deeds == expected)
      #expect(jobs.map(\.key) == expected.map { "\($0)" })
    }
    for (last, state) in [("written", JobState.ready), ("committed", .succeeded)] {
      let probe = try ProcessProbe("transact", path)
      try probe.tell("complete")
      try await probe.hear("written")
      if last == "committed" { _ = try await probe.ask("go", hear: "committed") }
      probe.send(SIGKILL)
      await #expect(throws: ProcessProbe.Ended.self) { try await probe.hear("nothing") }
      let (deeds, jobs) = try await rows(path)
      #expect(deeds == (state == .succeeded ? [1, 7] : [7]))
      #expect(jobs.map { $0.state == .running ? .ready : $0.state } == [state])
    }
  }

  @Test func `What another process commits is an event of this one's queue, and can be read then`() async throws {
    let path = folder.path("shared.sqlite")
    let queue = JobQueue(store: try SQLiteStore(path: path))
    let probe = try ProcessProbe("transact", path)
    _ = try await probe.ask("write 7", hear: "written")
    var events = queue.events.makeAsyncIterator()
    try probe.tell("go")
    #expect(await events.next() == .changedElsewhere)
    #expect(try await queue.jobs(where: .all).map(\.key) == ["7"])
    await queue.store.close()
  }

  @Test func `Whenever a process is killed, the rows that it wrote are those of its jobs`() async throws {
    for _ in 1...5 {
      let path = folder.path("\(UUID().uuidString).sqlite")
      let probe = try ProcessProbe("transact", path)
      try probe.tell("flood")
      var last = 0
      for _ in 1...Int.random(in: 1...200) { last = Int(try await probe.hear("committed")[0])! }
      probe.send(SIGKILL)
      await #expect(throws: ProcessProbe.Ended.self) { try await probe.hear("nothing") }
      let (deeds, jobs) = try await rows(path)
      #expect(deeds.count >= last, "what was committed is there")
      #expect(jobs.compactMap { $0.key.flatMap(Int64.init) } == deeds)
    }
  }
}
