import Foundation

extension JobQueue {
  /// Stores jobs in one transaction, as a batch: they are counted together, and `whenDone` is stored in the transaction in
  /// which the last of them ends, however they end. A batch of no jobs is done at once.
  ///
  /// Where another job has the unique key, that one stands for the new one, and is none of the batch. Throws what
  /// ``enqueue(_:after:options:)`` throws, and ``JobError/Code/invalidArgument`` for a `whenDone` that waits for other jobs.
  @discardableResult
  public func enqueueBatch<P: JobPayload>(
    _ name: String, contentsOf jobs: some Collection<P>, whenDone: (any JobPayload)? = nil,
    options: JobOptions = JobOptions()
  ) async throws -> JobBatch {
    let membership = BatchMembership.new(name: name, whenDone: try whenDone.map { try prepare($0) })
    let reply = try await insert(jobs, options: options, in: membership)
    guard let id = reply.batch else { throw JobError(.storeFailed, "the store knows no batches") }
    return JobBatch(id: id, queue: self)
  }

  /// Makes a batch without jobs, which is not done before ``JobBatch/close()``, so that its jobs can come one by one; else as
  /// ``enqueueBatch(_:contentsOf:whenDone:options:)``.
  public func openBatch(_ name: String, whenDone: (any JobPayload)? = nil) async throws -> JobBatch {
    let membership = BatchMembership.open(name: name, whenDone: try whenDone.map { try prepare($0) })
    let reply = try await store.insert(JobInsertion([], batch: membership))
    guard let id = reply.batch else { throw JobError(.storeFailed, "the store knows no batches") }
    return JobBatch(id: id, queue: self)
  }

  /// The batch with that id, also one that was made by an earlier process. Nothing is read yet.
  public func batch(_ id: BatchID) -> JobBatch { JobBatch(id: id, queue: self) }

  /// The newest batch of that name. Throws ``JobError/Code/notFound`` if the store has none, or none any more.
  public func batch(named name: String) async throws -> JobBatch {
    guard let batch = try await store.batches(.name(name)).first else {
      throw JobError(.notFound, "there is no batch '\(name)'")
    }
    return JobBatch(id: batch.id, queue: self)
  }
}

/// Jobs that are counted together. Its jobs are found by ``JobFilter/batch(_:)``; it is kept as long as one of them is,
/// and without any as long as a job that succeeded.
public struct JobBatch: Sendable, Identifiable {
  /// To be kept, if the batch is to be found by a later process; or its name.
  public let id: BatchID
  let queue: JobQueue

  /// A batch at one moment.
  public struct Status: Hashable, Sendable {
    public let batch: BatchSnapshot
    /// How much is done, from 0 to 1: each job counts as much as another, one that runs as far as it has reported.
    public let fraction: Double

    public var isDone: Bool { batch.isDone }
    /// Those that ended otherwise than with success.
    public var unsuccessful: Int { batch.total - batch.unfinished - batch.succeeded }
  }

  /// Throws ``JobError/Code/notFound`` once the last of its jobs was deleted.
  public var status: Status { get async throws { try await queue.store.status(of: id) } }

  /// The status now, and after changes, until the batch is done. Besides the batch, a look reads the jobs that run.
  public var statuses: JobSnapshots<Status> {
    JobSnapshots(
      lookout: { [id, store = queue.store] in
        store.signals.lookouts.lookout(.status(id), store, concerns: { _ in true }) { try await $0.status(of: id) }
      }, isLast: \.isDone)
  }

  /// Waits until all its jobs have ended, and returns its status then.
  @discardableResult
  public func waitUntilDone() async throws -> Status {
    let lookout = queue.store.signals.lookouts.lookout(
      .end(of: id), queue.store, pause: .zero, concerns: { $0.state.isFinished || $0.isRemoved }
    ) { [id] in try await $0.batch(id).isDone }
    var place = Lookout<Bool>.Place()
    while try await !lookout.next(&place) {}
    return try await status
  }

  /// It is done once the jobs that it has by now have ended, or at once. Nothing changes if it is closed already. Throws
  /// ``JobError/Code/notFound`` once the last of its jobs was deleted.
  public func close() async throws { _ = try await queue.store.insert(JobInsertion([], batch: .close(id))) }

  /// More jobs for it, in one transaction. Throws ``JobError/Code/wrongState`` once it is done.
  @discardableResult
  public func enqueue<P: JobPayload>(
    contentsOf jobs: some Collection<P>, options: JobOptions = JobOptions()
  ) async throws -> [JobHandle<P.Output>] {
    let reply = try await queue.insert(jobs, options: options, in: .join(id))
    return reply.jobs.map { queue.handle($0, as: P.self) }
  }
}

extension JobStore {
  fileprivate func batch(_ id: BatchID) async throws -> BatchSnapshot {
    guard let batch = try await batches(.id(id)).first else { throw JobError(.notFound, "there is no batch \(id)") }
    return batch
  }

  fileprivate func status(of id: BatchID) async throws -> JobBatch.Status {
    let batch = try await batch(id)
    var done = Double(batch.total - batch.unfinished)
    if batch.unfinished > 0 {
      let running = try await jobs(JobQuery(.batch(id) && .state(.running), limit: 10_000))
      done += running.reduce(0) { $0 + ($1.progress?.fraction ?? 0) }
    }
    return JobBatch.Status(batch: batch, fraction: batch.total == 0 ? 1 : min(done / Double(batch.total), 1))
  }
}
