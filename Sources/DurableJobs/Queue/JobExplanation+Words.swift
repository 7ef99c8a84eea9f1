import Foundation

extension JobExplanation: CustomStringConvertible {
  /// The job's state, and a sentence or two for each reason: what it is and what helps.
  public var description: String {
    var sentences = ["Job \(id) \(state.verdict)"]
    if reasons.isEmpty { sentences.append("Nothing keeps it from running: the next free worker takes it") }
    for reason in reasons { sentences += [reason.description] + (reason.help.map { [$0] } ?? []) }
    if let deadline { sentences.append("It is given up unless it has \(deadline.deed) by \(deadline.date.words)") }
    return sentences.map { $0 + "." }.joined(separator: " ")
  }
}

extension JobExplanation.Reason: CustomStringConvertible {
  /// A sentence without its full stop.
  public var description: String {
    switch self {
    case .circle(let jobs):
      "The jobs \(jobs.map(\.description).joined(separator: ", ")) wait for each other in a circle"
    case .held(.request, let reason): "It is suspended" + (reason.map { ": \($0)" } ?? "")
    case .held(.handler, let reason): "Its handler suspended it" + (reason.map { ": \($0)" } ?? "")
    case .held(.undecodable, let reason): "Its payload could not be read" + (reason.map { ": \($0)" } ?? "")
    case .uniqueKey(let key, let job, .failed): "Job \(job) has its unique key '\(key)'; it failed and holds their lane"
    case .uniqueKey(let key, let job, let state):
      "Job \(job) has its unique key '\(key)' and goes first; it \(state.verdict)"
    case .needs(let job, let state, let condition): "It waits for \(condition.words)job \(job), which \(state.verdict)"
    case .needsKey(let key, let condition):
      "It waits for \(condition.words)the first job with the key '\(key)', which nobody has enqueued yet"
    case .lane(let name, let job, .failed): "Job \(job) failed and holds the lane '\(name)'"
    case .lane(let name, let job, let state): "Job \(job) is before it in the lane '\(name)'; it \(state.verdict)"
    case .start(let time): "It starts at \(time.words)"
    case .backOff(let time, let failure):
      "It runs again at \(time.words), after attempt \(failure.attempt) failed: \(failure.message)"
    case .putOff(let time, 0): "Its handler snoozed it until \(time.words)"
    case .putOff(let time, let crashes):
      "It was put off until \(time.words), by its handler or since its process ended (\(crashes) so far)"
    case .paused(let queue): "The queue '\(queue)' is paused"
    case .limit(let queue, let running):
      "The queue '\(queue)' runs \(running) job\(running == 1 ? "" : "s") now, as many as its limit allows"
    case .rate(let queue, let rate, let next):
      "The queue '\(queue)' starts at most \(rate); its next job may start at \(next.words)"
    case .laneRate(let lane, let rate, let next):
      "The lane '\(lane)' starts at most \(rate); this job may start at \(next.words)"
    case .noWorker: "No worker is running"
    case .queueUnserved(let queue): "No running worker serves the queue '\(queue)'"
    case .kindUnknown(let kind): "No running worker handles the kind '\(kind)'"
    case .constraint(let name, .setByHand): "It requires '\(name)', which was set by hand to no"
    case .constraint(let name, .absent): "It requires '\(name)', which holds for no worker that could run it"
    case .constraint(let name, .unprovided): "It requires '\(name)', which no worker provides"
    case .slotsTaken(let running, let workers):
      "It waits for a free slot: \(workers == 1 ? "the worker that" : "the \(workers) workers that") can run it "
        + "\(workers == 1 ? "runs" : "run") \(running) job\(running == 1 ? "" : "s") now"
    case .running(let worker, let since, let asked):
      [
        since.map { "It has been running since \($0.words)" } ?? "It runs",
        worker.map { "in process \($0.process)\($0.standing.words)" } ?? "in a process of which nothing is known",
        asked.map { "and was asked to stop: \($0.rawValue)" } ?? "",
      ].filter { !$0.isEmpty }.joined(separator: " ")
    case .ended(.succeeded, _, _): "It has ended"
    case .ended(_, let reason, _): "It has ended" + (reason.map { ": \($0)" } ?? "")
    }
  }

  /// What would let the job continue, if that takes someone's action.
  public var help: String? {
    switch self {
    case .circle: "Cancel one of them, or give a lane of theirs another seat"
    case .held(.request, _): "Resume it"
    case .held(.handler, _): "It goes on when it is resumed, completed or failed from outside"
    case .held(.undecodable, _): "Resume it once a program runs that reads it"
    case .lane(_, let job, .failed): "Retry or remove job \(job)"
    case .uniqueKey(_, let job, .failed): "Remove job \(job), or cancel this one and retry that"
    case .uniqueKey(_, let job, .suspended), .needs(let job, .suspended, _), .lane(_, let job, .suspended):
      "Resume job \(job)"
    case .needsKey(let key, _): "Enqueue a job with that key: '\(key)'"
    case .paused: "Unpause it"
    case .noWorker: "Start one"
    case .queueUnserved: "Start a worker on that queue"
    case .kindUnknown: "Register that kind with a worker"
    case .constraint(let name, .setByHand): "Set '\(name)' to yes, or leave it to the workers again"
    case .constraint(let name, .unprovided): "Provide '\(name)' with a worker, or set it by hand"
    case .ended(let state, _, _) where state.isRetriable: "Retry it to run it again"
    case .ended(_, _, let cause?): "Retry job \(cause)"
    case .running(let worker?, _, _) where worker.standing == .dead: "A worker that starts gives it back"
    default: nil
    }
  }
}

extension JobState {
  /// What is said of a job in this state.
  fileprivate var verdict: String {
    switch self {
    case .succeeded, .failed: "\(self)"
    case .cancelled, .skipped: "was \(self)"
    case .ready, .scheduled, .blocked, .running, .suspended: "is \(self)"
    }
  }
}

extension JobEdge.Condition {
  fileprivate var words: String {
    switch self {
    case .succeeded: ""
    case .ended: "the end of "
    case .failed: "a failure of "
    }
  }
}

extension StoredWorker.Standing {
  fileprivate var words: String {
    switch self {
    case .alive: ""
    case .silent: ", which does not answer"
    case .dead: ", which has died"
    }
  }
}

extension Date { var words: String { formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: false)) } }
