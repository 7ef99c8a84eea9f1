import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobs

/// What who watches gets, and what that costs. Time stands still but for what a test says.
@Suite struct SnapshotTests {
  struct Note: JobPayload, Equatable {
    static let kind = "note"
    var text: String
  }

  let clock = ManualClock()
  let store: FaultyStore
  let queue: JobQueue
  let pause = Duration.milliseconds(100)

  init() {
    store = FaultyStore(InMemoryStore(clock: clock))
    queue = JobQueue(store: store)
  }

  private func enqueue(_ kind: String = "k") async throws -> JobID {
    try await queue.enqueue(kind: kind, payload: Data())
  }

  /// Looks so far.
  private var looks: Int { store.calls(of: .jobs) }

  private func untilLooked(_ count: Int) async { while looks < count { await Task.yield() } }

  @Test func `The value comes at once, and then each that is another, and none twice in a row`() async throws {
    let first = try await enqueue()
    var iterator = queue.snapshots().makeAsyncIterator()
    #expect(try await iterator.next()?.map(\.id) == [first])
    clock.advance(by: pause)
    store.signals.post(.changedElsewhere(.results))
    let reading = Task { [iterator] in
      var iterator = iterator
      return try await iterator.next()?.map(\.id)
    }
    await untilLooked(2)
    await clock.timerScheduled(within: Defaults.sweepInterval)  // it found nothing new, and waits
    clock.advance(by: pause)
    let second = try await enqueue()
    #expect(try await reading.value == [first, second])
    #expect(looks == 3)
  }

  @Test func `Of a second with a thousand commits, at most eleven values are read, and the last is never missed`()
    async throws
  {
    let id = try await enqueue()
    let seen = Lock<[Double]>([])
    let reading = Task { [queue] in
      for try await jobs in queue.snapshots() { seen.withLock { $0.append(jobs[0].progress?.fraction ?? 0) } }
    }
    await untilLooked(1)
    for number in 1...1000 {
      try await queue.report(id, progress: Double(number) / 1000)
      clock.advance(by: .milliseconds(1))
      await Task.yield()
    }
    #expect(looks <= 11)
    while seen.withLock({ $0.last }) != 1 {
      clock.advance(by: pause)
      await Task.yield()
    }
    #expect(seen.withLock { $0 == $0.sorted() && Set($0).count == $0.count })
    reading.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
  }

  @Test func `A hundred watchers of one query share each look`() async throws {
    _ = try await enqueue()
    func round(_ iterators: [JobSnapshots<[JobSnapshot]>.Iterator]) async throws
      -> [JobSnapshots<[JobSnapshot]>.Iterator]
    {
      try await withThrowingTaskGroup { group in
        for iterator in iterators {
          group.addTask {
            var iterator = iterator
            _ = try #require(try await iterator.next())
            return iterator
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
    }
    var iterators = (1...100).map { _ in queue.snapshots(where: .kind("k")).makeAsyncIterator() }
    iterators = try await round(iterators)
    #expect(looks == 1)
    _ = try await enqueue()
    clock.advance(by: pause)
    iterators = try await round(iterators)
    #expect(looks == 2)
    iterators = []
    while store.signals.hasListeners { await Task.yield() }  // the last look may not have let go yet
  }

  @Test func `What can't concern a query, and what happens while nobody waits, costs no look`() async throws {
    var iterator = queue.snapshots(where: .kind("k")).makeAsyncIterator()
    #expect(try await iterator.next() == [])
    for _ in 1...10 {
      clock.advance(by: pause)
      _ = try await enqueue()
    }
    #expect(looks == 1)
    #expect(try await iterator.next()?.count == 10)
    #expect(looks == 2)
    let reading = Task { [iterator] in
      var iterator = iterator
      return try await iterator.next()?.count
    }
    await clock.timerScheduled(within: Defaults.sweepInterval)
    clock.advance(by: pause)
    _ = try await enqueue("other")
    try await JobQueue("other", store: store).enqueue(kind: "k", payload: Data())
    _ = try await enqueue()
    #expect(try await reading.value == 11)
    #expect(looks == 3)
  }

  @Test func `Should every signal be lost, a sweep finds what is new`() async throws {
    let store = FaultyStore(InMemoryStore(clock: clock), fault: .noSignals)
    let queue = JobQueue(store: store)
    var iterator = queue.countSnapshots().makeAsyncIterator()
    #expect(try await iterator.next() == JobCounts())
    let reading = Task { [iterator] in
      var iterator = iterator
      return try await iterator.next()
    }
    await clock.timerScheduled(within: Defaults.sweepInterval)
    try await queue.enqueue(kind: "k", payload: Data())
    clock.advance(by: Defaults.sweepInterval)
    #expect(try await reading.value == JobCounts([.ready: 1]))
  }

  @Test func `What the store throws ends the sequence, and who comes later gets the value`() async throws {
    store.fail(.jobs, with: JobError(.damaged, "the file is damaged"))
    var iterator = queue.snapshots().makeAsyncIterator()
    await #expect { try await iterator.next() } throws: { ($0 as? JobError)?.code == .damaged }
    #expect(try await iterator.next() == nil)
    clock.advance(by: pause)
    var next = queue.snapshots().makeAsyncIterator()
    #expect(try await next.next() == [])
  }

  @Test func `Who is cancelled troubles nobody who watches the same`() async throws {
    var iterator = queue.snapshots().makeAsyncIterator()
    _ = try await iterator.next()
    let (cancelled, reading) = (watch(iterator), watch(iterator))
    await clock.timerScheduled()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    clock.advance(by: pause)
    let id = try await enqueue()
    #expect(try await reading.value == [id])
  }

  private func watch(_ iterator: JobSnapshots<[JobSnapshot]>.Iterator) -> Task<[JobID]?, any Error> {
    Task {
      var iterator = iterator
      return try await iterator.next()?.map(\.id)
    }
  }

  @Test func `Jobs of one kind come with their payloads, and those that do not decode are left out`() async throws {
    var iterator = queue.snapshots(of: Note.self, order: .newestFirst, limit: 2).makeAsyncIterator()
    #expect(try await iterator.next() == [])
    for text in ["a", "b", "c"] { try await queue.enqueue(Note(text: text)) }
    try await queue.enqueue(kind: Note.kind, payload: Data("no JSON".utf8))
    clock.advance(by: pause)
    let notes = try #require(try await iterator.next())
    #expect(notes.map(\.payload) == [Note(text: "c")])
    #expect(notes.map(\.id) == [JobID(rawValue: 3)])
  }

  @Test func `A job is told until it has ended, and that it was removed`() async throws {
    let (job, other) = (try await queue.enqueue(Note(text: "a")), try await queue.enqueue(Note(text: "b")))
    var (told, removed) = (job.snapshots.makeAsyncIterator(), other.snapshots.makeAsyncIterator())
    #expect(try await told.next()?.state == .ready)
    #expect(try await removed.next()?.state == .ready)
    try await job.report(progress: 0.5)
    clock.advance(by: pause)
    #expect(try await told.next()?.progress?.fraction == 0.5)
    try await job.fail(CancellationError())
    clock.advance(by: pause)
    #expect(try await told.next()?.state == .failed)
    #expect(try await told.next() == nil)
    try await queue.remove(other.id)
    clock.advance(by: pause)
    await #expect { try await removed.next() } throws: { ($0 as? JobError)?.code == .notFound }
  }

  @Test func `A batch that is done is heard of by who waits, however time stands`() async throws {
    let batch = try await queue.enqueueBatch("notes", contentsOf: [Note(text: "a"), Note(text: "b")])
    async let done = batch.waitUntilDone()
    while !store.signals.hasListeners { await Task.yield() }
    let looks = looks
    for id in 1...2 { try await queue.complete(JobID(rawValue: Int64(id))) }
    #expect(try await done.batch.succeeded == 2)
    #expect(self.looks == looks, "no member is read")
  }
}
