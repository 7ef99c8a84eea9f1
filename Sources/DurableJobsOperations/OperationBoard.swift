import DurableJobs
import Foundation
import Logging

/// The unfinished durable operations of a queue: which job each of them is a view of, and what to do when that ends.
final class OperationBoard: Sendable {
  /// A finished operation for which no job has the key that others wait for.
  fileprivate struct Finished {
    let key: String
    let operation: DurableOperation
    let error: (any Error)?
  }

  fileprivate struct State {
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
  private let jobs: JobQueue
  private let logger: Logger
  private let completion: (@Sendable ((any Error)?, DurableOperation) -> Void)?
  /// Keeps the order in which jobs end.
  private let endings = DispatchQueue(label: "DurableJobs.endings")
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

  // MARK: Storing

  /// The dependencies of an operation that the store does not know.
  func gates(of operation: DurableOperation) -> [Operation] {
    operation.dependencies.filter { dependency in
      guard !dependency.isFinished else { return false }
      guard let durable = dependency as? DurableOperation else { return true }
      return durable.state.withLock { $0.board.map { $0.jobs.store !== jobs.store } ?? false }
    }
  }

  func store(_ operations: [DurableOperation], maxAttempts: Int) async {
    await release(finish(operations.filter(\.isCancelled), CancellationError()))
    let operations = operations.filter { !$0.isFinished }
    guard !operations.isEmpty else { return }
    do {
      var new: [NewJob] = []
      var earlier = Earlier()
      var awaited: [String: DurableOperation?] = [:]
      for operation in operations {
        new.append(try await job(of: operation, after: earlier, maxAttempts, &awaited))
        earlier.places[ObjectIdentifier(operation)] = new.count - 1
        earlier.newest[operation.id] = new.count - 1
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
      await release(ofThoseThatEnded: awaited)
    } catch {
      logger.error("operations could not be stored", metadata: ["error": "\(error.briefly)"])
      await release(finish(operations, error))
    }
  }

  /// Where the jobs before one stand in its insertion.
  private struct Earlier {
    var places: [ObjectIdentifier: Int] = [:]
    /// The last one with an id.
    var newest: [String: Int] = [:]
  }

  private func job(
    of operation: DurableOperation, after earlier: Earlier, _ maxAttempts: Int,
    _ awaited: inout [String: DurableOperation?]
  ) async throws -> NewJob {
    let needs = operation.state.withLock { $0.needs }
    var edges: [JobEdge] = []
    for id in operation.dependsOn {
      if let place = earlier.newest[id] {
        edges.append(JobEdge(.sibling(place), .ended))
      } else if let known = state.withLock({ $0.operation(id) }), known !== operation, known.jobID == nil {
        edges.append(JobEdge(.key(self.key(of: id)), .ended))
        awaited[self.key(of: id)] = known
      } else if try await !hasEnded(self.key(of: id)) {
        edges.append(JobEdge(.key(self.key(of: id)), .ended))
        awaited.updateValue(nil, forKey: self.key(of: id))
      }
    }
    for case let dependency as DurableOperation in operation.dependencies {
      let condition: JobEdge.Condition = needs.contains(ObjectIdentifier(dependency)) ? .succeeded : .ended
      if let place = earlier.places[ObjectIdentifier(dependency)] {
        edges.append(JobEdge(.sibling(place), condition))
      } else if let target = try await target(of: dependency, condition) {
        edges.append(JobEdge(target, condition))
        if case .key(let key) = target { awaited[key] = dependency }
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

  /// Whether jobs have had this key and none of them is unfinished.
  private func hasEnded(_ key: String) async throws -> Bool {
    let unfinished = try await jobs.store.jobs(JobQuery(.key(key) && .unfinished, limit: 1))
    guard unfinished.isEmpty else { return false }
    return try await !jobs.store.jobs(JobQuery(.key(key), limit: 1)).isEmpty
  }

  /// Nil if the dependency is already met.
  private func target(
    of dependency: DurableOperation, _ condition: JobEdge.Condition
  ) async throws -> JobEdge.Target? {
    let name = dependency.key(awaitedBy: self)
    // Read before waiting for its insertion: if it is not being stored then, these are jobs of an earlier operation.
    let succeeded = dependency.jobID == nil ? try await ids(where: .key(name) && .state(.succeeded)) : []
    await dependency.inserted()
    if dependency.isFinished, condition == .ended || dependency.error == nil { return nil }
    if let job = dependency.jobID { return .job(job) }
    if let error = dependency.error { throw error }
    // It is stored later, so jobs that succeeded under its id before are not meant.
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

  /// The key of an operation's job. Unambiguous, as the first slash ends the name of the queue.
  func key(of id: String) -> String {
    let queue = jobs.name.replacing("%", with: "%25").replacing("/", with: "%2F")
    return "\(queue)/\(id)"
  }

  /// The id of which this is the key; nil for a key of something else.
  private func id(of key: String) -> String? {
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
  private func follow(_ operation: DurableOperation, _ id: JobID) {
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
  private func end(of id: JobID) async throws -> JobSnapshot? {
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
  private func finish(_ operations: [DurableOperation], _ error: any Error) async -> [DurableOperation] {
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

  // MARK: Ending without a job

  /// Releases what waits for this operation, which has finished and has no job in this queue.
  func releaseLater(_ operation: DurableOperation) { releaseLater([finished(operation)]) }

  /// One task handles all that are pending, and tries again while the store is away.
  private func releaseLater(_ finished: [Finished]) {
    let mustBegin = state.withLock { state in
      state.unheard += finished
      guard !state.isReleasing, !state.unheard.isEmpty else { return false }
      state.isReleasing = true
      return true
    }
    // Unstructured, as the caller continues; it ends with the store's replies.
    guard mustBegin else { return }
    Task(executorPreference: EngineThread.shared) { [self] in
      while let unheard = takeUnheard() {
        let left = await tryToRelease(unheard)
        guard !left.isEmpty else { continue }
        state.withLock { $0.unheard = left + $0.unheard }
        await pause()
      }
    }
  }

  private func takeUnheard() -> [Finished]? {
    state.withLock { state in
      defer { state.unheard = [] }
      state.isReleasing = !state.unheard.isEmpty
      return state.isReleasing ? state.unheard : nil
    }
  }

  private func release(_ operations: [DurableOperation]) async {
    releaseLater(await tryToRelease(operations.map(finished)))
  }

  private func finished(_ operation: DurableOperation) -> Finished {
    Finished(key: key(of: operation.id), operation: operation, error: operation.error)
  }

  /// Releases newly stored jobs, by the keys they wait for, from operations that ended before these jobs were visible.
  private func release(ofThoseThatEnded awaited: [String: DurableOperation?]) async {
    var ended: [Finished] = []
    do {
      for (key, operation) in awaited {
        await operation?.inserted()
        guard let operation else {
          if try await hasEnded(key) {
            ended.append(Finished(key: key, operation: DurableOperation(kind: ""), error: nil))
          }
          continue
        }
        let (store, id) = operation.state.withLock { ($0.board?.jobs.store, $0.jobID) }
        if operation.isFinished {
          ended.append(Finished(key: key, operation: operation, error: operation.error))
        } else if let id, store === jobs.store, let job = try await end(of: id) {
          ended.append(
            Finished(key: key, operation: operation, error: job.state == .succeeded ? nil : job.failure))
        }
      }
    } catch let error as JobError where error.isPassing {
      report(error)
      // Unstructured, as whoever stores goes on; it ends with the store's replies.
      Task(executorPreference: EngineThread.shared) { [self] in
        await pause()
        await release(ofThoseThatEnded: awaited)
      }
    } catch {
      report(error)
    }
    releaseLater(await tryToRelease(ended))
  }

  /// For each of these that jobs in the store wait for, in any process, stores a job that ends at once in the same way.
  /// Returns them if the store is away.
  private func tryToRelease(_ finished: [Finished]) async -> [Finished] {
    guard !finished.isEmpty else { return [] }
    let awaited: Set<String>
    do { awaited = try await self.awaited(among: Set(finished.map(\.key))) } catch {
      report(error)
      return error.isPassing ? finished : []
    }
    for (index, one) in finished.enumerated() where awaited.contains(one.key) && !isStillToCome(one) {
      do {
        let job = try await standIn(for: one)
        logger.notice(
          "others waited for an operation that has no job", metadata: ["key": "\(one.key)", "job": "\(job)"])
      } catch {
        report(error)
        if error.isPassing { return Array(finished[index...]) }
      }
    }
    return []
  }

  /// Between two attempts while the store is away: it may come back, and nothing tells of that.
  private func pause() async {
    await withCheckedContinuation { continuation in
      _ = jobs.store.clock.schedule(after: .seconds(1)) { continuation.resume() }
    }
  }

  /// The store's answer, however long it is away.
  private func answer<R: Sendable>(_ question: @Sendable () async throws -> R) async throws -> R {
    while true {
      do { return try await question() } catch let error as JobError where error.isPassing { await pause() }
    }
  }

  private func report(_ error: any Error) {
    logger.error(
      "what waits for operations that have no job goes on waiting", metadata: ["error": "\(error.briefly)"])
  }

  /// Those of these keys that jobs wait for and that no job has had. Reads the jobs that are blocked or suspended, in any
  /// queue: a store has no index of keys to ask. What has ended does not wait; if it is retried, it waits for the key.
  private func awaited(among keys: Set<String>) async throws -> Set<String> {
    var awaited: Set<String> = []
    var after: JobID?
    repeat {
      let query = JobQuery(.states([.blocked, .suspended]), detail: .edges, after: after, limit: 500)
      let page = try await jobs.store.jobs(query)
      for edge in page.flatMap(\.edges) {
        if case .key(let key) = edge.target, keys.contains(key) { awaited.insert(key) }
      }
      after = page.count < 500 || awaited.count == keys.count ? nil : page.last?.id
    } while after != nil
    return awaited
  }

  /// Whether another unfinished operation has the same id, and is therefore the one to wait for.
  private func isStillToCome(_ one: Finished) -> Bool {
    guard let id = id(of: one.key) else { return false }
    return state.withLock { $0.byID[id]?.contains { $0 !== one.operation && !$0.isFinished } ?? false }
  }

  /// Of a kind of its own: if it is retried, the operation's handler must not run for it.
  private func standIn(for finished: Finished) async throws -> JobID {
    // No worker claims it, and if this process dies here, its deadline ends it.
    let terms = JobTerms(start: .at(.distantFuture), deadline: .start(by: .after(.seconds(10))), key: finished.key)
    let kind = "ended \(finished.operation.kind)"
    let job = NewJob(
      queue: jobs.name, kind: kind.utf8.count <= Limits.nameBytes ? kind : "ended", payload: Data("null".utf8),
      terms: terms)
    let id = try await jobs.store.insert(JobInsertion([job])).ids[0]
    switch finished.error {
    case nil: try await jobs.complete(id)
    case is CancellationError: try await jobs.cancel(id)
    case let error?: try await jobs.fail(id, message: error.briefly)
    }
    return id
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

extension Error {
  fileprivate var isPassing: Bool { (self as? JobError)?.isPassing ?? false }
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
