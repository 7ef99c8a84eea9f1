import DurableJobs
import Foundation

/// What waits for the keys of operations that ended without a job, or before it could be seen, is let go.
extension OperationBoard {
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

  func release(_ operations: [DurableOperation]) async {
    releaseLater(await tryToRelease(operations.map(finished)))
  }

  func finished(_ operation: DurableOperation) -> Finished {
    Finished(key: key(of: operation.id), operation: operation, error: operation.error)
  }

  /// Releases newly stored jobs, by the keys they wait for, from operations that ended before these jobs were visible.
  func release(ofThoseThatEnded awaited: [String: DurableOperation?]) async {
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
  func answer<R: Sendable>(_ question: @Sendable () async throws -> R) async throws -> R {
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

extension Error {
  fileprivate var isPassing: Bool { (self as? JobError)?.isPassing ?? false }
}
