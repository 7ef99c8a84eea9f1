import Foundation

extension JobQueue {
  /// Stores a job. It is durable when this returns. If an unfinished job has its unique key, nothing is stored, and the
  /// handle is that job's: ``JobHandle/isNew`` tells. It may be of another kind: see ``UniqueKey``.
  ///
  /// It waits for the jobs in `after`, and for those that its inputs come from (``JobInput``), and is skipped once one of
  /// these can't come any more: `after: [a, .end(of: b), .failure(of: c), .key("import-7")]`.
  ///
  /// Throws what ``JobPayload/validate()`` throws, ``JobError/Code/notEncodable`` if the payload can't be stored,
  /// ``JobError/Code/invalidArgument`` for options that make no sense, or what the store throws; then nothing is stored.
  @discardableResult
  public func enqueue<P: JobPayload>(
    _ job: P, after: [any JobReference] = [], options: JobOptions = JobOptions()
  ) async throws -> JobHandle<P.Output> {
    let new = try prepare(job, after: after, options: options)
    let reply = try await store.insert(JobInsertion([new]))
    return handle(reply.jobs[0], as: P.self)
  }

  /// Stores jobs in one transaction: all of them, or none. They are durable when this returns, with ids in their order.
  /// Where another job has the unique key, the handle is that one's, which may be an earlier job of the same call.
  @discardableResult
  public func enqueue<P: JobPayload>(
    contentsOf jobs: some Collection<P>, after: [any JobReference] = [], options: JobOptions = JobOptions()
  ) async throws -> [JobHandle<P.Output>] {
    guard !jobs.isEmpty else { return [] }
    return try await insert(jobs, after: after, options: options).jobs.map { handle($0, as: P.self) }
  }

  func insert<P: JobPayload>(
    _ jobs: some Collection<P>, after: [any JobReference] = [], options: JobOptions, in batch: BatchMembership? = nil
  ) async throws -> InsertionReply {
    let encoder = PayloadEncoder()
    let new = try jobs.map { try JobDraft($0, after: after, options: options, by: encoder).job(in: self) }
    return try await store.insert(JobInsertion(new, batch: batch))
  }

  /// The same for jobs of different kinds: `enqueue(mixed: [Resize(photo), Notify(user)])`. Returns their ids.
  @discardableResult
  public func enqueue(
    mixed jobs: [any JobPayload], after: [any JobReference] = [], options: JobOptions = JobOptions()
  ) async throws -> [JobID] {
    guard !jobs.isEmpty else { return [] }
    return try await store.insert(JobInsertion(jobs.map { try prepare($0, after: after, options: options) })).ids
  }

  /// Stores a job of a kind that has no Swift type here. `payload` should be JSON: what shows jobs shows it so.
  /// Returns the id of the job that has the unique key, if one does.
  @discardableResult
  public func enqueue(
    kind: String, payload: Data, after: [any JobReference] = [], options: JobOptions = JobOptions()
  ) async throws -> JobID {
    let new = try JobDraft(kind: kind, payload: payload, after: after, options: options).job(in: self)
    return try await store.insert(JobInsertion([new])).ids[0]
  }

  /// A job as it would be stored: validated, encoded, its options complete. For stores that offer ways in of their own.
  public func prepare<P: JobPayload>(
    _ job: P, after: [any JobReference] = [], options: JobOptions = JobOptions()
  ) throws -> NewJob {
    try JobDraft(job, after: after, options: options).job(in: self)
  }
}

extension JobTerms {
  package init(_ options: JobOptions) {
    self.init(
      priority: options.priority ?? .normal, start: options.start ?? .now,
      maxAttempts: options.maxAttempts ?? Defaults.maxAttempts, timeout: options.timeout,
      deadline: options.deadline, key: options.key, unique: options.unique, lane: options.lane, tags: options.tags,
      requires: options.requires, whenLost: options.whenLost ?? .goesOn)
  }
}

extension Error {
  /// This error in a line for a person: coding errors with the path to what they are about.
  package var briefly: String {
    switch self {
    case let error as EncodingError:
      switch error {
      case .invalidValue(let value, let context): "\(value) at \(context.codingPath.path): \(context.debugDescription)"
      @unknown default: "\(error)"
      }
    case let error as DecodingError:
      switch error {
      case .keyNotFound(let key, let context): "no '\(key.stringValue)' at \(context.codingPath.path)"
      case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
        "no \(type) at \(context.codingPath.path)"
      case .dataCorrupted(let context): "\(context.debugDescription) at \(context.codingPath.path)"
      @unknown default: "\(error)"
      }
    case let error as any LocalizedError where error.errorDescription != nil: error.errorDescription!
    default: "\(self)"
    }
  }
}

extension [any CodingKey] {
  fileprivate var path: String { isEmpty ? "the top" : map(\.stringValue).joined(separator: ".") }
}
