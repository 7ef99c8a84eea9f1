import DurableJobs
import Foundation

/// Where a job stands, and how it got there.
extension JobLog {
  /// `ready` stands for `scheduled` too: ``due`` tells them apart.
  var standing: JobState {
    if let derived { return derived.standing }
    let before = before(turn)
    switch entries[turn].event {
    case .claimed: return .running
    case .held: return .suspended
    case .cancelled: return .cancelled
    case .skipped: return .skipped
    case .completed: return .succeeded
    case .givenUp: return .failed
    case .died: return before.standingAfterDeath
    case .reported(let result): return before.standing(after: result)
    default: return .ready
    }
  }

  func state(at now: Date) -> JobState {
    guard standing == .ready, let date = due.date, date > now || wrong == .dueWaitsForRecovery else { return standing }
    return .scheduled
  }

  /// It had to wait for a time, and that has come.
  func hasWaited(until now: Date) -> Bool {
    guard standing == .ready, let date = due.date else { return false }
    return date <= now
  }

  /// Success and failure for good stand, whatever was asked. Any other end gives way to a stop.
  private func standing(after result: ClaimSettlement.Result) -> JobState {
    switch result {
    case .succeeded: return wrong == .successLosesToCancel && asked?.stop == .cancelled ? .cancelled : .succeeded
    case .failed: return wrong == .failureLosesToCancel && asked?.stop == .cancelled ? .cancelled : .failed
    case .retry where hasNoAttemptLeft && asked == nil: return .failed
    case .retry where wrong == .retryBeatsCancel && asked?.stop == .cancelled: return .ready
    case .retry where wrong == .overdueRetries && asked?.stop == .overdue: return .ready
    case .suspended where asked == nil || asked?.stop == .suspended: return .suspended
    default: return standingIfStopped ?? .ready
    }
  }

  private var standingAfterDeath: JobState {
    if asked?.stop == .cancelled || asked?.stop == .overdue { return standingIfStopped! }
    return isPoison ? .failed : standingIfStopped ?? .ready
  }

  private var standingIfStopped: JobState? {
    asked.map { $0.stop == .cancelled ? .cancelled : $0.stop == .overdue ? .failed : .suspended }
  }

  /// What was asked last of the latest attempt, and not taken back.
  var asked: (stop: StopReason, reason: String?)? {
    guard let index = last({ if case .asked = $0 { true } else { $0.isTurn } }),
      case .asked(let stop?, let reason) = entries[index].event
    else { return nil }
    return (stop, reason)
  }

  /// The token and the worker of its claim, while it runs.
  var claim: (token: ClaimToken, worker: Int)? {
    switch entries[turn].event {
    case .claimed(let token, let worker): return (token, worker)
    case .completed where wrong == .completionKeepsClaim: return before(turn).claim
    default: return nil
    }
  }

  var wasClaimed: Bool { last(\.isClaim) != nil }

  // MARK: Attempts

  /// The first entry of its present life: its first, or the last retry after an end.
  var beginning: Int {
    last { event in
      switch event {
      case .startedAnew, .reopened: true
      default: false
      }
    } ?? entries.startIndex
  }

  /// Claims in this life, without those that were given back.
  var attempt: Int {
    let first = wrong == .retryKeepsAttempts ? entries.startIndex : beginning
    return entries(where: \.isClaim).count {
      $0 >= first && !isGivenBack($0)
    }
  }

  private var hasNoAttemptLeft: Bool { attempt >= job.terms.maxAttempts }

  /// Whether the attempt that began there counts for nothing, by how it ended.
  private func isGivenBack(_ claim: Int) -> Bool {
    guard let end = entries[(claim + 1)...].firstIndex(where: { $0.event.isTurn }) else { return false }
    switch entries[end].event {
    case .died: return wrong != .deathCounts
    case .reset: return wrong != .resetCounts
    case .reported(.interrupted): return wrong != .interruptionCounts
    case .reported(.snoozed): return wrong != .snoozeCounts
    case .reported(.suspended): return wrong != .suspensionCounts
    case .reported(.retry):
      // Held, it still has the attempt that the suspension cut short.
      let before = before(end)
      return before.asked?.stop == .suspended && before.hasNoAttemptLeft && wrong != .lastAttemptIsSpent
    default: return false
    }
  }

  // MARK: Deaths

  private func deaths(since first: Int) -> Int {
    entries[first...].count { if case .died = $0.event { true } else { false } }
  }

  var crashes: Int { deaths(since: wrong == .retryKeepsCrashes ? entries.startIndex : beginning) }

  /// Since the last progress beyond all before it.
  var crashesInRow: Int {
    var highest = 0.0
    var last = beginning
    for index in entries.indices {
      if case .stepped = entries[index].event, wrong != .stepsAreNoProgress { last = max(last, index) }
      guard case .progressed(let progress) = entries[index].event else { continue }
      if progress.fraction > highest || wrong == .anyProgressForgives { last = max(last, index) }
      highest = max(highest, progress.fraction)
    }
    return deaths(since: last)
  }

  /// One death more, and it has died too often.
  private var isPoison: Bool {
    let inAll = crashes + 1 >= policy.maxCrashes && wrong != .onlyRowsOfDeathsEnd
    return crashesInRow + 1 >= policy.maxCrashesInRow || inAll
  }
}
