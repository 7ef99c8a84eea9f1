import Foundation

/// The rules of a job's life, in one place: the values that determine its next state, and the functions that do.
///
/// It is a value, with no clock and no I/O: a store loads it, calls a function, saves it. `now` is the store's time.
public struct JobCourse: Hashable, Codable, Sendable {
  public var state: JobState
  public var attempt: Int
  public var maxAttempts: Int
  /// Process deaths since the last progress, and in total.
  public var crashesInRow: Int
  public var crashes: Int
  /// When it is due, while it is scheduled, or was due before it was suspended.
  public var runAt: Date?
  /// That time was given as a date, and stays as it is when the clock is set back; a delay keeps its length.
  public var isDated: Bool
  /// It waits, and for a shorter time if what it requires returns.
  public var isBackOff = false
  /// It waits for the rate of its lane, and for no time of its own; nil in stored values counts as false.
  public var isPaced: Bool?
  /// ``StopReason/cancelled``, ``StopReason/overdue`` or ``StopReason/suspended``, if requested while it runs.
  public var stopAsked: StopReason?
  /// Why it is suspended, cancelled or skipped.
  public var reason: String?
  /// What suspended it last, if not a person.
  public var heldBy: JobHold?
  /// The job whose end caused it to be skipped: the first in the chain, not one that was skipped itself.
  public var cause: JobID?
  /// Whether that job failed.
  public var isAfterFailure: Bool

  public init(
    state: JobState, attempt: Int = 0, maxAttempts: Int = Defaults.maxAttempts, crashesInRow: Int = 0,
    crashes: Int = 0, runAt: Date? = nil, isDated: Bool = false, stopAsked: StopReason? = nil, reason: String? = nil,
    cause: JobID? = nil, isAfterFailure: Bool = false
  ) {
    (self.state, self.attempt, self.maxAttempts, self.crashesInRow) = (state, attempt, maxAttempts, crashesInRow)
    (self.crashes, self.runAt, self.isDated, self.stopAsked) = (crashes, runAt, isDated, stopAsked)
    (self.reason, self.cause, self.isAfterFailure) = (reason, cause, isAfterFailure)
  }

  /// A job as it is when it is first stored.
  public init(inserting terms: JobTerms, now: Date) {
    self.init(state: .ready, maxAttempts: terms.maxAttempts)
    wait(terms.start, now)
  }

  // MARK: An attempt

  /// A worker claims it.
  public mutating func claim() {
    state = .running
    attempt += 1
    forgetTime()
    (stopAsked, heldBy, reason) = (nil, nil, nil)
  }

  /// The attempt ended, and its claim still holds. Returns the message to keep as this attempt's failure, if it failed.
  ///
  /// Success takes precedence over a cancellation or suspension requested meanwhile, and so does a permanent failure;
  /// these requests take precedence over any other end.
  public mutating func settle(
    _ result: ClaimSettlement.Result, now: Date, policy: StorePolicy, random: Double
  ) -> String? {
    let (asked, words) = (stopAsked, reason)
    stopAsked = nil
    var failure: String?
    switch result {
    case .succeeded:
      state = .succeeded
      reason = nil
      return nil
    case .failed(let message):
      state = .failed
      reason = nil
      return message.cutToMessage
    case .retry(let time, let message, let mayEndSooner):
      failure = message.cutToMessage
      if attempt >= maxAttempts {
        if asked == nil {
          state = .failed
          return failure
        }
        // Suspended, it keeps the attempt that the suspension cut short.
        if asked == .suspended { attempt -= 1 }
      }
      wait(time, now, isBackOff: mayEndSooner)
    case .snoozed(let time, let mayEndSooner):
      attempt -= 1
      wait(time.atLeast(Defaults.leastSnooze, from: now), now, isBackOff: mayEndSooner)
    case .suspended(let why, let holder):
      attempt -= 1
      heldBy = asked == .suspended ? .request : holder
      state = .suspended
      if asked != .cancelled { reason = reason ?? why.cutToMessage }
    case .interrupted:
      attempt -= 1
      wait(.now, now)
    case .crashed:
      attempt -= 1
      crashes += 1
      crashesInRow += 1
      let isOver = crashesInRow >= policy.maxCrashesInRow || crashes >= policy.maxCrashes
      if isOver, asked == nil || asked == .suspended {
        state = .failed
        reason = nil
        return "the process ended during the attempt, \(crashes) time\(crashes == 1 ? "" : "s")"
      }
      let delay = policy.crashBackOff.delay(number: crashesInRow - 1, random: random)
      wait(crashesInRow == 1 ? .now : .after(delay), now)
    }
    switch asked {
    case .cancelled:
      state = .cancelled
      forgetTime()
    case .overdue:
      state = .failed
      endFromOutside()
      return words
    case .suspended: state = .suspended
    default: if state != .suspended { reason = nil }
    }
    return failure
  }

  /// Progress beyond the highest ever stored for the job, or a step that had not finished before.
  public mutating func progressed() { crashesInRow = 0 }

  // MARK: Time

  /// It becomes ready if it waits for a time that is not after `now`.
  public mutating func promote(now: Date) {
    guard state == .scheduled, let due = runAt, due <= now else { return }
    wait(.now, now)
  }

  /// Its deadline has passed, as `words` say. A running job is asked to stop. Returns the message to keep if it failed.
  public mutating func passDeadline(_ words: String) -> String? {
    guard state == .running else {
      state = .failed
      endFromOutside()
      return words
    }
    if stopAsked != .cancelled {
      stopAsked = .overdue
      reason = words
    }
    return nil
  }

  /// It begins no sooner than `time`, whatever time it waits for itself. If that is a date, it stays one: a clock that
  /// is set back would otherwise have the job begin before it.
  package mutating func hold(until time: Date, now: Date) {
    guard state == .ready || state == .scheduled, runAt ?? .distantPast < time else { return }
    if runAt ?? now <= now { (isPaced, isDated) = (true, false) }
    (state, runAt) = (.scheduled, time)
  }

  // MARK: Other jobs

  /// Sets its state by what it waits for, if it has not begun and is not suspended.
  public mutating func stand(waits: Int, now: Date) {
    guard state == .ready || state == .scheduled || state == .blocked else { return }
    if waits > 0 {
      state = .blocked
    } else if let due = runAt, due > now {
      state = .scheduled
    } else {
      wait(.now, now)
    }
  }

  /// A job that it needs ended in another way. It keeps its time, in case it is reopened.
  public mutating func skip(because reason: String, cause: JobID, isAfterFailure: Bool) {
    (state, self.cause, self.isAfterFailure) = (.skipped, cause, isAfterFailure)
    self.reason = reason.cutToMessage
  }

  /// Its end as seen by the jobs that need it: one that was skipped because of a failure counts as failed.
  package var end: JobState { state == .skipped && isAfterFailure ? .failed : state }

  /// Reopens it, from its first attempt.
  public mutating func reopen(now: Date) {
    (attempt, crashes, crashesInRow) = (0, 0, 0)
    (reason, cause, isAfterFailure) = (nil, nil, false)
    if state == .skipped, let runAt, runAt > now { state = .scheduled } else { wait(.now, now) }
  }

  // MARK: A person, or a callback from outside

  /// Applies `change` to it. Throws ``JobError/Code/wrongState`` if that is not possible now; a change already made is
  /// no error. ``JobChange/remove`` changes nothing here: it only checks whether the store may delete the job.
  ///
  /// A job that has ended has released its unique key, and takes it again when it is retried. `keyOwner` is the
  /// unfinished job that has the key by then, and is only evaluated in that case. `causeState`: of its ``cause``, if
  /// that exists.
  public mutating func apply(
    _ change: JobChange, now: Date, random: Double = 0, keyOwner: @autoclosure () throws -> JobID? = nil,
    causeState: JobState? = nil
  ) throws {
    switch (change, state) {
    case (.retry, .failed), (.retry, .cancelled):
      if let owner = try keyOwner() {
        throw refusal(
          "can't be retried: its unique key belongs to job \(owner); cancel that one first, or remove it if it has ended"
        )
      }
      reopen(now: now)
    case (.retry, .suspended), (.retry, .scheduled):
      reason = nil
      wait(.now, now)
    case (.retry, .ready): break
    case (.retry, .running), (.remove, .running), (.replacePayload, .running):
      throw refusal("is running; cancel it first, or wait until it ends")
    case (.retry, .skipped):
      throw refusal(
        "was skipped: \(reason ?? "a job that it needs ended otherwise")"
          + (cause.flatMap { causeState?.isRetriable == true ? "; retry job \($0)" : nil } ?? ""))
    case (.retry, _): throw refusal("is \(state); only a failed, cancelled, suspended or scheduled job can be retried")
    case (.remove, _): break

    case (.resume, .suspended):
      reason = nil
      if let due = runAt, due > now { state = .scheduled } else { wait(.now, now) }
    case (.resume, .running) where stopAsked == .suspended:
      stopAsked = nil
      reason = nil
    case (.resume, _): throw refusal("is \(state); only a suspended job can be resumed")

    case (.wake(let window), .scheduled) where isBackOff:
      let latest = now.milliseconds + window.milliseconds
      guard let runAt, runAt.milliseconds > latest else { break }
      wait(.after(window * random), now, isBackOff: true)
    case (.wake, _): throw refusal("is in no back-off")

    case (.reset, .running) where stopAsked == .overdue, (.suspend, .running) where stopAsked == .overdue:
      throw refusal("is being given up: \(reason ?? "its deadline has passed")")
    case (.reset, .running) where stopAsked == .cancelled:
      _ = settle(.interrupted, now: now, policy: StorePolicy(), random: 0)
    case (.reset, .running), (.reset, .suspended):
      if state == .running { attempt -= 1 }
      stopAsked = nil
      reason = nil
      wait(.now, now)
    case (.reset, _): throw refusal("is \(state); only a running or suspended job can be reset")

    // From now on it is held for a person, whatever its handler waits for.
    case (.suspend(let why), .suspended) where heldBy == .handler:
      (heldBy, reason) = (nil, why?.cutToMessage ?? reason)
    // The same request twice, or a callback that comes twice.
    case (.cancel, .cancelled), (.suspend, .suspended), (.complete, .succeeded), (.fail, .failed): break
    case _ where state.isFinished: throw refusal("has ended already: \(state)")

    case (.cancel(let why), _):
      if state == .running {
        stopAsked = .cancelled
      } else {
        state = .cancelled
        forgetTime()
      }
      reason = why?.cutToMessage
    case (.suspend, .running) where stopAsked == .cancelled: throw refusal("is being cancelled")
    case (.suspend(let why), _):
      if state == .running {
        stopAsked = .suspended
      } else {
        state = .suspended
        heldBy = nil
      }
      reason = why?.cutToMessage
    case (.complete, _), (.fail, _):
      state = if case .complete = change { .succeeded } else { .failed }
      endFromOutside()
    case (.setStart, .running), (.setStart, .suspended):
      throw refusal("is \(state); only one that waits can be given another start")
    case (.setStart(let time), _):
      let isBlocked = state == .blocked
      wait(time, now)
      if isBlocked { state = .blocked }
    case (.progress, _), (.replacePayload, _), (.setPriority, _): break  // no part of its course
    }
  }

  private mutating func endFromOutside() {
    forgetTime()
    stopAsked = nil
    reason = nil
  }

  private mutating func wait(_ time: JobTime, _ now: Date, isBackOff: Bool = false) {
    runAt = time.date(at: now)
    state = runAt == nil ? .ready : .scheduled
    isDated = if case .at = time { runAt != nil } else { false }
    self.isBackOff = isBackOff && state == .scheduled && !isDated
    isPaced = nil
  }

  private mutating func forgetTime() {
    (runAt, isPaced) = (nil, nil)
    (isDated, isBackOff) = (false, false)
  }

  /// The clock was set back by this many milliseconds: the remaining wait stays the same.
  package mutating func rebase(by milliseconds: Int64) {
    guard JobState.withTime.contains(state), !isDated, let runAt else { return }
    self.runAt = Date(milliseconds: runAt.milliseconds - milliseconds)
  }

  private func refusal(_ what: String) -> JobError { JobError(.wrongState, what) }
}
