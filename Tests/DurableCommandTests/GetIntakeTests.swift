#if Shell
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsSQLite
  import DurableJobsTesting
  import Foundation
  import TestProcesses
  import Testing

  @testable import durable

  @Suite("Downloads are taken into a store")
  struct GetIntakeTests {
    private let durable: Durable
    private let store: FaultyStore
    private let folder = URL(fileURLWithPath: "/tmp/downloads")

    init() throws {
      durable = try Durable()
      store = FaultyStore(try SQLiteStore(path: durable.store))
    }

    private func downloads(_ numbers: Range<Int>, overwriting: Bool = false) -> [Download] {
      numbers.map {
        Download(from: URL(string: "https://example.org/\($0)")!, to: folder, overwrites: overwriting)
      }
    }

    private func intake(_ queue: String = "default", isWaitedFor: Bool = true) async throws -> DownloadIntake {
      try await DownloadIntake(store, queue: queue, maxAttempts: nil, isWaitedFor: isWaitedFor)
    }

    private func take(_ downloads: [Download], _ intake: DownloadIntake) async throws -> [DownloadIntake.Entry] {
      var entries: [DownloadIntake.Entry] = []
      for page in downloads.pages(of: DownloadIntake.page) { entries += try await intake.take(page) }
      return entries
    }

    private func job(_ id: Int64, _ queue: String = "default") -> DownloadIntake.Entry {
      .job(JobID(rawValue: id), queue: queue)
    }

    @Test("a list that is in the store is joined with two calls for each page, whatever the number of its files")
    func joining() async throws {
      let list = downloads(0..<1200)
      let first = try await take(list, intake("nightly", isWaitedFor: false))
      #expect(first == (1...1200).map { job($0, "nightly") })
      let intake = try await intake()
      let before = (store.calls(of: .insert), store.calls(of: .jobs))
      // In another order, and with some that are new.
      let again = try await take(downloads(1200..<1250) + list.reversed(), intake)
      #expect(again == (1201...1250).map { job($0) } + (1...1200).reversed().map { job($0, "nightly") })
      let pages = again.pages(of: DownloadIntake.page).count
      #expect(pages < 5)
      #expect(store.calls(of: .insert) - before.0 == pages)
      #expect(store.calls(of: .jobs) - before.1 == pages)
      #expect(store.calls(of: .change) == 0)
    }

    @Test("what is new goes before what waits, also where that goes before all")
    func highestPriority() async throws {
      _ = try await take(downloads(0..<1), intake())
      _ = try await store.change(.setPriority(JobPriority(rawValue: .max)), where: .all, after: nil, limit: 1)
      _ = try await take(downloads(1..<2), intake())
      #expect(try await store.jobs(JobQuery(.id(JobID(rawValue: 2)), limit: 1))[0].priority.rawValue == 1_000_000)
    }

    @Test("those that were asked for with other options give way with a few calls, and what runs stays")
    func otherwise() async throws {
      let count = DownloadIntake.page
      let old = try await take(downloads(0..<count), intake())
      // By somebody who lives.
      let claimed = try await store.claim(
        ClaimRequest(worker: WorkerID("w"), kinds: [Download.kind], free: ["default": 1], lease: .seconds(600)))
      let running = try #require(claimed.jobs.first?.token.job)
      #expect(old.contains(.job(running, queue: "default")))
      let before = (store.calls(of: .insert), store.calls(of: .jobs), store.calls(of: .change))
      let new = try await intake().take(downloads(0..<count, overwriting: true)[...])
      #expect(new.count { $0 == .runsOtherwise(running) } == 1)
      #expect(Set(new).isDisjoint(with: old))
      #expect(store.calls(of: .insert) - before.0 == 2)
      #expect(store.calls(of: .jobs) - before.1 <= 5)
      #expect(store.calls(of: .change) - before.2 == 1)
      let counts = try await store.counts(where: .all)
      #expect(counts[.running] == 1)
      #expect(counts[.cancelled] == count - 1)
      #expect(counts[.ready] == count - 1)
    }

    @Test("one that another job waits for does not give way")
    func isNeeded() async throws {
      let old = try await take(downloads(0..<2), intake())
      let queue = JobQueue(store: store)
      let waiting = try await queue.enqueue(
        downloads(5..<6)[0], after: [queue.handle(JobID(rawValue: 2), as: Download.self)])
      let new = try await intake().take(downloads(0..<2, overwriting: true)[...])
      #expect(new == [job(4), .isNeededOtherwise(JobID(rawValue: 2), by: waiting.id)])
      #expect(try await store.jobs([JobID(rawValue: 1)], detail: [])[JobID(rawValue: 1)]?.state == .cancelled)
      #expect(try await store.jobs([waiting.id], detail: [])[waiting.id]?.state == .blocked)
      #expect(old == [job(1), job(2)])
    }

    @Test(
      "one that waits for another job than what is asked for gives way, and one that lacks what is asked for says so")
    func needsAnother() async throws {
      let needed = try await take(downloads(1..<3), intake()).compactMap(\.job)
      func after(_ id: JobID) async throws -> DownloadIntake.Entry? {
        try await DownloadIntake(
          store, queue: "default", maxAttempts: nil, after: [id.dependency], isWaitedFor: false
        ).take(downloads(0..<1)[...]).first
      }
      let first = try await after(needed[0])
      #expect(try await after(needed[0]) == first)
      let second = try #require(try await after(needed[1])?.job)
      #expect(second != first?.job)
      #expect(
        try await store.jobs([second], detail: .edges)[second]?.edges.map(\.target) == [.job(needed[1])])
      _ = try await JobQueue(store: store).openBatch("nightly")
      let joined = try await DownloadIntake(
        store, queue: "default", maxAttempts: nil, lane: "one", tags: ["new"], after: [needed[1].dependency],
        batch: "nightly", isWaitedFor: false
      ).take(downloads(0..<1)[...]).first
      #expect(
        joined
          == .job(
            second, queue: "default",
            lacks: [
              "it is not in the batch 'nightly'", "it is not in the lane 'one'", "it is not tagged 'new'",
            ]))
    }

    @Test("one that waits for another end of the same job gives way")
    func needsAnotherEnd() async throws {
      let needed = try #require(try await take(downloads(1..<2), intake()).first?.job)
      func after(_ dependency: JobDependency) async throws -> JobID? {
        try await DownloadIntake(
          store, queue: "default", maxAttempts: nil, after: [dependency], isWaitedFor: false
        ).take(downloads(0..<1)[...]).first?.job
      }
      let ifItFails = try await after(.failure(of: needed))
      #expect(try await after(.failure(of: needed)) == ifItFails)
      let ifItSucceeds = try #require(try await after(needed.dependency))
      #expect(ifItSucceeds != ifItFails)
      #expect(
        try await store.jobs([ifItSucceeds], detail: .edges)[ifItSucceeds]?.edges == [JobEdge(.job(needed))])
    }

    @Test("one that waits for a key is joined while that names the same job, or none, and else gives way")
    func needsKey() async throws {
      let queue = JobQueue(store: store)
      func after(_ dependency: JobDependency) async throws -> JobID? {
        try await DownloadIntake(
          store, queue: "default", maxAttempts: nil, after: [dependency], isWaitedFor: false
        ).take(downloads(0..<1)[...]).first?.job
      }
      let other = try await queue.enqueue(downloads(1..<2)[0])
      let one = try await after(other.dependency)
      let two = try await after(.key("night"))
      #expect(two != one)
      #expect(try await after(.key("night")) == two)
      #expect(try await after(.end(of: .key("night"))) != two)
      let three = try await after(.key("night"))
      let bringer = try await queue.enqueue(downloads(2..<3)[0], options: JobOptions(key: "night"))
      #expect(try await after(.key("night")) == three, "it waits for the job that has it by now")
      #expect(try await after(bringer.dependency) == three)
      let next = try await queue.enqueue(downloads(3..<4)[0], options: JobOptions(key: "night"))
      let four = try #require(try await after(.key("night")))
      #expect(try await store.jobs([four], detail: .edges)[four]?.edges == [JobEdge(.job(next.id))])
    }

    @Test("who waits for one that is joined hears which batch and tags it lacks, and its queue is no matter")
    func lacks() async throws {
      let first = try #require(try await take(downloads(0..<1), intake("nightly", isWaitedFor: false)).first?.job)
      _ = try await JobQueue(store: store).openBatch("b")
      let joined = try await DownloadIntake(
        store, queue: "default", maxAttempts: nil, tags: ["new"], batch: "b", isWaitedFor: true
      ).take(downloads(0..<1)[...]).first
      #expect(
        joined == .job(first, queue: "nightly", lacks: ["it is not in the batch 'b'", "it is not tagged 'new'"]))
    }

    @Test("a number of attempts that is given counts for what was asked for before, too, unless that runs")
    func attempts() async throws {
      func attempts(_ count: Int?) async throws -> Int? {
        let intake = try await DownloadIntake(store, queue: "default", maxAttempts: count, isWaitedFor: false)
        guard case .job(let id, _, _)? = try await intake.take(downloads(0..<1)[...]).first else { return nil }
        return try await store.jobs([id], detail: [])[id]?.maxAttempts
      }
      #expect(try await attempts(nil) == 20)
      #expect(try await attempts(3) == 3)
      #expect(try await attempts(nil) == 3)
      _ = try await store.claim(
        ClaimRequest(worker: WorkerID("w"), kinds: [Download.kind], free: ["default": 1], lease: .seconds(600)))
      #expect(try await attempts(5) == 3)
    }

    @Test("one that ends while it is joined counts if it was asked for with the same options, and only then")
    func endsMeanwhile() async throws {
      for overwriting in [false, true] {
        let joined = try #require(try await take(downloads(0..<1), intake()).first)
        let store = store
        let between = MeddledStore(store) { verb, count in
          guard verb == .jobs, count == 1 else { return }
          let claimed = try await store.claim(
            ClaimRequest(worker: WorkerID("w"), kinds: [Download.kind], free: ["default": 1], lease: .seconds(600)))
          _ = try await store.settle(
            claimed.jobs.map { ClaimSettlement(token: $0.token, result: .succeeded(output: nil)) }, thenClaim: nil)
        }
        let intake = try await DownloadIntake(between, queue: "default", maxAttempts: nil, isWaitedFor: false)
        let entry = try await intake.take(downloads(0..<1, overwriting: overwriting)[...]).first
        #expect((entry == joined) == !overwriting)
      }
    }

    @Test("one that somebody else puts in the place of what gave way is not joined either, with options of its own")
    func meetsAnother() async throws {
      _ = try await take(downloads(0..<1), intake())
      let store = store
      var other = downloads(0..<1)[0]
      other.skipsExisting = true
      let theirs = Lock<JobID?>(nil)
      let between = MeddledStore(store) { [other] verb, count in
        guard verb == .insert, count == 2 else { return }
        let id = try await JobQueue(store: store).enqueue(other).id
        theirs.withLock { $0 = id }
      }
      let intake = try await DownloadIntake(between, queue: "default", maxAttempts: nil, isWaitedFor: false)
      let entry = try #require(try await intake.take(downloads(0..<1, overwriting: true)[...]).first)
      guard case .job(let id, _, _) = entry else {
        Issue.record("\(entry)")
        return
      }
      let jobs = try await store.jobs([id], detail: .payload)
      #expect(jobs[id].flatMap { Download($0) } == downloads(0..<1, overwriting: true)[0])
      #expect(theirs.withLock { $0 } != nil)
    }

    @Test("what waits for a time or was suspended goes on where somebody waits for it, and stays where nobody does")
    func waking() async throws {
      let queue = JobQueue(store: store)
      let all = downloads(0..<DownloadIntake.page)
      try await queue.enqueue(
        contentsOf: Array(all.dropLast()), options: JobOptions(start: .after(.seconds(3600))))
      let last = try await queue.enqueue(all[all.count - 1])
      try await queue.suspend(last.id)
      _ = try await take(all, intake(isWaitedFor: false))
      #expect(try await queue.counts()[.ready] == 0)
      _ = try await take(all, intake())
      #expect(try await queue.counts()[.ready] == all.count)
      #expect(store.calls(of: .change) == 2)
    }

    @Test("what somebody waits for goes before what was asked for earlier")
    func priority() async throws {
      _ = try await take(downloads(0..<1), intake(isWaitedFor: false))
      _ = try await take(downloads(1..<2), intake())
      _ = try await take(downloads(2..<3), intake())
      let jobs = try await JobQueue(store: store).jobs()
      #expect(jobs.map(\.priority) == [0, 1000, 1001])
    }
  }

  /// A store that others use just before some of the calls that come to it.
  private final class MeddledStore: PassingStore {
    enum Verb { case insert, jobs }

    let base: any JobStore
    /// Before the call of that verb with that number, which begins with 1.
    private let meddle: @Sendable (Verb, Int) async throws -> Void
    private let calls = Lock<[Verb: Int]>([:])

    init(_ base: any JobStore, _ meddle: @escaping @Sendable (Verb, Int) async throws -> Void) {
      self.base = base
      self.meddle = meddle
    }

    private func comes(_ verb: Verb) async throws {
      try await meddle(
        verb,
        calls.withLock { calls in
          calls[verb, default: 0] += 1
          return calls[verb]!
        })
    }

    func insert(_ insertion: JobInsertion) async throws -> InsertionReply {
      try await comes(.insert)
      return try await base.insert(insertion)
    }

    func jobs(_ query: JobQuery) async throws -> [JobSnapshot] {
      try await comes(.jobs)
      return try await base.jobs(query)
    }
  }
#endif
