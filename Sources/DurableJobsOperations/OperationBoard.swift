import DurableJobs
import Foundation
import Logging

/// The unfinished durable operations of a queue: which job each of them is a view of, and what to do when that ends.
final class OperationBoard: Sendable {
  /// A finished operation for which no job has the key that others wait for.
  struct Finished {
    let key: String
    let operation: DurableOperation
    let error: (any Error)?
  }

  struct State {
    var added: Int64 = 0
    /// By number: first those that were found in the store, then the others in the order of arrival.
    var unfinished: [Int64: DurableOperation] = [:]
    var numbers: [ObjectIdentifier: Int64] = [:]
    /// The operations with an id, the first one first, and the first of a job.
    var byID: [String: [DurableOperation]] = [:]
    var byJob: [JobID: DurableOperation] = [:]
    /// What handlers get of jobs that are not what the first of their operations is.
    var views: [JobID: DurableOperation] = [:]
    /// Whether what was left is still being read.
    var isLoading = true
    /// While it is, jobs that have ended, and whether all that are found are to be cancelled.
    var endedMeanwhile: Set<JobID> = []
    var cancelsFound = false
    /// Finished operations whose dependents have yet to be released.
    var unheard: [Finished] = []
    var isReleasing = false

    /// The first unfinished operation with this id, else the first.
    func operation(_ id: String) -> DurableOperation? { byID[id].flatMap { $0.first { !$0.isFinished } ?? $0.first } }
  }

  let progress = Progress(totalUnitCount: 0)
  let jobs: JobQueue
  let logger: Logger
  private let completion: (@Sendable ((any Error)?, DurableOperation) -> Void)?
  /// Keeps the order in which jobs end.
  private let endings = DispatchQueue(label: "DurableJobs.endings")
  private let completions = DispatchQueue(label: "DurableJobs.completions")
  let state = Lock(State())

  init(
    _ jobs: JobQueue, logger: Logger, completion: (@Sendable ((any Error)?, DurableOperation) -> Void)?
  ) {
    self.jobs = jobs
    self.logger = logger
    self.completion = completion
  }

  var unfinished: [DurableOperation] {
    state.withLock { state in state.unfinished.sorted { $0.key < $1.key }.map(\.value) }
  }

  // MARK: Coming

  /// Finds the jobs that earlier processes left, however long the store is away.
  func load() async {
    do {
      var after: JobID?
      repeat {
        let page = try await answer { [jobs, after] in
          try await jobs.jobs(where: .unfinished.sparingSchedules, detail: .payload, after: after, limit: 500)
        }
        await Self.offEngine { [self] in
          for job in page { _ = view(of: job.id, job.key, job.kind, job.payload ?? Data(), isLeft: true) }
        }
        after = page.count < 500 ? nil : page.last?.id
      } while after != nil
    } catch {
      logger.error("the jobs that were left could not be read", metadata: ["error": "\(error.briefly)"])
    }
    state.withLock { ($0.isLoading, $0.endedMeanwhile, $0.cancelsFound) = (false, [], false) }
  }

  /// Cancels all that are unfinished, and what is yet to be found of what earlier processes left.
  func cancelAll() {
    state.withLock { $0.cancelsFound = $0.isLoading }
    for operation in unfinished { operation.cancel() }
  }

  /// Returns false, and logs, if the operation was already added, here or elsewhere. The caller shows the progress.
  func add(_ operation: DurableOperation, of queue: OperationQueue, mustWait: Bool) -> Bool {
    let isAdded = state.withLock { state in
      guard operation.enter(queue, self, mustWait: mustWait) else { return false }
      state.add(operation)
      return true
    }
    if !isAdded { logger.warning("an operation can be added once", metadata: ["operation": "\(operation.id)"]) }
    return isAdded
  }

  /// Logs that the operation is already stored, and ignores the dependency.
  func ignored(_ dependency: Operation, of operation: DurableOperation) {
    logger.warning(
      "an operation that is stored gets no more dependencies",
      metadata: [
        "operation": "\(operation.id)", "dependency": "\((dependency as? DurableOperation)?.id ?? "\(dependency)")",
      ])
  }

  /// What stands for a job: the operation that it is known to be, or that is being stored just now and may be it, or a
  /// new one. Nil only for a job that was left and has ended since it was read.
  private func view(
    of job: JobID, _ key: String?, _ kind: String, _ payload: Data, isLeft: Bool
  ) -> DurableOperation? {
    let id = key.flatMap(id(of:))
    let (operation, isNew, mustCancel) = state.withLock { state -> (DurableOperation?, Bool, Bool) in
      if let known = state.byJob[job] { return (known, false, false) }
      if let known = id.flatMap({ state.byID[$0] })?.first(where: { $0.isBeingStored && $0.isSame(kind, payload) }) {
        return (known, false, false)
      }
      if isLeft, state.endedMeanwhile.contains(job) { return (nil, false, false) }
      let operation = DurableOperation(id: id ?? "\(job)", kind: kind, payload: payload)
      operation.found(as: job, on: self)
      state.add(operation, as: job)
      state.byJob[job] = operation
      return (operation, true, state.cancelsFound)
    }
    if let operation, isNew {
      showProgress()
      follow(operation, job)
      if mustCancel { operation.cancel() }
    }
    return operation
  }

  /// The operation that is passed to an attempt's handler. The attempt may start before storing its job has returned,
  /// and the job may come from another process.
  func operation(of job: UntypedJob, _ context: JobContext) -> DurableOperation {
    let known = view(of: context.id, context.key, job.kind, job.payload, isLeft: false)!
    if known.isCancelled || known.isSame(job.kind, job.payload) { return known }
    let (view, isNew) = state.withLock { state in
      if let view = state.views[context.id], view.isSame(job.kind, job.payload) { return (view, false) }
      let view = DurableOperation(id: known.id, kind: job.kind, payload: job.payload)
      view.found(as: context.id, on: self)
      state.views[context.id] = view
      return (view, true)
    }
    if isNew { follow(view, context.id) }
    return view
  }

  // MARK: Names

  /// The key of an operation's job. Unambiguous, as the first slash ends the name of the queue.
  func key(of id: String) -> String {
    let queue = jobs.name.replacing("%", with: "%25").replacing("/", with: "%2F")
    return "\(queue)/\(id)"
  }

  /// The id of which this is the key; nil for a key of something else.
  func id(of key: String) -> String? {
    let prefix = self.key(of: "")
    return key.hasPrefix(prefix) ? String(key.dropFirst(prefix.count)) : nil
  }

  // MARK: Ending

  /// Requests cancellation from the store, once the operation is stored.
  func cancel(_ operation: DurableOperation) {
    switch operation.state.withLock({ $0.phase }) {
    case .waiting:
      finish(operation, CancellationError())
      releaseLater(operation)
    case .stored(let job):
      // Unstructured, as the caller continues; it ends with the store's reply.
      Task(executorPreference: EngineThread.shared) { [self] in
        do {
          try await answer { [jobs] in try await jobs.cancel(job) }
        } catch let error as JobError where error.code == .wrongState || error.code == .notFound {
          // The job has ended.
        } catch {
          logger.error("an operation could not be cancelled", metadata: ["job": "\(job)", "error": "\(error.briefly)"])
        }
      }
    case .new, .preparing, .inserting, .ended:
      break
    }
  }

  /// Finishes the operation when its job has ended.
  func follow(_ operation: DurableOperation, _ id: JobID) {
    // Detached, since a handler may add the operation and must not count as waiting for it; it ends with the job or
    // with the store.
    Task.detached(executorPreference: EngineThread.shared) { [self] in
      do {
        let job = try await answer { try await self.jobs.store.whenFinished(id) }
        await Self.offEngine(on: endings) { self.finish(operation, as: job) }
      } catch {
        await finish([operation], error)
      }
    }
  }

  /// Finishes what an operation that is about to run has waited for. The store has seen those jobs end, or it would not
  /// run, but their followers may yet have to hear of it, and a dependency is finished before its dependent begins.
  func finishDependencies(of operation: DurableOperation) async throws {
    let named = state.withLock { state in operation.dependsOn.compactMap { state.operation($0) } }
    for dependency in operation.dependencies.compactMap({ $0 as? DurableOperation }) + named {
      guard !dependency.isFinished, let id = dependency.jobID, let board = dependency.state.withLock(\.board),
        let job = try await board.end(of: id)
      else { continue }
      board.finish(dependency, as: job)
    }
  }

  /// The job with its failures; nil while it has not ended.
  func end(of id: JobID) async throws -> JobSnapshot? {
    try await jobs.store.jobs(JobQuery(.id(id), detail: .failures)).first { $0.state.isFinished }
  }

  private func finish(_ operation: DurableOperation, as job: JobSnapshot) {
    if job.state == .cancelled { operation.becomeCancelled() }
    finish(operation, job.state == .succeeded ? nil : job.failure)
  }

  /// Returns false if it had already finished.
  @discardableResult
  private func finish(_ operation: DurableOperation, _ error: (any Error)?) -> Bool {
    guard operation.finish(error) else { return false }
    let wasAdded = state.withLock { $0.remove(operation) }
    if wasAdded {
      showProgress()
      if let completion { completions.async { completion(error, operation) } }
    }
    return true
  }

  /// Returns those that had not finished.
  @discardableResult
  func finish(_ operations: [DurableOperation], _ error: any Error) async -> [DurableOperation] {
    guard !operations.isEmpty else { return [] }
    return await Self.offEngine { operations.filter { self.finish($0, error) } }
  }

  /// Does what calls observers, which may add operations, elsewhere than on ``EngineThread``.
  private static func offEngine<R: Sendable>(
    on queue: DispatchQueue = .global(), _ body: @escaping @Sendable () -> R
  ) async -> R {
    await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: body()) } }
  }

  /// Without a lock, as observers may add operations. Of several threads, the last shows what is true.
  func showProgress() {
    while true {
      let (total, ended) = state.withLock { ($0.added, $0.added - Int64($0.unfinished.count)) }
      guard progress.totalUnitCount != total || progress.completedUnitCount != ended else { return }
      (progress.totalUnitCount, progress.completedUnitCount) = (total, ended)
    }
  }
}

extension OperationBoard.State {
  mutating func add(_ operation: DurableOperation, as found: JobID? = nil) {
    added += 1
    let number = found.map { .min + $0.rawValue } ?? added
    unfinished[number] = operation
    numbers[ObjectIdentifier(operation)] = number
    byID[operation.id, default: []].append(operation)
  }

  /// Returns false if it was only a handler's view.
  mutating func remove(_ operation: DurableOperation) -> Bool {
    if let job = operation.jobID, isLoading { endedMeanwhile.insert(job) }
    if let job = operation.jobID, views[job] === operation { views[job] = nil }
    guard let number = numbers.removeValue(forKey: ObjectIdentifier(operation)) else { return false }
    unfinished[number] = nil
    byID[operation.id]?.removeAll { $0 === operation }
    if byID[operation.id]?.isEmpty == true { byID[operation.id] = nil }
    if let job = operation.jobID, byJob[job] === operation { byJob[job] = nil }
    return true
  }
}
