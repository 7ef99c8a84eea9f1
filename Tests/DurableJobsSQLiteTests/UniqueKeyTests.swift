import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite struct UniqueKeyTests {
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store()
  }

  private func insert(_ keys: some Sequence<String>) async throws -> [InsertedJob] {
    try await store.insert(JobInsertion(keys.map { .unique($0) })).jobs
  }

  private func held() async throws -> [Int64] { try await store.numbers("SELECT job FROM durable_uniq ORDER BY job") }

  // MARK: Cost

  @Test func `At 100 a commit, a job with a unique key costs at most 4.1 statements to enqueue, and 1.1 if it is held`()
    async throws
  {
    _ = try await insert(["first"])
    let keys = (0..<100).map { "u\($0)" }
    let (enqueue, new) = try await store.work { try await insert(keys) }
    #expect(enqueue.runs <= 410)
    #expect(new.filter { $0.disposition != .inserted }.isEmpty)
    let (again, old) = try await store.work { try await insert(keys) }
    #expect(again.runs <= 110)
    #expect(old.map(\.id) == new.map(\.id))
  }

  @Test func `At 100 a commit, it costs at most 3.1 statements to settle and claim, in one transaction`() async throws {
    _ = try await insert((0..<300).map { "u\($0)" })
    let first = try await store.claim(.of(100))
    let (work, second) = try await store.work {
      try await store.settle(first.jobs.map { $0.settled() }, thenClaim: .of(100))
    }
    #expect(second.claimed?.jobs.count == 100)
    #expect(work.runs <= 310)
    #expect(try await held().count == 200)
  }

  @Test func `It costs with 100,000 keys held what it costs with 1,000`() async throws {
    func steps(among size: Int) async throws -> Int {
      let store = try folder.store("\(size).sqlite")
      try await store.insert(.plain())
      try await store.execute(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT \(size))
        INSERT INTO durable_uniq SELECT 'v' || i,1,NULL FROM n
        """)
      let all: [NewJob] = (0..<100).map { .unique("u\($0)") } + (1...100).map { .unique("v\($0)") }
      let (enqueue, reply) = try await store.work { try await store.insert(JobInsertion(all)) }
      #expect(reply.jobs.filter { $0.disposition == .kept }.count == 100)
      let (release, _) = try await store.work {
        try await store.change(.cancel(reason: nil), where: .all, after: JobID(rawValue: 1), limit: 100)
      }
      await store.close()
      #expect(enqueue.scans + enqueue.sorts + release.scans + release.sorts == 0)
      return enqueue.steps + release.steps
    }
    let few = try await steps(among: 1_000)
    let many = try await steps(among: 100_000)
    #expect(few > 5_000)
    #expect(abs(Double(many) / Double(few) - 1) <= 0.01)
  }

  // MARK: What is left behind

  @Test func `The table knows the jobs that hold a key, and no other`() async throws {
    let ids = try await insert(["a", "b", "c", "d"]).map(\.id.rawValue) + store.insert(.plain()).map(\.rawValue)
    #expect(try await held() == Array(ids[...3]))
    let claimed = try await store.claim(.of(2)).jobs
    _ = try await store.settle(
      [claimed[0].settled(), claimed[1].settled(.failed(message: "no"))], thenClaim: nil)
    _ = try await store.change(.remove, where: .id(JobID(rawValue: ids[2])), after: nil, limit: 1)
    #expect(try await held() == [ids[3]])
    _ = try await store.change(.retry, where: .id(JobID(rawValue: ids[1])), after: nil, limit: 1)
    #expect(try await held() == [ids[1], ids[3]])
  }

  @Test(
    "C57 A key is free once its job is gone or has ended, also where the row that said which it was is damaged",
    arguments: [
      "DELETE FROM durable_job WHERE id=1", "UPDATE durable_job SET state=77 WHERE id=1",
      "UPDATE durable_spec SET options='{' WHERE id=1", "DELETE FROM durable_spec WHERE id=1",
    ])
  func damage(sql: String) async throws {
    _ = try await insert(["u"])
    try await store.insert(.plain())
    try await store.execute(sql)
    _ = try await store.claim(.of(1))  // sets a damaged job aside, which is not an end
    _ = try await store.change(.cancel(reason: nil), where: .id(JobID(rawValue: 1)), after: nil, limit: 1)
    let next = try await insert(["u"])[0]
    #expect(next.disposition == .inserted)
    #expect(try await insert(["u"]) == [InsertedJob(id: next.id, disposition: .kept)])
    #expect(try await held() == [next.id.rawValue])
  }

  @Test func `A damaged job that was set aside holds its key as any unfinished one`() async throws {
    let ids = try await insert(["u"]).map(\.id)
    try await store.execute("UPDATE durable_spec SET options='{' WHERE id=1")
    #expect(try await store.claim(.of(1)).jobs.isEmpty)
    #expect(try await insert(["u"]) == [InsertedJob(id: ids[0], disposition: .kept)])
  }

  // MARK: Processes

  @Test func `C44 Processes that enqueue under the same keys at once store one job for each, and all are told which`()
    async throws
  {
    let rounds = 50
    let probes = try (0..<4).map { _ in try ProcessProbe("unique", folder.path()) }
    for probe in probes { try await probe.hear("ready") }
    for probe in probes { try probe.tell("enqueue \(rounds)") }
    var stored = 0
    var answers: Set<[String]> = []
    for probe in probes {
      let words = try await probe.hear("enqueued")
      stored += try #require(Int(words[0]))
      answers.insert(Array(words.dropFirst()))
    }
    #expect(stored == rounds)
    #expect(answers.count == 1)
    #expect(answers.first?.compactMap(JobID.init) == (try await store.jobs(JobQuery()).map(\.id)))
    #expect(try await store.counts(where: .all) == JobCounts([.ready: rounds]))
  }
}
