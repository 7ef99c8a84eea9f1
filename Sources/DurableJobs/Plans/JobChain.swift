/// A sequence of jobs, each of which takes the output of the one before, stored in one transaction.
///
///     let chain = JobChain(Login(user: user))
///       .then { FetchAvatar(session: $0, size: 64) }
///       .then { ShowImage(image: $0) }
///       .catch { ReportFailure(failure: $0) }
///     let image = try await queue.enqueue(chain).value
///
/// The closures are called immediately: their arguments are inputs of the next job, which have no values yet.
public struct JobChain<Output: Sendable>: Sendable {
  fileprivate let plan: JobPlan
  fileprivate let last: PlanNode<Output>

  private init(_ plan: JobPlan, last: PlanNode<Output>) { (self.plan, self.last) = (plan, last) }

  public init<P: JobPayload>(_ first: P, options: JobOptions = JobOptions()) where P.Output == Output {
    var plan = JobPlan()
    let last = plan.add(first, options: options)
    self.init(plan, last: last)
  }

  /// Adds a link. `.then { _ in Cleanup() }` ignores the output, but still waits for it.
  public func then<P: JobPayload>(
    options: JobOptions = JobOptions(), _ next: (JobInput<Output>) -> P
  ) -> JobChain<P.Output> where Output: Codable { adding(next(last.output), options) }

  /// Adds a link after one that has no output.
  public func then<P: JobPayload>(
    options: JobOptions = JobOptions(), _ next: () -> P
  ) -> JobChain<P.Output> where Output == Void { adding(next(), options) }

  /// Adds a job that runs if any link before it fails, with that link's failure. The links after the failed one are
  /// skipped, and ``JobHandle/value`` of the chain throws the same failure.
  public func `catch`<P: JobPayload>(
    options: JobOptions = JobOptions(), _ make: (JobInput<JobFailure>) -> P
  ) -> JobChain<Output> {
    var plan = plan
    plan.add(make(last.failure), after: [.failure(of: last)], options: options)
    return JobChain(plan, last: last)
  }

  private func adding<P: JobPayload>(_ job: P, _ options: JobOptions) -> JobChain<P.Output> {
    var plan = plan
    let next = plan.add(job, after: [last], options: options)
    return JobChain<P.Output>(plan, last: next)
  }
}

extension JobQueue {
  /// Stores the links of a chain in one transaction. The handle is that of the last link; a `catch` is not a link.
  @discardableResult
  public func enqueue<Output>(_ chain: JobChain<Output>) async throws -> JobHandle<Output> {
    try await enqueue(chain.plan).handle(of: chain.last)
  }
}
