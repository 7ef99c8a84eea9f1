import Foundation

/// A job as its store had it at one moment.
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
  /// Attempts that handlers made. The attempt under way counts; one that was cut short by a process death does not.
  public var attempt = 0
  public var maxAttempts = Defaults.maxAttempts
  public var timeout: Duration?
  /// Process deaths during an attempt of this job, in all.
  public var crashes = 0
  public var createdAt: Date
  /// When it is due, while it is ``JobState/scheduled``.
  public var runAt: Date?
  /// When its last attempt began.
  public var startedAt: Date?
  public var finishedAt: Date?
  public var progress: JobProgress?
  /// Why it is suspended or was cancelled, if whoever did it said so; or why it was skipped.
  public var reason: String?
  /// The job whose end skipped it: the first of its kind, not one that was skipped itself. It may have been deleted since.
  public var cause: JobID?
  /// A running job whose end or suspension was asked for.
  public var stopAsked: StopReason?
  /// Present if the query asked for it.
  public var payload: Data?
  /// Present if the query asked for it and the job succeeded with one.
  public var output: Data?
  /// The last failed attempts, the newest last, at most ``Limits/failuresKept``. Present if the query asked for it.
  public var failures: [AttemptFailure] = []
  /// What it waits for, or waited for: jobs by id, and keys that nobody has brought yet. Without those that were removed
  /// after they had ended as it needed. Present if the query asked for it.
  public var edges: [JobEdge] = []
  public var batch: BatchID?
  /// When it is given up. Once that has passed, a retry makes it run all the same.
  public var deadline: JobDeadline?
  /// Its unique key, also after it has let it go.
  public var uniqueKey: String?
  /// The names of its finished steps, sorted; none once it has succeeded. Present if the query asked for it.
  public var steps: [String] = []
  /// What suspended it, while it is ``JobState/suspended``.
  public var heldBy: JobHold?
  /// What stands around it, if it is unfinished. Present if the query asked for it.
  public var waits: JobWaits?

  public init(
    id: JobID, queue: String, kind: String, key: String? = nil, tags: Set<String> = [], lane: JobLane? = nil,
    requires: Set<JobConstraint> = [], state: JobState, createdAt: Date, startedAt: Date? = nil
  ) {
    self.id = id
    self.queue = queue
    self.kind = kind
    self.key = key
    self.tags = tags
    self.lane = lane
    self.requires = requires
    self.state = state
    self.createdAt = createdAt
    self.startedAt = startedAt
  }
}

/// A snapshot with its payload decoded: `$0.payload.photo`, and `$0.id`, `$0.state` and all else of the job directly.
@dynamicMemberLookup
public struct TypedJobSnapshot<Payload: JobPayload>: Sendable, Identifiable {
  public let job: JobSnapshot
  public let payload: Payload

  public var id: JobID { job.id }

  /// What the job returned; nil if it has not succeeded, or if its output was not read or is none of this type.
  public var output: Payload.Output? {
    job.state == .succeeded ? try? Payload.outputCoding.decode(job.output) : nil
  }

  public subscript<T>(dynamicMember member: KeyPath<JobSnapshot, T>) -> T { job[keyPath: member] }
}

extension JobSnapshot {
  /// Its payload. Throws ``JobError/Code/notDecodable`` if it is none of this type, or was not read.
  public func payload<P: JobPayload>(as type: P.Type) throws -> P {
    try decoded("payload", as: P.self) { try JobCoding.decode(P.self, from: payload ?? Data()) }
  }

  /// What it returned, of a job that succeeded and whose output was read. Throws ``JobError/Code/notDecodable`` if that is none
  /// of this kind.
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

/// An attempt that failed, as it is kept.
public struct AttemptFailure: Hashable, Codable, Sendable {
  public var attempt: Int
  public var at: Date
  /// At most ``Limits/messageBytes``.
  public var message: String
  /// What a program goes by, where the message is for people: what a ``CodedError`` says, else the name of the error's type.
  /// Nil where no error was thrown: the process died, or a deadline passed; and in what older versions stored.
  public var code: String?

  public init(attempt: Int, at: Date, message: String, code: String? = nil) {
    self.attempt = attempt
    self.at = at
    self.message = message
    self.code = code
  }
}

/// How far a running job is.
public struct JobProgress: Hashable, Codable, Sendable {
  /// From 0 to 1.
  public var fraction: Double
  public var message: String?

  public init(fraction: Double, message: String? = nil) {
    self.fraction = fraction.isFinite ? min(max(fraction, 0), 1) : 0
    self.message = message?.cutToMessage
  }
}

/// Thrown to who waits for the value of a job that ended without one.
public struct JobFailure: Error, Hashable, Codable, Sendable, CustomStringConvertible {
  public var job: JobID
  public var kind: String
  /// How it ended: ``JobState/failed``, ``JobState/cancelled`` or ``JobState/skipped``.
  public var state: JobState
  public var message: String
  /// That of its last failed attempt, if it failed: see ``AttemptFailure/code``.
  public var code: String?
  public var attempts: Int

  public init(
    job: JobID, kind: String, state: JobState = .failed, message: String, code: String? = nil, attempts: Int
  ) {
    (self.job, self.kind, self.state, self.message) = (job, kind, state, message)
    (self.code, self.attempts) = (code, attempts)
  }

  /// One that an older version stored says nothing of its state, and is taken as failed.
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
}

/// Why a running handler was asked to stop.
@nonexhaustive
public enum StopReason: String, Codable, Hashable, Sendable {
  /// Somebody cancelled the job.
  case cancelled
  /// Somebody suspended the job.
  case suspended
  /// The attempt took longer than the job's timeout.
  case timedOut
  /// The job's deadline has passed.
  case overdue
  /// The worker stops. The job goes back, its attempt given back.
  case shutdown
  /// A condition that the job requires does not hold any more. The job goes back, its attempt given back.
  case constraintLost
  /// The claim was lost, or the job was ended from outside. What the handler does now counts for nothing.
  case claimLost
}

/// How many jobs are in each state.
public struct JobCounts: Hashable, Sendable {
  private var numbers: [JobState: Int]

  public init(_ numbers: [JobState: Int] = [:]) { self.numbers = numbers.filter { $0.value != 0 } }

  public subscript(_ state: JobState) -> Int {
    get { numbers[state] ?? 0 }
    set { numbers[state] = newValue == 0 ? nil : newValue }
  }

  /// Jobs in any state.
  public var total: Int { numbers.values.reduce(0, +) }

  /// Jobs that have not ended.
  public var unfinished: Int { numbers.reduce(0) { $1.key.isFinished ? $0 : $0 + $1.value } }
}

extension JobCounts: CustomStringConvertible {
  /// As in "2 ready, 201 succeeded"; "none" if there are no jobs.
  public var description: String {
    let words = JobState.allCases.compactMap { state in numbers[state].map { "\($0) \(state)" } }
    return words.isEmpty ? "none" : words.joined(separator: ", ")
  }
}
