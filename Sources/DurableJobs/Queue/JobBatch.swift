extension JobQueue {
  /// Stores jobs in one transaction as a batch: they are counted together, and `whenDone` is stored in the transaction
  /// in which the last of them ends, however they end. An empty batch is done at once.
  ///
  /// A job whose unique key is already held is not stored, and its holder does not become part of the batch. Throws
  /// what ``enqueue(_:after:options:)`` throws, and ``JobError/Code/invalidArgument`` if `whenDone` has dependencies.
  @discardableResult
  public func enqueueBatch<P: JobPayload>(
    _ name: String, contentsOf jobs: some Collection<P>, whenDone: (any JobPayload)? = nil,
    options: JobOptions = JobOptions()
  ) async throws -> JobBatch {
    let membership = BatchMembership.new(name: name, whenDone: try whenDone.map { try prepare($0) })
    return try batch(in: try await insert(jobs, options: options, in: membership))
  }

  /// Creates an empty batch that is not done before ``JobBatch/close()``, so that jobs can be added one by one.
  /// Otherwise like ``enqueueBatch(_:contentsOf:whenDone:options:)``.
  public func openBatch(_ name: String, whenDone: (any JobPayload)? = nil) async throws -> JobBatch {
    let membership = BatchMembership.open(name: name, whenDone: try whenDone.map { try prepare($0) })
    return try batch(in: try await store.insert(JobInsertion([], batch: membership)))
  }

  private func batch(in reply: InsertionReply) throws -> JobBatch {
    guard let id = reply.batch else { throw JobError(.storeFailed, "the store knows no batches") }
    return JobBatch(id: id, queue: self)
  }

  /// The batch with that id, also one that was made by an earlier process. Nothing is read yet.
  public func batch(_ id: BatchID) -> JobBatch { JobBatch(id: id, queue: self) }

  /// The newest batch with this name. Throws ``JobError/Code/notFound`` if the store has none, or none any more.
  public func batch(named name: String) async throws -> JobBatch {
    JobBatch(id: try await store.batch(.name(name), "'\(name)'").id, queue: self)
  }

  /// The newest batches of the store, at most so many. One that ``BatchSnapshot/isOpen`` may have been left behind by a
  /// process that died before it closed it.
  public func batches(limit: Int = 100) async throws -> [BatchSnapshot] { try await store.batches(.newest(limit)) }
}

/// A handle to a group of jobs that are counted together. ``JobFilter/batch(_:)`` finds its jobs. A batch is kept as
/// long as one of its jobs; an empty one as long as a job that succeeded.
public struct JobBatch: Sendable, Identifiable {
  /// The id by which a later process can find the batch; its name serves too.
  public let id: BatchID
  let queue: JobQueue

  /// The state of a batch at one moment.
  public struct Status: Hashable, Sendable {
    public let batch: BatchSnapshot
    /// How much is done, from 0 to 1. All jobs count the same; a running job counts by its reported progress.
    public let fraction: Double

    public var isDone: Bool { batch.isDone }
    /// The number of jobs that ended without success.
    public var unsuccessful: Int { batch.total - batch.unfinished - batch.succeeded }
  }

  /// The current status. Throws ``JobError/Code/notFound`` once the last of the batch's jobs was deleted.
  public var status: Status { get async throws { try await queue.store.status(of: id) } }

  /// The status now and after each change, until the batch is done. Each update reads the batch and its running jobs.
  public var statuses: JobSnapshots<Status> {
    queue.store.watch(.status(id), concerning: { _ in true }, until: \.isDone) { [id] in try await $0.status(of: id) }
  }

  /// Returns the status once all jobs have ended. Throws ``JobError/Code/wrongState`` in a handler of one of them.
  @discardableResult
  public func waitUntilDone() async throws -> Status {
    try await queue.refuseToAwait(.batch(id))
    _ = try await queue.store.wait(
      for: .end(of: id), concerning: { $0.state.isFinished || $0.isRemoved }, until: { $0 }
    ) { [id] in try await $0.batch(.id(id), "\(id)").isDone }
    return try await status
  }

  /// Closes an open batch: it is done once its current jobs have ended. Has no effect if the batch is already closed.
  /// Throws ``JobError/Code/notFound`` once the last of its jobs was deleted.
  public func close() async throws { _ = try await queue.store.insert(JobInsertion([], batch: .close(id))) }

  /// Adds a job to the batch. Throws ``JobError/Code/wrongState`` once the batch is done.
  @discardableResult
  public func enqueue<P: JobPayload>(
    _ job: P, options: JobOptions = JobOptions()
  ) async throws -> JobHandle<P.Output> { try await enqueue(contentsOf: [job], options: options)[0] }

  /// Adds jobs to the batch in one transaction. Throws ``JobError/Code/wrongState`` once the batch is done.
  @discardableResult
  public func enqueue<P: JobPayload>(
    contentsOf jobs: some Collection<P>, options: JobOptions = JobOptions()
  ) async throws -> [JobHandle<P.Output>] {
    queue.handles(try await queue.insert(jobs, options: options, in: .join(id)).jobs, as: P.self)
  }
}

extension JobStore {
  fileprivate func batch(_ query: BatchQuery, _ name: String) async throws -> BatchSnapshot {
    guard let batch = try await batches(query).first else { throw JobError(.notFound, "there is no batch \(name)") }
    return batch
  }

  fileprivate func status(of id: BatchID) async throws -> JobBatch.Status {
    let batch = try await batch(.id(id), "\(id)")
    var done = Double(batch.total - batch.unfinished)
    if batch.unfinished > 0 {
      let running = try await jobs(JobQuery(.batch(id) && .state(.running), limit: 10_000))
      done += running.reduce(0) { $0 + ($1.progress?.fraction ?? 0) }
    }
    return JobBatch.Status(batch: batch, fraction: batch.total == 0 ? 1 : min(done / Double(batch.total), 1))
  }
}
