import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@Suite struct SnapshotProviderTests {
  /// The one of docs/articles.md.
  struct PropertyListProvider: SnapshotProvider {
    let file: URL
    private var entries: [String: Data] = [:]

    init(file: URL) { self.file = file }

    mutating func load() throws -> [String: Data] {
      if FileManager.default.fileExists(atPath: file.path) {
        entries = try PropertyListDecoder().decode([String: Data].self, from: Data(contentsOf: file))
      }
      return entries
    }

    mutating func save(_ changed: [String: Data]) throws {
      try write(entries.merging(changed) { $1 })
    }

    mutating func remove(_ names: [String]) throws {
      try write(entries.filter { !names.contains($0.key) })
    }

    /// In one step, so that no crash leaves half of it.
    private mutating func write(_ new: [String: Data]) throws {
      let encoder = PropertyListEncoder()
      encoder.outputFormat = .binary
      try encoder.encode(new).write(to: file, options: .atomic)
      entries = new
    }
  }

  /// A dictionary that outlives its store, and may refuse.
  final class Shelf: SnapshotProvider, Sendable {
    struct Full: Error {}
    let entries = Lock<[String: Data]>([:])
    let isFull = Lock(false)
    /// The next call stores what it is given, and throws.
    let breaks = Lock(false)

    func load() throws -> [String: Data] { entries.withLock { $0 } }

    func save(_ changed: [String: Data]) throws {
      if isFull.withLock({ $0 }) { throw Full() }
      entries.withLock { $0.merge(changed) { $1 } }
      if breaks.exchange(false) { throw Full() }
    }

    func remove(_ names: [String]) throws {
      if isFull.withLock({ $0 }) { throw Full() }
      entries.withLock { entries in for name in names { entries[name] = nil } }
    }
  }

  private let clock = ManualClock()
  private let shelf = Shelf()

  private func store() throws -> InMemoryStore { try InMemoryStore(provider: shelf, clock: clock) }

  private struct Fetch: JobPayload {
    typealias Output = String
    var page: Int
    static let kind = "fetch"
  }

  private struct Bind: JobPayload {
    @JobInput var page: String
    static let kind = "bind"
  }

  @Test func `A property list keeps jobs over a store's life`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "durable-\(UUID().uuidString.prefix(8)).plist")
    defer { try? FileManager.default.removeItem(at: file) }
    let first = JobQueue(store: try InMemoryStore(provider: PropertyListProvider(file: file)))
    try await first.enqueue(kind: "a", payload: Data("{}".utf8), options: JobOptions(key: "k", tags: ["t"]))
    try await first.pause()

    let second = JobQueue(store: try InMemoryStore(provider: PropertyListProvider(file: file)))
    let job = try await second.job(JobID(rawValue: 1))
    #expect((job.kind, job.key, job.tags, job.payload) == ("a", "k", ["t"], Data("{}".utf8)))
    #expect(try await second.store.settings() == [.queue("default", isPaused: true)])
  }

  @Test func `C1 C19 What ran when the process ended goes back, its attempt given back and a crash counted`()
    async throws
  {
    let queue = JobQueue(store: try store())
    let id = try await queue.enqueue(kind: "a", payload: Data())
    let claimed = try await queue.store.claim(
      ClaimRequest(worker: WorkerID("w"), kinds: ["a"], free: ["default": 1])
    ).jobs
    #expect(claimed.count == 1)

    let reopened = try store()
    let job = try await JobQueue(store: reopened).job(id)
    #expect((job.state, job.attempt, job.crashes) == (.ready, 0, 1))
    let late = ClaimSettlement(token: claimed[0].token, result: .succeeded(output: nil))
    #expect(try await reopened.settle([late], thenClaim: nil).replies[0].isAccepted == false)
    let again = try await reopened.claim(ClaimRequest(worker: WorkerID("v"), kinds: ["a"], free: ["default": 1])).jobs
    #expect(again.map(\.token.job) == [id])
    #expect(again[0].token != claimed[0].token)
  }

  @Test func `Jobs that wait for jobs, lanes, unique keys and keys that are to come outlive it too`() async throws {
    let first = JobQueue(store: try store())
    let page = try await first.enqueue(Fetch(page: 1), options: JobOptions(unique: UniqueKey("page")))
    let bind = try await first.enqueue(Bind(page: page.output))
    let late = try await first.enqueue(kind: "late", payload: Data(), after: [.key("to-come")])
    let lane = JobOptions(lane: "lane")
    let head = try await first.enqueue(kind: "in-lane", payload: Data(), options: lane)
    let tail = try await first.enqueue(kind: "in-lane", payload: Data(), options: lane)
    try await first.setWidth(of: "other", to: 3)

    let second = JobQueue(store: try store())
    let states = try await second.jobs().map(\.state)
    #expect(states == [.ready, .blocked, .blocked, .ready, .blocked])
    #expect(try await second.enqueue(Fetch(page: 2), options: JobOptions(unique: UniqueKey("page"))).id == page.id)
    try await second.handle(page.id, as: Fetch.self).complete(with: "text")
    try await second.complete(head)
    try await second.complete(second.enqueue(kind: "early", payload: Data(), options: JobOptions(key: "to-come")))

    let third = JobQueue(store: try store())
    #expect(try await third.jobs(where: .state(.ready)).map(\.id) == [bind.id, late, tail])
    #expect(try await third.store.settings() == [.lane("other", width: 3)])
    let worker = JobWorker(third)
    let bound = Lock("")
    worker.register(Bind.self) { job, _ in bound.withLock { $0 = job.page } }
    for kind in ["late", "in-lane"] { worker.register(kind: kind) { _, _ in nil } }
    try await worker.runUntilIdle()
    #expect(bound.withLock { $0 } == "text")
    #expect(try await third.counts() == JobCounts([.succeeded: 6]))
  }

  @Test func `C71 What the provider refuses does not hold, and the next call that it takes does`() async throws {
    let queue = JobQueue(store: try store())
    let first = try await queue.enqueue(kind: "a", payload: Data())
    shelf.isFull.withLock { $0 = true }
    await #expect(throws: Shelf.Full.self) { try await queue.enqueue(kind: "b", payload: Data()) }
    await #expect(throws: Shelf.Full.self) { try await queue.cancel(first) }
    await #expect(throws: Shelf.Full.self) { try await queue.remove(first) }
    #expect(try await queue.counts() == JobCounts([.ready: 1]))
    shelf.isFull.withLock { $0 = false }
    let second = try await queue.enqueue(kind: "b", payload: Data())
    #expect(second == JobID(rawValue: 2))
    #expect(try await JobQueue(store: store()).counts() == JobCounts([.ready: 2]))
  }

  @Test func `What the provider stored of a call that it then refused is put right with the next one`() async throws {
    let queue = JobQueue(store: try store())
    shelf.breaks.withLock { $0 = true }
    await #expect(throws: Shelf.Full.self) { try await queue.pause() }
    #expect(try await !queue.isPaused)
    try await queue.enqueue(kind: "a", payload: Data())
    #expect(try await JobQueue(store: store()).isPaused == false)
  }

  /// Stores entry after entry, and remembers what was there after each: what a process leaves that is killed then.
  final class SlowShelf: SnapshotProvider, Sendable {
    let isBackwards: Bool
    let moments: Lock<[[String: Data]]>

    init(_ content: [String: Data] = [:], isBackwards: Bool) {
      (self.isBackwards, moments) = (isBackwards, Lock([content]))
    }

    func load() -> [String: Data] { moments.withLock { $0.last! } }
    func save(_ changed: [String: Data]) { change(Array(changed.keys)) { changed[$0] } }
    func remove(_ names: [String]) { change(names) { _ in nil } }

    private func change(_ names: [String], _ data: (String) -> Data?) {
      moments.withLock { moments in
        for name in names.sorted(by: isBackwards ? { $0 > $1 } : { $0 < $1 }) {
          var next = moments.last!
          next[name] = data(name)
          moments.append(next)
        }
      }
    }
  }

  @Test("C1 Killed between any two entries, a store holds all of a call or nothing", arguments: [false, true])
  func tornCalls(isBackwards: Bool) async throws {
    func open(_ shelf: SlowShelf, _ ran: Lock<[String]>) throws -> (queue: JobQueue, worker: JobWorker) {
      let queue = JobQueue(store: try InMemoryStore(provider: shelf))
      let worker = JobWorker(queue, maxConcurrentJobs: 1)
      worker.register(Fetch.self) { job, _ in
        ran.withLock { $0.append("fetch") }
        return "page \(job.page)"
      }
      worker.register(Bind.self) { job, _ in ran.withLock { $0.append("bind \(job.page)") } }
      for kind in ["head", "tail", "done"] {
        worker.register(kind: kind) { _, _ in
          ran.withLock { $0.append(kind) }
          return nil
        }
      }
      return (queue, worker)
    }
    func job(_ kind: String, _ terms: JobTerms = JobTerms()) -> NewJob {
      NewJob(queue: "default", kind: kind, payload: Data(), terms: terms)
    }
    let whole = SlowShelf(isBackwards: isBackwards)
    let (queue, first) = try open(whole, Lock([]))
    let jobs = ["head", "tail"].map { job($0, JobTerms(lane: "lane")) }
    _ = try await queue.store.insert(JobInsertion(jobs, batch: .new(name: "b", whenDone: job("done"))))
    var plan = JobPlan()
    let fetch = plan.add(Fetch(page: 1))
    plan.add(Bind(page: fetch.output))
    try await queue.enqueue(plan)
    let stored = whole.moments.withLock { $0.count }
    try await first.runUntilIdle()

    for (index, moment) in whole.moments.withLock({ $0 }).enumerated() {
      let ran = Lock<[String]>([])
      let again = try open(SlowShelf(moment, isBackwards: isBackwards), ran)
      try await again.worker.runUntilIdle()
      let ends = try await again.queue.jobs().map { "\($0.kind) \($0.state)" }.sorted()
      let batch = ["done succeeded", "head succeeded", "tail succeeded"]
      let plan = ["bind succeeded", "fetch succeeded"]
      #expect([[], batch, (batch + plan).sorted()].contains(ends), "moment \(index) of \(stored)")
      #expect(index < stored - 1 || ends.count == 5, "moment \(index)")
      let order = ran.withLock { $0 }
      for (before, after) in [("fetch", "bind page 1"), ("head", "tail"), ("tail", "done")] {
        let late = order.drop { $0 != after }.dropFirst()
        #expect(!late.contains(before), "moment \(index): \(order)")
      }
    }
  }

  @Test func `What was refused is not completed after what came later`() async throws {
    let queue = JobQueue(store: try store())
    shelf.breaks.withLock { $0 = true }
    await #expect(throws: Shelf.Full.self) { try await queue.enqueue(kind: "a", payload: Data()) }
    let id = try await queue.enqueue(kind: "b", payload: Data())
    try await queue.setPriority(.high, of: id)
    let again = JobQueue(store: try store())
    #expect(try await again.jobs().map(\.kind) == ["b"])
    #expect(try await again.job(id).priority == .high)
  }

  @Test func `An id is never used again, and removed jobs are gone`() async throws {
    let queue = JobQueue(store: try store())
    try await queue.remove(queue.enqueue(kind: "a", payload: Data()))
    #expect(shelf.entries.withLock { $0.keys.sorted() } == ["store"])
    #expect(try await JobQueue(store: store()).enqueue(kind: "a", payload: Data()) == JobID(rawValue: 2))
  }

  @Test func `C7 A damaged entry is told, left as it is, and others go on`() async throws {
    let queue = JobQueue(store: try store())
    let ids = [
      try await queue.enqueue(kind: "a", payload: Data()), try await queue.enqueue(kind: "a", payload: Data()),
    ]
    let damage = Data("?".utf8)
    shelf.entries.withLock { $0["job-2"] = damage }
    let reopened = try store()
    #expect(try await reopened.recover(RecoveryRequest()).unreadable == [ids[1]])
    #expect(try await reopened.recover(RecoveryRequest()).unreadable == [])
    #expect(try await reopened.jobs(JobQuery()).map(\.id) == [ids[0]])
    try await JobQueue(store: reopened).enqueue(kind: "a", payload: Data())
    #expect(shelf.entries.withLock { $0["job-2"] } == damage)
  }

  @Test(arguments: ["{", "{}", #"{"lastJob":"9"}"#])
  func `C7 Without what is paused, a store is not opened, and nothing is changed`(damage: String) async throws {
    let queue = JobQueue(store: try store())
    try await queue.enqueue(kind: "a", payload: Data())
    try await queue.pause()
    let before = shelf.entries.withLock { entries in
      entries["store"] = Data(damage.utf8)
      return entries
    }
    let error = #expect(throws: JobError.self) { try store() }
    #expect(error?.code == .notDecodable)
    #expect(error?.message.hasPrefix("the provider's entry 'store' can't be read: ") == true)
    #expect(shelf.entries.withLock { $0 } == before)
  }

  // MARK: As any store

  /// Stores on shelves, each of which can be made again.
  private final class Shelves: Sendable {
    typealias Place = (shelf: Shelf, policy: StorePolicy, clock: ManualClock, store: InMemoryStore)
    private let places = Lock<[ObjectIdentifier: Place]>([:])
    var last: Place? { places.withLock { $0.values.first } }

    func open(_ shelf: Shelf, _ policy: StorePolicy, _ clock: ManualClock) throws -> InMemoryStore {
      let store = try InMemoryStore(provider: shelf, policy: policy, clock: clock)
      places.withLock { $0[ObjectIdentifier(store)] = (shelf, policy, clock, store) }
      return store
    }

    var subject: StoreUnderTest {
      StoreUnderTest { policy in
        let clock = ManualClock()
        return (try self.open(Shelf(), policy, clock), clock)
      } reopen: { store in
        guard let place = self.places.withLock({ $0[ObjectIdentifier(store)] }) else { return store }
        return try self.open(place.shelf, place.policy, place.clock)
      }
    }
  }

  @Test("A store in memory with a provider does what every store has to", arguments: StoreConformance.cases)
  func conformance(conformanceCase: StoreConformance.Case) async throws {
    try await conformanceCase.run(Shelves().subject)
  }

  @Test("After a random life, what the provider has makes the store that it came from", arguments: 1...40)
  func randomLives(seed: Int) async throws {
    let shelves = Shelves()
    try await RandomHistory(seed: UInt64(seed)).run(shelves.subject)
    let (shelf, policy, clock, store) = try #require(shelves.last)
    _ = try await store.change(.reset, where: .state(.running), after: nil, limit: .max)
    // One whose deadline has passed can't be reset while it runs.
    _ = try await store.change(.fail(message: "", code: nil), where: .state(.running), after: nil, limit: .max)
    let again = try InMemoryStore(provider: shelf, policy: policy, clock: clock)
    let everything = JobQuery(detail: .all, limit: .max)
    #expect(try await again.jobs(everything) == store.jobs(everything))
    #expect(try await again.settings() == store.settings())
  }
}
