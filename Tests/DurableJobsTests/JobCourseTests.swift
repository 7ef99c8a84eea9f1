import DurableJobs
import Foundation
import Testing

@Suite struct JobCourseTests {
  private let now = Date(milliseconds: 1_000_000)
  private func later(_ seconds: Int64) -> Date { Date(milliseconds: 1_000_000 + seconds * 1000) }

  private func running(attempt: Int = 1, of maxAttempts: Int = 3, asked: StopReason? = nil) -> JobCourse {
    var course = JobCourse(state: .ready, attempt: attempt - 1, maxAttempts: maxAttempts)
    course.claim()
    course.stopAsked = asked
    return course
  }

  // MARK: Attempts

  @Test("A claim begins an attempt and forgets what the job waited for")
  func claim() {
    var course = JobCourse(state: .ready, attempt: 1, runAt: now, stopAsked: .suspended, reason: "r")
    course.claim()
    #expect(course == JobCourse(state: .running, attempt: 2))
  }

  @Test("A failed attempt waits for the next, and the last one fails the job")
  func retry() {
    var course = running(attempt: 2)
    #expect(
      course.settle(.retry(.after(.seconds(5)), message: "m"), now: now, policy: StorePolicy(), random: 0.5) == "m")
    #expect(course.state == .scheduled)
    #expect(course.runAt == later(5))
    #expect(course.attempt == 2)
    course = running(attempt: 3)
    #expect(
      course.settle(.retry(.after(.seconds(5)), message: "m"), now: now, policy: StorePolicy(), random: 0.5) == "m")
    #expect(course.state == .failed)
    #expect(course.runAt == nil)
  }

  @Test(
    "What is no failure gives the attempt back and leaves no message",
    arguments: [
      ClaimSettlement.Result.snoozed(.after(.seconds(5))), .suspended(reason: "s"), .interrupted,
    ])
  func attemptGivenBack(result: ClaimSettlement.Result) {
    var course = running(attempt: 3)
    #expect(course.settle(result, now: now, policy: StorePolicy(), random: 0.5) == nil)
    #expect(course.attempt == 2)
  }

  @Test("A wake ends a back-off within its time, and no date, no named time, no snooze and no wait after a crash")
  func wake() throws {
    func waiting(_ result: ClaimSettlement.Result) -> JobCourse {
      var course = running()
      _ = course.settle(result, now: now, policy: StorePolicy(), random: 1)
      return course
    }
    for result: ClaimSettlement.Result in [
      .retry(.after(.seconds(60)), message: "m"), .snoozed(.after(.seconds(60)), isBackOff: true),
    ] {
      var course = waiting(result)
      try course.apply(.wake(within: .seconds(4)), now: now, random: 0.5)
      #expect((course.state, course.runAt, course.isBackOff) == (.scheduled, later(2), true))
      try course.apply(.wake(within: .seconds(1)), now: now, random: 0.5)
      #expect(course.runAt == Date(milliseconds: 1_000_500))
      let before = course
      try course.apply(.wake(within: .seconds(1)), now: now, random: 0)
      #expect(course == before, "it is due within that time already")
      try course.apply(.wake(within: .zero), now: now, random: 1)
      #expect((course.state, course.isBackOff) == (.ready, false))
    }
    var twice = running()
    _ = twice.settle(.crashed, now: now, policy: StorePolicy(), random: 1)
    twice.claim()
    _ = twice.settle(.crashed, now: now, policy: StorePolicy(), random: 1)
    let others = [
      waiting(.retry(.at(later(60)), message: "m")),
      waiting(.retry(.after(.seconds(60)), message: "m", isBackOff: false)),
      waiting(.snoozed(.after(.seconds(60)))), twice, JobCourse(state: .scheduled, runAt: later(60)), running(),
    ]
    for var course in others {
      let before = course
      #expect(throws: JobError.self) { try course.apply(.wake(within: .seconds(4)), now: now, random: 0.5) }
      #expect(course == before)
    }
  }

  @Test("A back-off is one still after a suspension, and none once its time has come or another is asked for")
  func backOff() throws {
    var course = running()
    _ = course.settle(.retry(.after(.seconds(60)), message: "m"), now: now, policy: StorePolicy(), random: 1)
    try course.apply(.suspend(reason: nil), now: now)
    try course.apply(.resume, now: now)
    #expect(course.isBackOff)
    var due = course
    due.promote(now: later(60))
    #expect(!due.isBackOff)
    try course.apply(.retry, now: now)
    #expect(!course.isBackOff)
  }

  @Test(
    "A snooze lasts for a while, however short or past it is",
    arguments: [JobTime.now, .after(.seconds(-5)), .after(.milliseconds(99)), .at(.distantPast)])
  func leastSnooze(time: JobTime) {
    var course = running()
    _ = course.settle(.snoozed(time), now: now, policy: StorePolicy(), random: 0.5)
    #expect(course.state == .scheduled)
    #expect(course.runAt == Date(milliseconds: 1_000_100))
  }

  @Test("A cancel that was asked for ends what is neither a success nor a failure for good")
  func cancelAsked() {
    for result: ClaimSettlement.Result in [
      .retry(.now, message: "m"), .snoozed(.now), .suspended(reason: "s"), .interrupted,
    ] {
      var course = running(attempt: 3, asked: .cancelled)
      course.reason = "because"
      _ = course.settle(result, now: now, policy: StorePolicy(), random: 0.5)
      #expect(course.state == .cancelled, "\(result)")
      #expect(course.reason == "because", "\(result)")
      #expect(course.stopAsked == nil && course.runAt == nil, "\(result)")
    }
    for (result, state) in [
      (ClaimSettlement.Result.succeeded(output: nil), JobState.succeeded), (.failed(message: "m"), .failed),
    ] {
      var course = running(asked: .cancelled)
      course.reason = "because"
      _ = course.settle(result, now: now, policy: StorePolicy(), random: 0.5)
      #expect(course.state == state)
      #expect(course.reason == nil && course.stopAsked == nil)
    }
  }

  @Test("A suspension that was asked for keeps the time that the job waits for")
  func suspensionAsked() throws {
    var course = running(asked: .suspended)
    _ = course.settle(.retry(.after(.seconds(5)), message: "m"), now: now, policy: StorePolicy(), random: 0.5)
    #expect(course.state == .suspended)
    try course.apply(.resume, now: now)
    #expect(course.state == .scheduled)
    #expect(course.runAt == later(5))
  }

  @Test("A last attempt that a suspension cut short is not used up")
  func lastAttemptSuspended() throws {
    var course = running(attempt: 3, asked: .suspended)
    #expect(course.settle(.retry(.now, message: "m"), now: now, policy: StorePolicy(), random: 0.5) == "m")
    #expect(course.state == .suspended)
    try course.apply(.resume, now: now)
    course.claim()
    #expect(course.attempt == 3)
  }

  @Test("Of a person's reason for a suspension and the handler's, the person's stays")
  func reasons() {
    var course = running(asked: .suspended)
    course.reason = "person"
    _ = course.settle(.suspended(reason: "handler"), now: now, policy: StorePolicy(), random: 0.5)
    #expect(course.reason == "person")
    course = running(asked: .suspended)
    _ = course.settle(.suspended(reason: "handler"), now: now, policy: StorePolicy(), random: 0.5)
    #expect(course.reason == "handler")
  }

  // MARK: Crashes

  private var policy: StorePolicy {
    var policy = StorePolicy()
    policy.maxCrashesInRow = 3
    policy.maxCrashes = 5
    policy.crashBackOff = BackOff(base: .seconds(10), factor: 2, cap: .seconds(60))
    return policy
  }

  @Test("A crash gives the attempt back; the first is back at once, the next waits, the last fails the job")
  func crashes() {
    var course = running(attempt: 2)
    #expect(course.settle(.crashed, now: now, policy: policy, random: 1) == nil)
    #expect(course == JobCourse(state: .ready, attempt: 1, maxAttempts: 3, crashesInRow: 1, crashes: 1))
    course.claim()
    #expect(course.settle(.crashed, now: now, policy: policy, random: 1) == nil)
    #expect(course.state == .scheduled)
    #expect(course.runAt == later(10))
    course.promote(now: later(10))
    course.claim()
    let message = course.settle(.crashed, now: now, policy: policy, random: 1)
    #expect(message == "the process ended during the attempt, 3 times")
    #expect(course.state == .failed)
    #expect(course.runAt == nil)
    #expect(course.attempt == 1)
  }

  @Test("Progress sets crashes in a row back, and not those in all")
  func progressed() {
    var course = running()
    for number in 1...5 {
      #expect((course.settle(.crashed, now: now, policy: policy, random: 0) == nil) == (number < 5))
      #expect(course.crashes == number)
      course.progressed()
      if number < 5 { course.claim() }
    }
    #expect(course.state == .failed)
  }

  // MARK: Time

  @Test("A job is promoted when its time has come, and not before")
  func promote() {
    var course = JobCourse(inserting: JobTerms(start: .after(.seconds(5))), now: now)
    let waiting = course
    course.promote(now: Date(milliseconds: later(5).milliseconds - 1))
    #expect(course == waiting)
    course.promote(now: later(5))
    #expect(course == JobCourse(state: .ready))
  }

  // MARK: Changes

  @Test("A retry gives a job that ended all its attempts anew, and one that waits only its turn")
  func retryChange() throws {
    for state in [JobState.failed, .cancelled] {
      var course = JobCourse(state: state, attempt: 3, crashesInRow: 2, crashes: 4, reason: "r")
      try course.apply(.retry, now: now)
      #expect(course == JobCourse(state: .ready))
    }
    for state in [JobState.scheduled, .suspended] {
      var course = JobCourse(state: state, attempt: 2, crashesInRow: 1, crashes: 4, runAt: later(5), reason: "r")
      try course.apply(.retry, now: now)
      #expect(course == JobCourse(state: .ready, attempt: 2, crashesInRow: 1, crashes: 4))
    }
  }

  @Test(
    "What is so already is no error and changes nothing",
    arguments: [
      (JobChange.retry, JobState.ready), (.cancel(reason: "new"), .cancelled), (.suspend(reason: "new"), .suspended),
    ])
  func alreadySo(change: JobChange, state: JobState) throws {
    var course = JobCourse(state: state, reason: "old")
    try course.apply(change, now: now)
    #expect(course == JobCourse(state: state, reason: "old"))
  }

  @Test(
    "A change that can't be made is refused with a message, and changes nothing",
    arguments: [
      (JobChange.retry, [JobState.running, .succeeded, .skipped, .blocked]),
      (.cancel(reason: nil), [.succeeded, .failed, .skipped]),
      (.suspend(reason: nil), [.succeeded, .failed, .cancelled, .skipped]),
      (.resume, [.ready, .scheduled, .blocked, .running, .succeeded, .failed, .cancelled]), (.remove, [.running]),
      (.complete(output: nil), [.failed, .cancelled, .skipped]),
      (.fail(message: ""), [.succeeded, .cancelled, .skipped]),
      (.progress(JobProgress(fraction: 1)), [.succeeded, .failed, .cancelled, .skipped]),
      (.reset, [.ready, .scheduled, .blocked, .succeeded, .failed, .cancelled]),
    ])
  func refusals(change: JobChange, states: [JobState]) {
    for state in states {
      var course = JobCourse(state: state, attempt: 1)
      let before = course
      let error = #expect(throws: JobError.self) { try course.apply(change, now: now) }
      #expect(error?.code == .wrongState)
      #expect(error?.message.isEmpty == false)
      #expect(course == before)
    }
  }

  @Test("Who holds a job's unique key matters to a retry of one that has ended, and is asked for nothing else")
  func uniqueKeys() throws {
    let changes: [JobChange] = [
      .retry, .cancel(reason: nil), .suspend(reason: nil), .resume, .remove, .complete(output: nil), .fail(message: ""),
      .progress(JobProgress(fraction: 0)), .reset,
    ]
    for state in JobState.allCases {
      for change in changes {
        var (course, isAsked) = (JobCourse(state: state, attempt: 1), false)
        func holder() -> JobID? {
          isAsked = true
          return JobID(rawValue: 7)
        }
        var message = ""
        do { try course.apply(change, now: now, keyOwner: holder()) } catch { message = "\(error)" }
        let isRetryAfterEnd = change == .retry && [.failed, .cancelled].contains(state)
        #expect(isAsked == isRetryAfterEnd, "\(change) of a job that is \(state)")
        #expect(message.contains("belongs to job 7") == isRetryAfterEnd)
        if isRetryAfterEnd { #expect(course == JobCourse(state: state, attempt: 1)) }
      }
    }
  }

  @Test("A reset takes no cancel back, and takes back a suspension that was asked for")
  func resets() throws {
    var course = JobCourse(state: .running, attempt: 2, stopAsked: .cancelled, reason: "r")
    try course.apply(.reset, now: now)
    #expect(course == JobCourse(state: .cancelled, attempt: 1, reason: "r"))
    course = JobCourse(state: .running, attempt: 2, stopAsked: .suspended, reason: "r")
    try course.apply(.reset, now: now)
    #expect(course == JobCourse(state: .ready, attempt: 1))
  }

  @Test("Only what ends a running job from outside, or makes it ready, takes it from its worker")
  func endsClaim() throws {
    for change: JobChange in [.complete(output: nil), .fail(message: ""), .reset] {
      var course = running()
      try course.apply(change, now: now)
      #expect(course.state != .running)
    }
    for change: JobChange in [
      .cancel(reason: nil), .suspend(reason: nil), .progress(JobProgress(fraction: 0)), .setPriority(.high),
    ] {
      var course = running()
      try course.apply(change, now: now)
      #expect(course.state == .running)
    }
  }

  @Test("C63 Every text that a course takes in is cut")
  func texts() throws {
    let long = String(repeating: "x", count: Limits.messageBytes * 2)
    for result: ClaimSettlement.Result in [.retry(.now, message: long), .failed(message: long)] {
      var course = running()
      let message = course.settle(result, now: now, policy: StorePolicy(), random: 0.5)
      let kept = try #require(message)
      #expect(kept.utf8.count <= Limits.messageBytes)
    }
    var course = running()
    _ = course.settle(.suspended(reason: long), now: now, policy: StorePolicy(), random: 0.5)
    let reason = try #require(course.reason)
    #expect(reason.utf8.count <= Limits.messageBytes)
    for change: JobChange in [.cancel(reason: long), .suspend(reason: long)] {
      for state in [JobState.ready, .running] {
        course = JobCourse(state: state, attempt: 1)
        try course.apply(change, now: now)
        let reason = try #require(course.reason)
        #expect(reason.utf8.count <= Limits.messageBytes)
      }
    }
  }
}
