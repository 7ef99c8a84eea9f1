import Foundation

/// The state of a job in its store at one moment.
public struct JobSnapshot: Hashable, Sendable, Identifiable {
  public var id: JobID
  public var queue: String
  public var kind: String
  public var key: String?
  public var tags: Set<String>
  public var lane: JobLane?
  public var requires: Set<JobConstraint>
  public var state: JobState
  public var priority = JobPriority.normal
  /// How many attempts handlers have made. Includes the current attempt, but none that a process death cut short.
  public var attempt = 0
  public var maxAttempts = Defaults.maxAttempts
  public var timeout: Duration?
  /// How many times a process died during an attempt of this job.
  public var crashes = 0
  public var createdAt: Date
  /// When the job is due, while it is ``JobState/scheduled``.
  public var runAt: Date?
  /// When the last attempt started.
  public var startedAt: Date?
  public var finishedAt: Date?
  public var progress: JobProgress?
  /// Why the job was suspended or cancelled, if a reason was given; or why it was skipped.
  public var reason: String?
  /// The job whose end caused this one to be skipped: the first, never one skipped itself. It may be deleted by now.
  public var cause: JobID?
  /// Why this running job was asked to stop; nil if it was not.
  public var stopAsked: StopReason?
  /// The payload, if the query asked for it.
  public var payload: Data?
  /// The output, if the query asked for it and the job succeeded with one.
  public var output: Data?
  /// The last failed attempts, newest last, at most ``Limits/failuresKept``. Filled if the query asked for them.
  public var failures: [AttemptFailure] = []
  /// What the job waits or waited for: jobs by id, and keys that no job has had yet. Omits jobs that were removed after
  /// they ended as required. Filled if the query asked for it.
  public var edges: [JobEdge] = []
  public var batch: BatchID?
  /// When to give up on the job. If it is retried after that time, it runs anyway.
  public var deadline: JobDeadline?
  /// The job's unique key, even after it was released.
  public var uniqueKey: String?
  /// The names of finished steps, sorted; empty once the job has succeeded. Filled if the query asked for them.
  public var steps: [String] = []
  /// What suspended the job, while it is ``JobState/suspended``.
  public var heldBy: JobHold?
  /// What may keep an unfinished job from running. Present if the query asked for it.
  public var waits: JobWaits?

  public init(
    id: JobID, queue: String, kind: String, key: String? = nil, tags: Set<String> = [], lane: JobLane? = nil,
    requires: Set<JobConstraint> = [], state: JobState, createdAt: Date, startedAt: Date? = nil
  ) {
    (self.id, self.queue, self.kind, self.key) = (id, queue, kind, key)
    (self.tags, self.lane, self.requires, self.state) = (tags, lane, requires, state)
    (self.createdAt, self.startedAt) = (createdAt, startedAt)
  }

  /// Decodes the payload. Throws ``JobError/Code/notDecodable`` if it does not decode as this type, or was not read.
  public func payload<P: JobPayload>(as type: P.Type) throws -> P {
    try decoded("payload", as: P.self) { try JobCoding.decode(P.self, from: payload ?? Data()) }
  }

  /// Decodes the output of a job that succeeded and whose output was read. Throws ``JobError/Code/notDecodable`` if it
  /// does not decode as the output of this kind.
  public func output<P: JobPayload>(as type: P.Type) throws -> P.Output {
    try decoded("output", as: P.Output.self) { try P.outputCoding.decode(output) }
  }

  func decoded<T>(_ what: String, as type: T.Type, _ decode: () throws -> T) throws -> T {
    do { return try decode() } catch {
      throw JobError(
        .notDecodable, "the \(what) of job \(id) (\(kind)) is no \(T.self): \(error.briefly)", cause: error)
    }
  }
}

/// A snapshot with its payload decoded: `$0.payload.photo`, and `$0.id`, `$0.state` and the like directly.
@dynamicMemberLookup
public struct TypedJobSnapshot<Payload: JobPayload>: Sendable, Identifiable {
  public let job: JobSnapshot
  public let payload: Payload

  public var id: JobID { job.id }

  /// What the job returned; nil if it has not succeeded, or if its output was not read or does not decode.
  public var output: Payload.Output? { job.state == .succeeded ? try? Payload.outputCoding.decode(job.output) : nil }

  public subscript<T>(dynamicMember member: KeyPath<JobSnapshot, T>) -> T { job[keyPath: member] }
}

/// A failed attempt, as it is stored.
public struct AttemptFailure: Hashable, Codable, Sendable {
  public var attempt: Int
  public var at: Date
  /// The error message, at most ``Limits/messageBytes``.
  public var message: String
  /// A code for programs to match on: that of a ``CodedError``, or else the name of the error's type. Nil if no error
  /// was thrown, because the process died or a deadline passed, and for failures that older versions stored.
  public var code: String?

  public init(attempt: Int, at: Date, message: String, code: String? = nil) {
    (self.attempt, self.at, self.message, self.code) = (attempt, at, message, code)
  }
}

/// The progress of a running job.
public struct JobProgress: Hashable, Codable, Sendable {
  /// The fraction done, from 0 to 1.
  public var fraction: Double
  public var message: String?

  public init(fraction: Double, message: String? = nil) {
    self.fraction = fraction.isFinite ? min(max(fraction, 0), 1) : 0
    self.message = message?.cutToMessage
  }
}

/// The error thrown when waiting for the value of a job that ended without one.
public struct JobFailure: LocalizedError, Hashable, Codable, Sendable, CustomStringConvertible {
  public var job: JobID
  public var kind: String
  /// How the job ended: ``JobState/failed``, ``JobState/cancelled`` or ``JobState/skipped``.
  public var state: JobState
  public var message: String
  /// The code of the last failed attempt, if the job failed: see ``AttemptFailure/code``.
  public var code: String?
  public var attempts: Int

  public init(
    job: JobID, kind: String, state: JobState = .failed, message: String, code: String? = nil, attempts: Int
  ) {
    (self.job, self.kind, self.state, self.message) = (job, kind, state, message)
    (self.code, self.attempts) = (code, attempts)
  }

  /// Failures stored by older versions have no state, and are read as failed.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      job: try values.decode(JobID.self, forKey: .job), kind: try values.decode(String.self, forKey: .kind),
      state: try values.decodeIfPresent(JobState.self, forKey: .state) ?? .failed,
      message: try values.decode(String.self, forKey: .message),
      code: try values.decodeIfPresent(String.self, forKey: .code),
      attempts: try values.decode(Int.self, forKey: .attempts))
  }

  public var description: String { "job \(job) (\(kind)): \(message)" }
  public var errorDescription: String? { description }
}

/// Why a running handler was asked to stop.
@nonexhaustive
public enum StopReason: String, Codable, Hashable, Sendable {
  /// The job was cancelled.
  case cancelled
  /// The job was suspended.
  case suspended
  /// The attempt took longer than the job's timeout.
  case timedOut
  /// The job's deadline has passed.
  case overdue
  /// The worker is stopping. The job becomes ready again and keeps its attempt.
  case shutdown
  /// A condition that the job requires no longer holds. The job becomes ready again and keeps its attempt.
  case constraintLost
  /// The claim was lost, or the job was ended from outside. Nothing the handler does from now on is stored.
  case claimLost
}

/// The number of jobs in each state.
public struct JobCounts: Hashable, Sendable, CustomStringConvertible {
  private var numbers: [JobState: Int]

  public init(_ numbers: [JobState: Int] = [:]) { self.numbers = numbers.filter { $0.value != 0 } }

  public subscript(_ state: JobState) -> Int {
    get { numbers[state] ?? 0 }
    set { numbers[state] = newValue == 0 ? nil : newValue }
  }

  /// The number of jobs in any state.
  public var total: Int { numbers.values.reduce(0, +) }

  /// The number of jobs that have not ended.
  public var unfinished: Int { numbers.reduce(0) { $1.key.isFinished ? $0 : $0 + $1.value } }

  /// As in "2 ready, 201 succeeded"; "none" if there are no jobs.
  public var description: String {
    let words = JobState.allCases.compactMap { state in numbers[state].map { "\($0) \(state)" } }
    return words.isEmpty ? "none" : words.joined(separator: ", ")
  }
}
