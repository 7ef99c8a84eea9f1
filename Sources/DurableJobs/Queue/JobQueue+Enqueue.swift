import Foundation

extension JobQueue {
  /// Stores a job, durably when this returns. If an unfinished job holds its unique key, by default nothing is stored
  /// and the handle is that of the other job, which may be of another kind: see ``JobHandle/isNew`` and ``UniqueKey``.
  ///
  /// The job waits for those in `after` and for those that its inputs come from (``JobInput``), and is skipped once one
  /// of them can no longer end as required: `after: [a, .end(of: b), .failure(of: c), .key("import-7")]`.
  ///
  /// Throws what ``JobPayload/validate()`` throws, ``JobError/Code/notEncodable`` if the payload can't be stored,
  /// ``JobError/Code/invalidArgument`` for invalid options, or what the store throws. In each case nothing is stored.
  @discardableResult
  public func enqueue<P: JobPayload>(
    _ job: P, after: [any JobReference] = [], options: JobOptions = JobOptions()
  ) async throws -> JobHandle<P.Output> {
    let reply = try await store.insert(JobInsertion([prepare(job, after: after, options: options)]))
    return handle(reply.jobs[0], as: P.self)
  }

  /// Stores jobs in one transaction, all or none, durably when this returns, with ids in their order. Where another job
  /// holds the unique key, the handle is that job's, which may be an earlier one of the same call.
  @discardableResult
  public func enqueue<P: JobPayload>(
    contentsOf jobs: some Collection<P>, after: [any JobReference] = [], options: JobOptions = JobOptions()
  ) async throws -> [JobHandle<P.Output>] {
    guard !jobs.isEmpty else { return [] }
    return handles(try await insert(jobs, after: after, options: options).jobs, as: P.self)
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

  /// Stores a job of a kind without a Swift type. `payload` should be JSON, since tools show it as such.
  /// Returns the id of the job that holds the unique key, if another one does.
  @discardableResult
  public func enqueue(
    kind: String, payload: Data, after: [any JobReference] = [], options: JobOptions = JobOptions()
  ) async throws -> JobID {
    let new = try JobDraft(kind: kind, payload: payload, after: after, options: options).job(in: self)
    return try await store.insert(JobInsertion([new])).ids[0]
  }

  /// Validates and encodes a job and completes its options, but does not store it. For stores with own enqueue calls.
  public func prepare<P: JobPayload>(
    _ job: P, after: [any JobReference] = [], options: JobOptions = JobOptions()
  ) throws -> NewJob {
    try PayloadEncoder.lent { try JobDraft(job, after: after, options: options, by: $0) }.job(in: self)
  }
}
