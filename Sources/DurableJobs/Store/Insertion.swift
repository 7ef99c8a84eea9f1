import Foundation

/// New jobs that are stored together or not at all.
public struct JobInsertion: Sendable {
  public var jobs: [NewJob]
  /// The batch that the jobs become part of.
  public var batch: BatchMembership?

  public init(_ jobs: [NewJob], batch: BatchMembership? = nil) { (self.jobs, self.batch) = (jobs, batch) }

  /// Throws ``JobError/Code/invalidArgument`` for what no store accepts.
  package func check() throws {
    try jobs.withUnsafeBufferPointer { for place in $0.indices { try NewJob.check(at: $0.baseAddress! + place) } }
    try batch?.check()
  }
}

/// A job without an id, as ``JobQueue/prepare(_:after:options:)`` returns it.
public struct NewJob: Hashable, Codable, Sendable {
  public var queue: String
  public var kind: String
  public var payload: Data
  /// What the job waits for. It becomes ``JobState/skipped`` once one of these can no longer be met.
  public var edges: [JobEdge]
  public var terms: JobTerms
}

extension NewJob {
  public init(queue: String, kind: String, payload: Data, terms: JobTerms = JobTerms(), edges: [JobEdge] = []) {
    self.init(queue: queue, kind: kind, payload: payload, edges: edges, terms: terms)
  }

  /// Throws ``JobError/Code/invalidArgument`` or ``JobError/Code/notEncodable`` for what no store accepts.
  public borrowing func check() throws { try withUnsafePointer(to: self) { try Self.check(at: $0) } }

  /// The same where the job is: a copy of it would cost more than all that is checked.
  static func check(at job: UnsafePointer<NewJob>) throws {
    try check(queue: job.pointee.queue)
    try check(name: job.pointee.kind, "the kind")
    if let key = job.pointee.terms.key { try check(name: key, "the key") }
    if let unique = job.pointee.terms.unique {
      try check(name: unique.key, "the unique key")
      if case .within(let length) = unique.scope, length <= .zero {
        throw JobError(.invalidArgument, "the unique key is asked for within \(length); that must be more than 0")
      }
    }
    if let lane = job.pointee.terms.lane { try check(name: lane.name, "the lane") }
    for tag in job.pointee.terms.tags { try check(name: tag, "the tag") }
    for constraint in job.pointee.terms.requires { try check(name: constraint.rawValue, "the constraint") }
    let (size, maxAttempts) = (job.pointee.payload.count, job.pointee.terms.maxAttempts)
    guard size <= Limits.payloadBytes else {
      throw JobError(
        .notEncodable,
        "the payload of '\(job.pointee.kind)' has \(size) bytes; at most \(Limits.payloadBytes) can be stored. "
          + "Keep large data in a file and its path in the job")
    }
    guard maxAttempts >= 1 else {
      throw JobError(.invalidArgument, "maxAttempts is \(maxAttempts); it must be at least 1")
    }
    if let timeout = job.pointee.terms.timeout, timeout <= .zero {
      throw JobError(.invalidArgument, "timeout is \(timeout); it must be more than 0")
    }
  }

  /// Throws ``JobError/Code/invalidArgument`` unless the string is valid as the name of a queue.
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

/// The complete options of a job.
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
  /// If the job is a `whenDone`, the batch that it follows.
  package var follows: BatchID?
}

extension JobTerms {
  public init(
    priority: JobPriority = .normal, start: JobTime = .now, maxAttempts: Int = Defaults.maxAttempts,
    timeout: Duration? = nil, deadline: JobDeadline? = nil, key: String? = nil, unique: UniqueKey? = nil,
    lane: JobLane? = nil, tags: Set<String> = [], requires: Set<JobConstraint> = [],
    whenLost: JobConstraint.Loss = .goesOn
  ) {
    self.init(
      priority: priority, start: start, maxAttempts: maxAttempts, timeout: timeout, deadline: deadline, key: key,
      unique: unique, lane: lane, tags: tags, requires: requires, whenLost: whenLost, follows: nil)
  }

  package init(_ options: borrowing JobOptions) {
    self.init(
      priority: options.priority ?? .normal, start: options.start ?? .now,
      maxAttempts: options.maxAttempts ?? Defaults.maxAttempts, timeout: options.timeout,
      deadline: options.deadline, key: options.key, unique: options.unique, lane: options.lane, tags: options.tags,
      requires: options.requires, whenLost: options.whenLost ?? .goesOn, follows: nil)
  }
}

public struct InsertionReply: Hashable, Sendable {
  /// One result for each new job, in the same order.
  public var jobs: [InsertedJob]
  /// The batch that the jobs became part of, if any.
  public var batch: BatchID?

  public init(_ jobs: [InsertedJob], batch: BatchID? = nil) { (self.jobs, self.batch) = (jobs, batch) }

  public var ids: [JobID] { jobs.map(\.id) }
}

/// The result of inserting a job: the job itself, or the one that already held its unique key.
public struct InsertedJob: Hashable, Sendable {
  @nonexhaustive
  public enum Disposition: Hashable, Sendable {
    /// The new job was stored.
    case inserted
    /// The new job was not stored: this is the one that held its unique key.
    case kept
    /// The new job was stored in place of those that held its unique key.
    case replaced
    /// The new job was stored, to run after the one that holds its unique key.
    case appended

    /// Whether the new job was stored.
    public var isNew: Bool { self != .kept }
  }

  public var id: JobID
  public var disposition: Disposition

  public init(id: JobID, disposition: Disposition) { (self.id, self.disposition) = (id, disposition) }
}
