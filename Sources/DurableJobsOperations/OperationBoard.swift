import DurableJobs
import Foundation
import Logging

/// The durable operations of a queue that have not finished: which job each is a view of, and what is to be done when that
/// ends.
final class OperationBoard: Sendable {
  fileprivate struct State {
    var lastNumber = 0
    /// By the order in which they came.
    var unfinished: [Int: DurableOperation] = [:]
    var numbers: [ObjectIdentifier: Int] = [:]
    /// The first that came with an id, and the first of a job.
    var byID: [String: DurableOperation] = [:]
    var byJob: [JobID: DurableOperation] = [:]
    var isLoaded = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  let progress = Progress(totalUnitCount: 0)
  private let jobs: JobQueue
  private let logger: Logger
  private let completion: (@Sendable ((any Error)?, DurableOperation) -> Void)?
  private let completions = DispatchQueue(label: "DurableJobs.completions")
  private let state = Lock(State())

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

  /// Finds the jobs that earlier processes left, and then begins. One that can't be found now is met when it runs.
  func load(then begin: @Sendable () -> Void) async {
    do {
      var after: JobID?
      repeat {
        let page = try await jobs.jobs(where: .unfinished, detail: .payload, after: after, limit: 500)
        for job in page { _ = add(viewOf: job) }
        after = page.count < 500 ? nil : page.last?.id
      } while after != nil
    } catch {
      logger.error("the jobs that were left could not be read", metadata: ["error": "\(error.briefly)"])
    }
    begin()
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.isLoaded = true
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns once ``load(then:)`` has.
  func loaded() async {
    await withCheckedContinuation { continuation in
      let isLoaded = state.withLock { state in
        if !state.isLoaded { state.waiting.append(continuation) }
        return state.isLoaded
      }
      if isLoaded { continuation.resume() }
    }
  }

  func add(_ operations: [DurableOperation]) {
    state.withLock { state in for operation in operations { state.add(operation, progress) } }
  }

  /// It was added before, here or elsewhere.
  func refused(_ operation: DurableOperation) {
    logger.warning("an operation can be added once", metadata: ["operation": "\(operation.id)"])
  }

  /// It is stored, and goes on without that.
  func ignored(_ dependency: Operation, of operation: DurableOperation) {
    logger.warning(
      "an operation that is stored gets no more dependencies",
      metadata: [
        "operation": "\(operation.id)", "dependency": "\((dependency as? DurableOperation)?.id ?? "\(dependency)")",
      ])
  }

  private func add(viewOf job: JobSnapshot) -> DurableOperation {
    let prefix = key(of: "")
    let id = job.key.flatMap { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : nil }
    let (operation, isNew) = state.withLock { state in
      if let known = state.byJob[job.id] ?? id.flatMap({ state.byID[$0] }) {
        if state.byJob[job.id] == nil { state.byJob[job.id] = known }
        return (known, false)
      }
      let operation = DurableOperation(id: id ?? "\(job.id)", kind: job.kind, payload: job.payload ?? Data())
      operation.found(as: job.id, on: self)
      state.add(operation, progress)
      state.byJob[job.id] = operation
      return (operation, true)
    }
    if isNew { follow(operation, job.id) }
    return operation
  }

  /// The operation that an attempt's handler gets. It may come before its job's storing has returned, and its job from another
  /// process.
  func operation(of job: UntypedJob, _ context: JobContext) async throws -> DurableOperation {
    if let known = state.withLock({ $0.byJob[context.id] }) { return known }
    return add(viewOf: try await jobs.job(context.id, detail: .payload))
  }

  // MARK: Storing

  /// What an operation waits for that the store knows nothing of.
  func gates(of operation: DurableOperation) -> [Operation] {
    operation.dependencies.filter { dependency in
      guard !dependency.isFinished else { return false }
      guard let durable = dependency as? DurableOperation else { return true }
      return durable.state.withLock { $0.board.map { $0.jobs.store !== jobs.store } ?? false }
    }
  }

  func store(_ operations: [DurableOperation], maxAttempts: Int) async {
    await loaded()
    for operation in operations where operation.isCancelled { end(operation, CancellationError()) }
    let operations = operations.filter { $0.beginStoring() }
    guard !operations.isEmpty else { return }
    do {
      var new: [NewJob] = []
      for operation in operations {
        new.append(try await job(of: operation, among: operations.prefix(new.count), maxAttempts))
      }
      for operation in operations { operation.beginInserting() }
      let reply = try await jobs.store.insert(JobInsertion(new))
      for (operation, job) in zip(operations, reply.jobs) {
        if !job.disposition.isNew {
          logger.notice("its job is there already", metadata: ["operation": "\(operation.id)", "job": "\(job.id)"])
        }
        state.withLock { if $0.byJob[job.id] == nil { $0.byJob[job.id] = operation } }
        operation.stored(as: job.id)
        if operation.isCancelled { cancel(operation) }
        follow(operation, job.id)
      }
    } catch {
      logger.error("operations could not be stored", metadata: ["error": "\(error.briefly)"])
      for operation in operations { end(operation, error) }
    }
  }

  private func job(
    of operation: DurableOperation, among earlier: ArraySlice<DurableOperation>, _ maxAttempts: Int
  ) async throws -> NewJob {
    let needs = operation.state.withLock { $0.needs }
    var edges = operation.dependsOn.map { JobEdge(.key(self.key(of: $0)), .ended) }
    for case let dependency as DurableOperation in operation.dependencies {
      let condition: JobEdge.Condition = needs.contains(ObjectIdentifier(dependency)) ? .succeeded : .ended
      if let place = earlier.firstIndex(of: dependency) {
        edges.append(JobEdge(.sibling(place), condition))
      } else if let target = try await target(of: dependency, condition) {
        edges.append(JobEdge(target, condition))
      }
    }
    let key = self.key(of: operation.id)
    let own = JobOptions(key: key, unique: UniqueKey(key))
    let options = JobOptions(priority: operation.queuePriority.priority, maxAttempts: maxAttempts)
    let terms = JobTerms(options.overridden(by: operation.options).overridden(by: own))
    let job = NewJob(
      queue: jobs.name, kind: operation.kind, payload: operation.payload, terms: terms, edges: edges)
    try job.check()
    return job
  }

  /// Nil if it needs not be waited for any more.
  private func target(
    of dependency: DurableOperation, _ condition: JobEdge.Condition
  ) async throws -> JobEdge.Target? {
    let name = dependency.state.withLock { $0.board }?.key(of: dependency.id) ?? key(of: dependency.id)
    // Seen before it is looked at: if it is not about to be stored then, these are of an earlier one.
    let succeeded = dependency.jobID == nil ? try await ids(where: .key(name) && .state(.succeeded)) : []
    await dependency.inserted()
    if dependency.isFinished, condition == .ended || dependency.error == nil { return nil }
    if let job = dependency.jobID { return .job(job) }
    if let error = dependency.error { throw error }
    // It is stored later. What succeeded under its id before is not what is meant.
    if !succeeded.isEmpty {
      let removed = try await jobs.store.changeAll(.remove, where: .ids(succeeded))
      if let job = Set(succeeded).subtracting(removed).min() {
        throw JobError(
          .wrongState,
          "'\(dependency.id)' is to be added later, and job \(job), which had that id and has succeeded, is still waited for: "
            + "add '\(dependency.id)' first, or give it another id")
      }
    }
    return .key(name)
  }

  private func ids(where filter: JobFilter) async throws -> [JobID] {
    try await jobs.store.jobs(JobQuery(filter, limit: .max)).map(\.id)
  }

  /// What its job is found by. Unambiguous, as the first slash ends the queue's name.
  func key(of id: String) -> String {
    let queue = jobs.name.replacing("%", with: "%25").replacing("/", with: "%2F")
    return "\(queue)/\(id)"
  }

  // MARK: Ending

  /// Asks the store, once the operation is there.
  func cancel(_ operation: DurableOperation) {
    switch operation.state.withLock({ $0.phase }) {
    case .waiting:
      end(operation, CancellationError())
    case .stored(let job):
      // Unstructured, as the caller goes on; it ends with the store's answer.
      Task(executorPreference: EngineThread.shared) { [jobs, logger] in
        do {
          try await jobs.cancel(job)
        } catch let error as JobError where error.code == .wrongState || error.code == .notFound {
          // It has ended.
        } catch {
          logger.error("an operation could not be cancelled", metadata: ["job": "\(job)", "error": "\(error.briefly)"])
        }
      }
    case .new, .preparing, .inserting, .ended:
      break
    }
  }

  /// Finishes the operation when its job has ended.
  private func follow(_ operation: DurableOperation, _ id: JobID) {
    // Detached, as it may be a handler that adds the operation, and is not to count as waiting for it; it ends with the job,
    // or with the store.
    Task.detached(executorPreference: EngineThread.shared) { [self] in
      while !operation.isFinished {
        do {
          let job = try await jobs.store.whenFinished(id)
          if job.state == .cancelled { operation.becomeCancelled() }
          end(operation, job.state == .succeeded ? nil : job.failure)
        } catch let error as JobError where error.isPassing {
          try? await Task.sleep(for: .seconds(1))  // the store is away, and may come back
        } catch {
          end(operation, error)
        }
      }
    }
  }

  private func end(_ operation: DurableOperation, _ error: (any Error)?) {
    guard operation.finish(error) else { return }
    state.withLock { $0.remove(operation, progress) }
    if let completion { completions.async { completion(error, operation) } }
  }
}

extension OperationBoard.State {
  mutating func add(_ operation: DurableOperation, _ progress: Progress) {
    lastNumber += 1
    unfinished[lastNumber] = operation
    numbers[ObjectIdentifier(operation)] = lastNumber
    if byID[operation.id]?.isFinished ?? true { byID[operation.id] = operation }
    progress.totalUnitCount += 1
  }

  mutating func remove(_ operation: DurableOperation, _ progress: Progress) {
    guard let number = numbers.removeValue(forKey: ObjectIdentifier(operation)) else { return }
    unfinished[number] = nil
    if byID[operation.id] === operation { byID[operation.id] = nil }
    if let job = operation.jobID, byJob[job] === operation { byJob[job] = nil }
    progress.completedUnitCount += 1
  }
}

extension Operation.QueuePriority {
  fileprivate var priority: JobPriority {
    switch self {
    case .veryLow: -20
    case .low: .low
    case .normal: .normal
    case .high: .high
    case .veryHigh: 20
    @unknown default: .normal
    }
  }
}
