import DurableJobs
import Testing

@testable import DurableJobsSQLite

@Suite struct StatementCountTests {
  let folder: StoreFolder
  let store: SQLiteStore

  init() throws {
    folder = try StoreFolder()
    store = try folder.store()
  }

  private func insert(_ count: Int) async throws {
    _ = try await store.insert(JobInsertion((0..<count).map { _ in .plain() }))
  }

  @Test func `At 100 a commit, a job costs 2.03 statements to enqueue, and alone five`() async throws {
    try await insert(1)
    // BEGIN, COMMIT and the counts of its route beside its two rows.
    for (count, runs) in [(100, 203), (1, 5)] {
      let (work, _) = try await store.work { try await insert(count) }
      #expect((work.runs, work.commits) == (runs, 1))
    }
  }

  @Test func `At 100 a commit, a job costs 2.07 statements to settle and claim, in one transaction`()
    async throws
  {
    try await insert(300)
    let first = try await store.claim(.of(100))
    let (work, second) = try await store.work {
      try await store.settle(first.jobs.map { $0.settled() }, thenClaim: .of(100))
    }
    #expect(second.replies.filter { !$0.isAccepted }.isEmpty)
    #expect(second.claimed?.jobs.count == 100)
    #expect((work.runs, work.commits) == (207, 1))
  }

  @Test func `A claim of 100 from ten full routes reads little more than from one`() async throws {
    try await insert(200)
    let (one, _) = try await store.work { try await store.claim(.of(100)) }
    let kinds = (0..<10).map { "kind\($0)" }
    for kind in kinds { _ = try await store.insert(JobInsertion((0..<200).map { _ in .plain(kind) })) }
    _ = try await store.claim(.of(1, kinds: Set(kinds)))
    let (ten, batch) = try await store.work { try await store.claim(.of(100, kinds: Set(kinds))) }
    #expect(batch.jobs.count == 100)
    // Nine routes more to look into, and not nine times as many rows.
    #expect(Double(ten.steps) < Double(one.steps) * 1.2)
  }

  @Test func `A limit of running jobs costs its queue one statement a claim, a rate one more, and other queues none`()
    async throws
  {
    func runs(_ limits: JobLimits?, of queue: String) async throws -> Int {
      try await store.configure([.limits(queue: queue, limits)])
      _ = try await store.claim(.of(1))  // which reads them
      try await insert(10)
      let (work, batch) = try await store.work { try await store.claim(.of(10)) }
      #expect(batch.jobs.count == 10)
      return work.runs
    }
    try await insert(1)
    let free = try await runs(nil, of: "default")
    #expect(try await runs(JobLimits(running: 1000), of: "other") == free)
    #expect(try await runs(JobLimits(running: 1000), of: "default") == free + 1)
    let rate = JobRate(1_000_000, per: .seconds(1), burst: 1000)
    #expect(try await runs(JobLimits(running: 1000, rate: rate), of: "default") == free + 2)
    #expect(try await runs(nil, of: "default") == free)
  }

  @Test func `Limits that are set as they are change nothing`() async throws {
    let limits = JobLimits(running: 4, rate: JobRate(1, per: .seconds(1)))
    let set = { [store] in try await store.configure([.limits(queue: "q", limits), .limits(queue: "p", nil)]) }
    func changes() async throws -> [Int64] {
      try await store.numbers("SELECT changes+(SELECT count(*) FROM durable_queue) FROM durable_meta")
    }
    try await set()
    let before = try await changes()
    try await set()
    #expect(try await changes() == before)
    #expect(try await store.numbers("SELECT count(*) FROM durable_queue") == [1])
  }

  @Test func `A heartbeat writes one row and reads once what runs, however many jobs are held`() async throws {
    try await insert(100)
    let jobs = try await store.claim(.of(100)).jobs
    let renewals = jobs.map { ClaimRenewal(token: $0.token) }
    let (work, standings) = try await store.work {
      try await store.renew(RenewalRequest(worker: "w", renewals: renewals))
    }
    #expect(standings == jobs.map { _ in .held })
    #expect(work.runs == 4)  // BEGIN, the worker's row, what runs of its one route, COMMIT
  }

  @Test func `Claims that were lost are forgotten with the next heartbeat`() async throws {
    try await insert(100)
    let jobs = try await store.claim(.of(100)).jobs
    /// How many are still held.
    func renew() async throws -> Int {
      try await store.renew(RenewalRequest(worker: "w", renewals: jobs.map { ClaimRenewal(token: $0.token) }))
        .count { $0 == .held }
    }
    func held() async throws -> Int { try await store.onWriter { $0.memory.held.count } }
    #expect(try await held() == 100)
    try await store.execute("DELETE FROM durable_job WHERE id<=40")
    try await store.execute("UPDATE durable_job SET claim=claim+1 WHERE id>90")
    #expect(try await renew() == 50)
    #expect(try await held() == 50)
    try await store.execute("UPDATE durable_worker SET lease_until=-1")  // as who recovers its jobs does
    #expect(try await renew() == 0)
    #expect(try await held() == 0)
    let (work, _) = try await store.work { try await store.renew(RenewalRequest(worker: "w", renewals: [])) }
    #expect(work.runs == 2)  // BEGIN and COMMIT
  }

  @Test func `An idle sweep writes nothing`() async throws {
    try await insert(10)
    _ = try await store.claim(.of(1))
    _ = try await store.recover(RecoveryRequest(worker: "w"))
    let (work, report) = try await store.work { try await store.recover(RecoveryRequest(worker: "w")) }
    #expect(report == RecoveryReport())
    #expect(work.runs == 0)
  }
}
