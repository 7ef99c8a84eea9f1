import DurableJobs
import Foundation

/// How operations become jobs, and what those wait for.
extension OperationBoard {
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
  func hasEnded(_ key: String) async throws -> Bool {
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
