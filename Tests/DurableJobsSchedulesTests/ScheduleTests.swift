import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobsSchedules

struct Cleanup: Job, Equatable {
  static let kind = "cleanup"
  var days = 7
  func run(in context: JobContext) async throws {}
}

/// Schedules in a store in memory, by a clock that is moved by hand. It stands at 2027-01-15T08:00:00Z.
struct ScheduleTests {
  let jobs = TestJobs()
  var queue: JobQueue { jobs.queue }
  private let ran = Lock<[Date?]>([])

  init() {
    jobs.worker.register(JobSchedule.self)
    jobs.worker.register(Cleanup.self) { [ran] _, context in ran.withLock { $0.append(context.scheduledFor) } }
  }

  private func declare(
    _ text: String = "0 4 * * *", days: Int = 7, catchUp: CatchUp = .latest, options: JobOptions = JobOptions()
  ) async throws -> ScheduleDeclaration {
    try await queue.schedule(
      "nightly", .cron(text, timeZone: "Europe/Berlin"), Cleanup(days: days), catchUp: catchUp, options: options)
  }

  /// Of the jobs that ticks stored.
  private func ticks() async throws -> [String?] {
    try await queue.jobs(where: .kind(Cleanup.self), limit: 10_000).map(\.key)
  }

  @Test func `a tick stores one job, which knows when it was`() async throws {
    #expect(try await declare(options: JobOptions(priority: .low, tags: ["house"])) == .added)
    try await jobs.advance(by: .seconds(2 * 86_400))
    #expect(
      ran.withLock(\.self).compactMap(\.self).map(\.tickText) == ["2027-01-16T03:00:00Z", "2027-01-17T03:00:00Z"])
    // What has succeeded is kept for a day.
    let last = try #require(try await queue.jobs(where: .kind(Cleanup.self)).last)
    #expect((last.key, last.uniqueKey, last.priority) == ("nightly@2027-01-17T03:00:00Z", last.key, .low))
    #expect(last.tags == ["house", "schedule/nightly"])
  }

  @Test func `a schedule of another queue is that queue's to end and to pause`() async throws {
    _ = try await declare()
    let other = JobQueue("other", store: queue.store)
    #expect(try await !other.unschedule("nightly"))
    await #expect { try await other.pauseSchedule("nightly") } throws: { ($0 as? JobError)?.code == .notFound }
    #expect(try await queue.schedules().map(\.isPaused) == [false])
    try await queue.pauseSchedule("nightly")
    await #expect { try await other.resumeSchedule("nightly") } throws: { ($0 as? JobError)?.code == .notFound }
    #expect(try await queue.schedules().map(\.isPaused) == [true])
  }

  @Test func `a schedule lies ahead, so an idle queue is idle`() async throws {
    _ = try await declare()
    #expect(try await jobs.worker.runUntilIdle()[.scheduled] == 1)
  }

  @Test func `who waits until all jobs have ended does not wait for it, as it never ends`() async throws {
    _ = try await declare()
    #expect(try await queue.waitUntilFinished().unfinished == 0)
  }

  @Test func `what is done to many jobs leaves it alone, unless it is asked for`() async throws {
    _ = try await declare()
    let (id, all) = (try await queue.jobs(where: .all)[0].id, JobFilter.all)
    #expect(try await queue.cancelAll(where: all) == 0)
    #expect(try await queue.removeAll(where: !.state(.running)) == 0)
    #expect(try await queue.setStart(.now, where: .queue("default") && !.kind(Cleanup.self)) == 0)
    #expect(try await queue.completeAll(where: .tag("t") || .state(.scheduled)) == 0)
    #expect(try await queue.suspendAll(where: .kind("other") || .id(id)) == 1, "it has been named")
    #expect(try await (queue.resumeAll(), queue.resetAll()) == (0, 0), "it stays paused")
    #expect(try await queue.cancelAll(where: .kind(JobSchedule.self)) == 1)
    #expect(try await queue.retryAll(where: .state(.cancelled)) == 1)
  }

  @Test func `middleware stands around the jobs of ticks, and not around the schedule's own`() async throws {
    struct Seal: JobMiddleware {
      static let mark = Data("sealed".utf8)
      func enqueue(_ job: inout NewJob) { job.payload = Self.mark + job.payload }
      func run(
        _ job: ClaimedJob, context: JobContext, next: @Sendable (ClaimedJob, JobContext) async throws -> Data?
      ) async throws -> Data? {
        var job = job
        guard job.payload.starts(with: Self.mark) else { throw .suspend(because: "it is not sealed") }
        job.payload = job.payload.dropFirst(Self.mark.count)
        return try await next(job, context)
      }
    }
    let jobs = TestJobs(middleware: [Seal()])
    let days = Lock<[Int]>([])
    jobs.worker.register(JobSchedule.self)
    jobs.worker.register(Cleanup.self) { cleanup, _ in days.withLock { $0.append(cleanup.days) } }
    try await jobs.queue.schedule("often", .every(.seconds(60)), Cleanup(days: 3))
    try await jobs.advance(by: .seconds(150))
    #expect(days.withLock(\.self) == [3, 3])
  }

  @Test func `a second job of a tick is refused by its key, also after the first has ended`() async throws {
    _ = try await declare()
    try await jobs.advance(by: .seconds(86_400))
    let again = try await queue.enqueue(
      Cleanup(), options: JobOptions(unique: UniqueKey("nightly@2027-01-16T03:00:00Z")))
    #expect(!again.isNew)
  }

  @Test func `with a unique key of one's own, ticks that would overlap are one job`() async throws {
    _ = try await declare("*/15 * * * *", options: JobOptions(start: .after(.seconds(3600)), unique: "cleanup"))
    try await jobs.advance(by: .seconds(3500))
    #expect(try await ticks() == ["nightly@2027-01-15T08:15:00Z"])
  }

  @Test func `a tick that replaces those before stores the last alone`() async throws {
    let unique = UniqueKey("cleanup", policy: .replace)
    _ = try await declare("*/15 * * * *", catchUp: .all, options: JobOptions(unique: unique))
    jobs.clock.advance(by: .seconds(3600))
    try await jobs.drain()
    #expect(try await ticks() == ["nightly@2027-01-15T09:00:00Z"])
  }

  @Test func `a schedule goes on after 2000 ticks, each stored once and in order`() async throws {
    struct Unserved: JobPayload { static let kind = "unserved" }
    _ = try await queue.schedule("second", .every(.seconds(1)), Unserved(), catchUp: .all)
    jobs.clock.advance(by: .seconds(2500))
    try await jobs.drain()
    let start = Date(timeIntervalSince1970: 1_800_000_000)
    let keys = try await queue.jobs(where: .kind(Unserved.self), limit: 10_000).map(\.key)
    #expect(keys == (1...2500).map { "second@\((start + Double($0)).tickText)" })
  }

  @Test(arguments: [JobLimits(rate: JobRate(1, per: .seconds(6))), JobLimits(running: 1)])
  func `in a limited queue the schedule's own jobs take nothing from those of its ticks`(_ limits: JobLimits)
    async throws
  {
    try await queue.setLimits(limits)
    try await queue.schedule("often", .every(.seconds(6)), Cleanup(), catchUp: .all)
    try await jobs.advance(by: .seconds(60))
    #expect(ran.withLock(\.count) == 10)
  }

  @Test func `a tick whose job would stand behind what waits for it is left out, and the schedule goes on`()
    async throws
  {
    _ = try await declare("*/15 * * * *", catchUp: .all, options: JobOptions(lane: "l"))
    let tick = JobDependency.key("nightly@2027-01-15T08:30:00Z")
    let waiter = try await queue.enqueue(Cleanup(), after: [tick], options: JobOptions(lane: "l"))
    jobs.clock.advance(by: .seconds(3000))
    try await jobs.drain()
    #expect(try await ticks() == [nil, "nightly@2027-01-15T08:15:00Z", "nightly@2027-01-15T08:45:00Z"])
    try await waiter.cancel()
    try await jobs.advance(by: .seconds(900))
    #expect(
      ran.withLock(\.self).map { $0?.tickText } == [
        "2027-01-15T08:15:00Z", "2027-01-15T08:45:00Z", "2027-01-15T09:00:00Z",
      ])
  }

  @Test func `a tick whose job would wait for what waits for it is left out, and the schedule goes on`() async throws {
    let unique = UniqueKey("u", policy: .append)
    _ = try await declare("*/15 * * * *", options: JobOptions(unique: unique))
    let tick = JobDependency.key("nightly@2027-01-15T08:15:00Z")
    let waiter = try await queue.enqueue(Cleanup(), after: [tick], options: JobOptions(unique: unique))
    try await jobs.advance(by: .seconds(900))
    #expect(try await ticks() == [nil])
    try await waiter.cancel()
    try await jobs.advance(by: .seconds(900))
    #expect(ran.withLock(\.self).map { $0?.tickText } == ["2027-01-15T08:30:00Z"])
  }

  // MARK: Time

  @Test(arguments: [(CatchUp.skip, 0), (.latest, 1), (.all, 4)])
  func `C52 after an hour without a worker a schedule makes up for as much as it says`(_ catchUp: CatchUp, _ count: Int)
    async throws
  {
    _ = try await declare("*/15 * * * *", catchUp: catchUp)
    jobs.clock.advance(by: .seconds(3600 + 300))
    try await jobs.drain()
    #expect(try await ticks().count == count)
    try await jobs.advance(by: .seconds(600))
    #expect(try await ticks().count == count + 1, "and then goes on")
    #expect(ran.withLock(\.last)??.tickText == "2027-01-15T09:15:00Z")
  }

  @Test func `a tick that is a minute late is not missed`() async throws {
    _ = try await declare("*/15 * * * *", catchUp: .skip)
    jobs.clock.advance(by: .seconds(900 + 60))
    try await jobs.drain()
    #expect(try await ticks() == ["nightly@2027-01-15T08:15:00Z"])
  }

  @Test func `C50 who comes before a tick, by whatever clock, waits for it`() async throws {
    _ = try await declare("*/15 * * * *")
    jobs.clock.advance(by: .milliseconds(899_999))
    try await queue.retryAll(where: .kind(JobSchedule.self) && .state(.scheduled))
    try await jobs.drain()
    #expect(try await ticks() == [])
    try await jobs.advance(by: .milliseconds(101))
    #expect(try await ticks() == ["nightly@2027-01-15T08:15:00Z"])
  }

  @Test func `who comes before a tick is followed by one for its time, so an idle queue is idle`() async throws {
    _ = try await declare()
    let early = try await queue.schedules()[0].job.id
    try await queue.retryAll(where: .id(early))
    try await jobs.drain()
    let job = try #require(try await queue.schedules().first).job
    try #require(job.id != early)
    #expect(job.runAt?.tickText == "2027-01-16T03:00:00Z")
    #expect(try await jobs.worker.runUntilIdle() == JobCounts([.succeeded: 1, .scheduled: 1]))
  }

  @Test func `C50 a clock that is set back brings no tick again, and one that is set ahead loses none`() async throws {
    _ = try await declare("*/15 * * * *", catchUp: .all)
    try await jobs.advance(by: .seconds(1000))
    jobs.clock.stepWallClock(by: .seconds(-3600))
    try await jobs.advance(by: .seconds(3600 + 900))
    jobs.clock.stepWallClock(by: .seconds(3600))
    try await jobs.advance(by: .seconds(1))
    let wanted = ["08:15", "08:30", "08:45", "09:00", "09:15", "09:30"].map { "nightly@2027-01-15T\($0):00Z" }
    #expect(try await ticks() == wanted)
  }

  @Test(arguments: [false, true])
  func `a clock that was a year ahead, and is corrected, is followed once the schedule is declared again or resumed`(
    isResumed: Bool
  ) async throws {
    _ = try await declare("*/15 * * * *")
    jobs.clock.stepWallClock(by: .seconds(365 * 86_400))
    try await jobs.drain()
    jobs.clock.stepWallClock(by: .seconds(-365 * 86_400))
    if isResumed {
      try await queue.resumeSchedule("nightly")
    } else {
      #expect(try await declare("*/15 * * * *") == .changed)
    }
    try await jobs.advance(by: .seconds(900))
    #expect(try await ticks() == ["nightly@2028-01-15T08:00:00Z", "nightly@2027-01-15T08:15:00Z"])
  }

  // MARK: Declared again

  @Test func `C53 declared a hundred times, a schedule is written once`() async throws {
    let store = FaultyStore(InMemoryStore(clock: ManualClock()))
    let queue = JobQueue(store: store)
    for number in 0..<100 {
      let daily = try await queue.schedule(
        "daily", .cron("@daily", timeZone: "UTC"), Cleanup(), options: JobOptions(tags: ["a", "b", "c"]))
      let often = try await queue.schedule("often", .every(.seconds(60)), Cleanup())
      #expect([daily, often] == Array(repeating: number == 0 ? .added : .unchanged, count: 2))
    }
    #expect((store.calls(of: .insert), store.calls(of: .change), store.calls(of: .configure)) == (2, 0, 0))
  }

  @Test func `a payload that is encoded differently each time is the same schedule where it is equal`() async throws {
    struct Nonced: JobPayload, Equatable {
      static let kind = "nonced"
      var nonce = UUID()
      static func == (a: Nonced, b: Nonced) -> Bool { true }
    }
    #expect(try await queue.schedule("n", .every(.seconds(60)), Nonced()) == .added)
    #expect(try await queue.schedule("n", .every(.seconds(60)), Nonced()) == .unchanged)
  }

  @Test func `a schedule of a job that middleware writes differently each time is the same where that can be undone`()
    async throws
  {
    struct Nonced: JobMiddleware {
      func enqueue(_ job: inout NewJob) { job.payload = Data("\(UUID().uuidString)".utf8) + job.payload }
      func undo(_ job: inout NewJob) { job.payload = job.payload.dropFirst(36) }
    }
    let queue = TestJobs(middleware: [Nonced(), Nonced()]).queue
    func declare(_ days: Int) async throws -> ScheduleDeclaration {
      try await queue.schedule("n", .every(.seconds(60)), Cleanup(days: days))
    }
    #expect(try await declare(7) == .added)
    #expect(try await declare(7) == .unchanged)
    #expect(try await declare(8) == .changed)
    #expect(try await declare(8) == .unchanged)
    let payload = try #require(try await queue.schedules().first?.payload)
    #expect(String(decoding: payload.dropFirst(72), as: UTF8.self) == #"{"days":8}"#)
  }

  @Test func `of fewer times than one there are none`() async throws {
    let every = try Recurrence.every(.seconds(60))
    let now = jobs.clock.now
    #expect(every.next(-1, after: now).isEmpty && every.next(0, after: now).isEmpty)
    #expect(every.next(2, after: now).count == 2)
    _ = try await declare()
    let schedule = try #require(try await queue.schedules().first)
    #expect(schedule.nextTimes(-1, after: now).isEmpty)
  }

  @Test func `C53 a schedule that is declared otherwise is that one from then on, and the only one`() async throws {
    _ = try await declare()
    #expect(try await declare("30 9 * * *") == .changed)
    #expect(try await declare("30 9 * * *", days: 30) == .changed)
    #expect(try await declare("30 9 * * *", days: 30) == .unchanged)
    let schedules = try await queue.schedules()
    #expect(schedules.map(\.recurrence.description) == ["at 09:30 every day, Europe/Berlin"])
    #expect(
      schedules[0].nextTimes(2, after: jobs.clock.now).map(\.tickText) == [
        "2027-01-15T08:30:00Z", "2027-01-16T08:30:00Z",
      ])
    try await jobs.advance(by: .seconds(86_400))
    #expect(try await queue.jobs(of: Cleanup.self).map(\.payload.days) == [30])
    #expect(try await queue.schedules().map(\.last) == [try Date(tickText: "2027-01-15T08:30:00Z")])
  }

  @Test func `a tick that is due keeps its job when its schedule is changed`() async throws {
    _ = try await declare("*/15 * * * *")
    jobs.clock.advance(by: .seconds(910))
    #expect(try await declare("0 4 * * *", days: 1) == .changed)
    try await jobs.drain()
    #expect(try await ticks() == ["nightly@2027-01-15T08:15:00Z"])
    #expect(
      try await queue.schedules()[0].nextTimes(1, after: jobs.clock.now).map(\.tickText) == ["2027-01-16T03:00:00Z"])
  }

  @Test func `one that was moved by hand is put to its tick when it is declared again`() async throws {
    _ = try await declare()
    let id = try await queue.schedules()[0].job.id
    try await queue.setStart(.after(.seconds(5 * 86_400)), of: id)
    #expect(try await declare() == .unchanged)
    #expect(try await queue.job(id).runAt?.tickText == "2027-01-16T03:00:00Z")
  }

  // MARK: Paused, ended

  @Test func `a paused schedule stores nothing, also if it is changed, and goes on with the tick after it is resumed`()
    async throws
  {
    _ = try await declare("*/15 * * * *", catchUp: .all)
    try await queue.pauseSchedule("nightly")
    try await jobs.advance(by: .seconds(1000))
    #expect(try await declare("*/10 * * * *", catchUp: .all) == .changed)
    #expect(try await queue.schedules().map(\.isPaused) == [true])
    #expect(
      try await queue.schedules()[0].nextTimes(1, after: jobs.clock.now).map(\.tickText) == ["2027-01-15T08:20:00Z"])
    try await jobs.advance(by: .seconds(1000))
    try await queue.resumeSchedule("nightly")
    try await jobs.advance(by: .seconds(600))
    #expect(try await ticks() == ["nightly@2027-01-15T08:40:00Z"])
  }

  @Test func `a schedule that is resumed after its tick has passed waits for the next one, and does not run before`()
    async throws
  {
    _ = try await declare()
    try await queue.pauseSchedule("nightly")
    jobs.clock.advance(by: .seconds(25 * 3600))
    try await queue.resumeSchedule("nightly")
    let job = try #require(try await queue.schedules().first).job
    try #require(job.state == .scheduled)
    #expect(job.runAt?.tickText == "2027-01-17T03:00:00Z")
    #expect(try await jobs.worker.runUntilIdle() == JobCounts([.scheduled: 1]))
  }

  @Test func `a schedule whose job is resumed by its id makes up for what it missed`() async throws {
    _ = try await declare("*/15 * * * *", catchUp: .all)
    try await queue.pauseSchedule("nightly")
    try await jobs.advance(by: .seconds(1900))
    try await queue.resume(queue.schedules()[0].job.id)
    try await jobs.drain()
    #expect(try await ticks().count == 2)
  }

  @Test func `a tick that is under way when its schedule is paused or ended stores nothing`() async throws {
    for verb in ["pause", "end"] {
      let jobs = TestJobs()
      let (queue, store) = (jobs.queue, jobs.queue.store)
      _ = try await queue.schedule("often", .every(.seconds(60)), Cleanup())
      jobs.clock.advance(by: .seconds(60))
      let request = ClaimRequest(worker: WorkerID("w"), kinds: [JobSchedule.kind], free: ["default": 1])
      let claim = try #require(try await store.claim(request).jobs.first)
      if verb == "pause" {
        try await queue.pauseSchedule("often")
      } else {
        #expect(try await queue.unschedule("often"))
      }
      let tick = NewJob(queue: "default", kind: Cleanup.kind, payload: Data("{}".utf8))
      let end = ClaimSettlement(token: claim.token, result: .succeeded(output: nil), followUps: [tick])
      #expect(try await store.settle([end], thenClaim: nil).replies.map(\.isAccepted) == [false])
      #expect(try await queue.jobs(where: .kind(Cleanup.self)).isEmpty)
      #expect(try await queue.schedules().map(\.isPaused) == (verb == "pause" ? [true] : []))
    }
  }

  @Test func `an ended schedule is gone, and its jobs stay`() async throws {
    _ = try await declare("*/15 * * * *", options: JobOptions(start: .after(.seconds(86_400))))
    try await jobs.advance(by: .seconds(1000))
    #expect(try await queue.unschedule("nightly"))
    #expect(try await !queue.unschedule("nightly"))
    try await jobs.advance(by: .seconds(3600))
    #expect(try await ticks().count == 1)
    #expect(try await queue.schedules().isEmpty)
    await #expect { try await queue.pauseSchedule("nightly") } throws: { ($0 as? JobError)?.code == .notFound }
    await #expect { try await queue.resumeSchedule("nightly") } throws: { ($0 as? JobError)?.code == .notFound }
    #expect(try await declare() == .added)
  }

  // MARK: What is refused

  @Test func `a schedule that makes no sense is refused`() async throws {
    let wrong: [(String, JobOptions, String)] = [
      ("", JobOptions(), "the name of a schedule must have 1 to 480 bytes"),
      (String(repeating: "n", count: 481), JobOptions(), "the name of a schedule must have 1 to 480 bytes"),
      ("n", JobOptions(key: "k"), "have keys of their own"),
      ("n", JobOptions(key: "k"), "is enqueued by a job that is scheduled in its place"),
      ("n", JobOptions(unique: "schedule/n"), "'schedule/n' is the unique key of the schedule itself"),
      ("n", JobOptions(start: .at(.now)), "and not at a date"),
      ("n", JobOptions(deadline: .end(by: .at(.now))), "and not a date"),
      ("n", JobOptions(maxAttempts: 0), "maxAttempts is 0"),
    ]
    for (name, options, words) in wrong {
      await #expect {
        try await queue.schedule(name, .every(.seconds(60)), Cleanup(), options: options)
      } throws: {
        ($0 as? JobError)?.code == .invalidArgument && "\($0)".contains(words)
      }
    }
    _ = try await declare()
    await #expect {
      try await JobQueue("other", store: queue.store).schedule("nightly", .every(.seconds(60)), Cleanup())
    } throws: {
      "\($0)".contains("is in the queue 'default'")
    }
    #expect(try await queue.counts().total == 1)
  }

  @Test func `a schedule whose own unique key another job holds is refused, with that job`() async throws {
    let holder = try await queue.enqueue(Cleanup(), options: JobOptions(unique: "schedule/nightly"))
    await #expect {
      _ = try await declare()
    } throws: {
      ($0 as? JobError)?.code == .wrongState
        && "\($0)".contains("job \(holder.id) has 'schedule/nightly', the unique key of the schedule")
    }
  }

  @Test func `a stored schedule is read again as it was`() throws {
    let json = Data(#"{"a":1}"#.utf8)
    for payload in [json, Data([0xff, 0])] {
      let job = NewJob(
        queue: "q", kind: "k", payload: payload, terms: JobTerms(start: .after(.seconds(5)), tags: ["t"]))
      for recurrence in [
        try Recurrence.cron("0 0 4 * * MON", timeZone: "Asia/Tokyo", withSeconds: true),
        try .every(.seconds(60), from: Date(tickText: "2027-01-01T00:00:00Z")),
      ] {
        let next = try Date(tickText: "2027-01-01T04:00:00Z")
        let schedule = JobSchedule(
          name: "n", recurrence: recurrence, catchUp: .all, job: job, next: next, last: next - 60)
        #expect(try JSONDecoder().decode(JobSchedule.self, from: schedule.payload) == schedule)
      }
    }
  }

  @Test func `a schedule of an unknown time zone is suspended, with the reason, and a declaration mends it`()
    async throws
  {
    _ = try await declare()
    let id = try await queue.schedules()[0].job.id
    let payload = try #require(try await queue.job(id).payload)
    let broken = Data(String(decoding: payload, as: UTF8.self).replacing("Europe/Berlin", with: "Mars/Olympus").utf8)
    _ = try await queue.store.change(.replacePayload(broken), where: .id(id), after: nil, limit: 1)
    try await jobs.advance(by: .seconds(86_400))
    #expect(try await queue.job(id).reason?.contains("there is no time zone 'Mars/Olympus'") == true)
    #expect(try await declare() == .changed)
    try await jobs.advance(by: .seconds(86_400))
    #expect(try await ticks().count == 1)
  }
}
