import Foundation

extension JobContext {
  /// Does `body` once for the job, however many attempts it takes: the result is stored, and later attempts get the
  /// stored result instead of calling `body`.
  ///
  /// The result is durable when this returns. If the process dies before that, this step is repeated, but no finished
  /// one. Each step of an attempt needs a unique name of 1 to 512 bytes that is the same in every attempt; using a name
  /// twice throws ``JobError/Code/invalidArgument``. A step that throws has not finished, and may be tried again.
  /// Results are kept until the job has succeeded or is deleted, so a retry of a failed job continues where it was. A
  /// finished step counts as progress: see ``Defaults/maxCrashesInRow``.
  ///
  /// Throws `CancellationError` if the handler was asked to stop or the claim was lost; then nothing is stored. If the
  /// store is busy or full, waits for it. A result that can't be stored fails the job; one that no longer decodes
  /// suspends it, as such a payload does.
  @discardableResult
  public nonisolated(nonsending) func step<Result: Codable & Sendable>(
    _ name: String, _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    try NewJob.check(name: name, "the name of the step")
    if let stored = try running.begin(step: name) {
      do { return try JobCoding.decode(Result.self, from: stored) } catch {
        throw Undecodable(
          reason: "the result of its step '\(name)' does not decode as \(Result.self): \(error.briefly)")
      }
    }
    return try await finishing(name) {
      let result = try await body()
      do { return (result, try JobCoding.encode(result)) } catch {
        throw JobExit(
          way: .permanent(OutputRefused(reason: "the result of its step '\(name)' can't be encoded: \(error.briefly)")))
      }
    }
  }

  /// The same for a step without a result.
  public nonisolated(nonsending) func step(
    _ name: String, _ body: nonisolated(nonsending) () async throws -> Void
  ) async throws {
    try NewJob.check(name: name, "the name of the step")
    guard try running.begin(step: name) == nil else { return }
    try await finishing(name) { (try await body(), Data()) }
  }

  private nonisolated(nonsending) func finishing<Result: Sendable>(
    _ name: String, _ body: nonisolated(nonsending) () async throws -> (Result, Data)
  ) async throws -> Result {
    do {
      let (result, data) = try await body()
      if let excess = data.excess(of: "the result of its step '\(name)'") {
        throw JobExit(way: .permanent(OutputRefused(reason: excess)))
      }
      try await store(data, of: name)
      return result
    } catch {
      running.drop(step: name)
      throw error
    }
  }

  /// Stores the result in its own transaction rather than with the next renewal.
  private nonisolated(nonsending) func store(_ result: Data, of step: String) async throws {
    let renewal = ClaimRenewal(token: token, steps: [step: result])
    var failures = 0
    while running.stopReason != .claimLost {
      do {
        switch try await store.renew(RenewalRequest(worker: worker, renewals: [renewal], isPartial: true)).first {
        case .held: return
        case .stopRequested(let reason): return running.stop(reason, at: store.clock.uptime)
        case .lost, nil: running.stop(.claimLost, at: store.clock.uptime)
        }
      } catch let error as JobError where error.isPassing && !Task.isCancelled {
        failures += 1
        await store.clock.wait(
          for: BackOff(base: .milliseconds(100), factor: 2, cap: .seconds(5)).delay(number: failures, random: 1))
      }
    }
    throw CancellationError()
  }
}
