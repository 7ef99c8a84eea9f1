import DurableJobs
import Foundation

/// What is to be seen of a job.
extension JobLog {
  func snapshot(in state: JobState) -> JobSnapshot {
    var snapshot = JobSnapshot(
      id: id, queue: job.queue, kind: job.kind, key: job.terms.key, tags: job.terms.tags, lane: job.terms.lane,
      requires: job.terms.requires, state: state, createdAt: entries[entries.startIndex].at,
      startedAt: last(\.isClaim).map { entries[$0].at })
    (snapshot.priority, snapshot.attempt, snapshot.crashes) = (priority, attempt, crashes)
    (snapshot.maxAttempts, snapshot.timeout) = (job.terms.maxAttempts, job.terms.timeout)
    snapshot.runAt = state == .scheduled ? due.date : nil
    snapshot.finishedAt = state.isFinished ? entries[turn].at : nil
    (snapshot.progress, snapshot.reason, snapshot.cause) = (progress, reason, cause)
    snapshot.stopAsked = state == .running ? asked?.stop : nil
    (snapshot.payload, snapshot.failures) = (payload, failures)
    snapshot.output = state == .succeeded ? output : nil
    snapshot.steps = steps.keys.sorted()
    snapshot.deadline = deadline
    snapshot.batch = batch
    snapshot.heldBy = state == .suspended ? holder : nil
    snapshot.uniqueKey = job.terms.unique?.key
    return snapshot
  }

  /// What its steps gave, as long as somebody may need it.
  var steps: [String: Data] {
    guard standing != .succeeded || wrong == .stepsStay else { return [:] }
    let first = wrong == .retryForgetsSteps ? beginning : entries.startIndex
    return entries[first...].reduce(into: [:]) { steps, entry in
      if case .stepped(let new) = entry.event { steps.merge(new) { $1 } }
    }
  }

  /// The one that it was given last.
  var payload: Data {
    let last = entries.reversed().lazy.compactMap { if case .rewritten(let new) = $0.event { new } else { nil } }.first
    return wrong == .payloadStays ? job.payload : last ?? job.payload
  }

  /// As it was asked for last.
  var priority: JobPriority {
    let last = entries.reversed().lazy.compactMap { if case .prioritized(let new) = $0.event { new } else { nil } }
      .first
    return wrong == .priorityStays ? job.terms.priority : last ?? job.terms.priority
  }

  private var progress: JobProgress? {
    entries.reversed().lazy.compactMap { if case .progressed(let progress) = $0.event { progress } else { nil } }.first
  }

  private var output: Data? {
    switch entries[turn].event {
    case .completed(let output), .reported(.succeeded(let output)): output
    default: nil
    }
  }

  /// Who had it stopped said so: the person before the handler.
  var reason: String? {
    let before = before(turn)
    switch (standing, entries[turn].event) {
    case (.running, _): return asked?.reason
    case (_, .held(let reason)), (_, .cancelled(let reason)): return reason
    case (_, .skipped): return skip?.reason
    case (.suspended, .reported(.suspended(let reason, _))):
      return wrong == .handlersReasonWins ? reason : before.asked?.reason ?? reason
    case (.suspended, _), (.cancelled, _): return before.asked?.reason
    default: return nil
    }
  }

  /// A person who had it stopped goes before its handler.
  var holder: JobHold {
    guard case .reported(.suspended(_, let holder)) = entries[turn].event else { return .request }
    return before(turn).asked?.stop == .suspended ? .request : holder
  }

  private var cause: JobID? { skip?.by }

  private var failures: [AttemptFailure] {
    let all = entries.indices.compactMap { index -> AttemptFailure? in
      let before = before(index)
      let message: String
      switch entries[index].event {
      case .reported(let result) where before.asked?.stop == .overdue && !result.isFinal: message = words
      case .died where before.asked?.stop == .overdue: message = words
      case .reported(.failed(let text)), .reported(.retry(_, let text, _)), .givenUp(let text): message = text
      case .died where self.before(index + 1).standing == .failed:
        let deaths = before.crashes + 1
        message = "the process ended during the attempt, \(deaths) time\(deaths == 1 ? "" : "s")"
      default: return nil
      }
      return AttemptFailure(attempt: before.attempt, at: entries[index].at, message: message)
    }
    return all.suffix(Limits.failuresKept)
  }
}
