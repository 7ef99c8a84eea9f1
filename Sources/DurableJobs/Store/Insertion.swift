import Foundation

/// New jobs, stored together or not at all.
public struct JobInsertion: Sendable {
  public var jobs: [NewJob]
  /// The batch that they come into.
  public var batch: BatchMembership?

  public init(_ jobs: [NewJob], batch: BatchMembership? = nil) {
    self.jobs = jobs
    self.batch = batch
  }

  /// Throws ``JobError/Code/invalidArgument`` if no store could take it.
  package func check() throws {
    for job in jobs { try job.check() }
    try batch?.check()
  }
}

/// A job that has no id yet. ``JobQueue/prepare(_:after:options:)`` makes one.
public struct NewJob: Hashable, Codable, Sendable {
  public var queue: String
  public var kind: String
  public var payload: Data
  public var terms: JobTerms
  /// What it waits for. It is ``JobState/skipped`` once one of these can't come any more.
  public var edges: [JobEdge]

  public init(queue: String, kind: String, payload: Data, terms: JobTerms = JobTerms(), edges: [JobEdge] = []) {
    self.queue = queue
    self.kind = kind
    self.payload = payload
    self.terms = terms
    self.edges = edges
  }

  /// Throws ``JobError/Code/invalidArgument`` or ``JobError/Code/notEncodable`` if no store could take it.
  public func check() throws {
    try Self.check(queue: queue)
    try Self.check(name: kind, "the kind")
    if let key = terms.key { try Self.check(name: key, "the key") }
    if let unique = terms.unique {
      try Self.check(name: unique.key, "the unique key")
      if case .within(let length) = unique.scope, length <= .zero {
        throw JobError(.invalidArgument, "the unique key is asked for within \(length); that must be more than 0")
      }
    }
    if let lane = terms.lane { try Self.check(name: lane.name, "the lane") }
    for tag in terms.tags { try Self.check(name: tag, "the tag") }
    for constraint in terms.requires { try Self.check(name: constraint.rawValue, "the constraint") }
    guard payload.count <= Limits.payloadBytes else {
      throw JobError(
        .notEncodable,
        "the payload of '\(kind)' has \(payload.count) bytes; at most \(Limits.payloadBytes) can be stored. "
          + "Keep large data in a file and its path in the job")
    }
    guard terms.maxAttempts >= 1 else {
      throw JobError(.invalidArgument, "maxAttempts is \(terms.maxAttempts); it must be at least 1")
    }
    if let timeout = terms.timeout, timeout <= .zero {
      throw JobError(.invalidArgument, "timeout is \(timeout); it must be more than 0")
    }
  }

  /// Throws ``JobError/Code/invalidArgument`` for what can't be the name of a queue.
  package static func check(queue: String) throws { try check(name: queue, "the name of the queue") }

  static func check(name: String, _ what: String) throws {
    guard !name.isEmpty else {
      throw JobError(.invalidArgument, "\(what) is empty; it must have 1 to \(Limits.nameBytes) bytes")
    }
    guard name.utf8.count <= Limits.nameBytes else {
      throw JobError(
        .invalidArgument,
        "\(what) '\(name.prefix(24))…' has \(name.utf8.count) bytes; it must have 1 to \(Limits.nameBytes)")
    }
  }
}

/// The options of a job, complete.
public struct JobTerms: Hashable, Codable, Sendable {
  public var priority: JobPriority
  public var start: JobTime
  public var maxAttempts: Int
  public var timeout: Duration?
  public var deadline: JobDeadline?
  public var key: String?
  public var unique: UniqueKey?
  public var lane: JobLane?
  public var tags: Set<String>
  public var requires: Set<JobConstraint>
  public var whenLost: JobConstraint.Loss
  /// The batch that was done when it was stored, of that one's `whenDone`.
  package var follows: BatchID?

  public init(
    priority: JobPriority = .normal, start: JobTime = .now, maxAttempts: Int = Defaults.maxAttempts,
    timeout: Duration? = nil, deadline: JobDeadline? = nil, key: String? = nil, unique: UniqueKey? = nil,
    lane: JobLane? = nil, tags: Set<String> = [], requires: Set<JobConstraint> = [],
    whenLost: JobConstraint.Loss = .goesOn
  ) {
    self.priority = priority
    self.start = start
    self.maxAttempts = maxAttempts
    self.timeout = timeout
    self.deadline = deadline
    self.key = key
    self.unique = unique
    self.lane = lane
    self.tags = tags
    self.requires = requires
    self.whenLost = whenLost
  }
}

public struct InsertionReply: Hashable, Sendable {
  /// One for each new job, in their order.
  public var jobs: [InsertedJob]
  /// The batch, if they came into one.
  public var batch: BatchID?

  public init(_ jobs: [InsertedJob], batch: BatchID? = nil) {
    self.jobs = jobs
    self.batch = batch
  }

  public var ids: [JobID] { jobs.map(\.id) }
}

/// The job that stands for a new one.
public struct InsertedJob: Hashable, Sendable {
  @nonexhaustive
  public enum Disposition: Hashable, Sendable {
    /// The new one itself.
    case inserted
    /// The one that had its unique key. The new one was not stored.
    case kept
    /// The new one itself, in place of those that had its unique key.
    case replaced
    /// The new one itself, after the one that had its unique key.
    case appended

    /// The new one was stored.
    public var isNew: Bool { self != .kept }
  }

  public var id: JobID
  public var disposition: Disposition

  public init(id: JobID, disposition: Disposition) {
    self.id = id
    self.disposition = disposition
  }
}
