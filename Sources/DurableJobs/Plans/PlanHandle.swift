import Foundation

extension JobQueue {
  /// Stores the jobs of a plan in one transaction: all of them, or none. Those that wait for nothing may begin at once.
  ///
  /// Throws what ``enqueue(_:after:options:)`` throws for any of them, and ``JobError/Code/invalidArgument`` if one waits
  /// for a node of another plan, or goes to another store.
  @discardableResult
  public func enqueue(_ plan: JobPlan) async throws -> PlanHandle {
    let id = PlanID(name: plan.name)
    let jobs = try plan.jobs(in: self, as: id)
    let stored = jobs.isEmpty ? [] : try await store.insert(JobInsertion(jobs)).jobs
    let nodes = Dictionary(uniqueKeysWithValues: zip(plan.entries.map(\.mark), stored))
    return PlanHandle(id: id, store: store, plan: plan, nodes: nodes)
  }

  /// The plan with that id, also one that was enqueued by an earlier process. Nothing is read yet.
  public func plan(_ id: PlanID) -> PlanHandle { PlanHandle(id: id, store: store, plan: nil, nodes: [:]) }
}

/// A plan that is stored.
///
/// Where a unique key led to a job that was there before, that job stands for the node, and is none of the plan's own.
public struct PlanHandle: Sendable, Identifiable {
  /// To be kept, if the plan is to be found by a later process.
  public let id: PlanID
  let store: any JobStore
  /// Nil in a handle that was made from an id.
  let plan: JobPlan?
  let nodes: [UUID: InsertedJob]

  /// The job of a node. Throws ``JobError/Code/invalidArgument`` if it is not of this plan, or if this handle was made from
  /// an id: that knows names only.
  public func handle<Output>(of node: PlanNode<Output>) throws -> JobHandle<Output> {
    guard let job = nodes[node.mark] else {
      throw JobError(
        .invalidArgument,
        plan == nil
          ? "a plan that was found by its id does not know its nodes; name them, and use handle(named:as:)"
          : "this node of '\(node.kinds[0])' is not of the plan \(id)")
    }
    return JobHandle(
      id: job.id, isNew: job.disposition.isNew, store: store, kinds: node.kinds, coding: node.coding)
  }

  /// The job of the node that was added with that name. Throws ``JobError/Code/notFound`` if the plan has none, or no more.
  public func handle<P: JobPayload>(named name: String, as type: P.Type) async throws -> JobHandle<P.Output> {
    let filter: JobFilter = .plan(id) && .tag(PlanID.tag(ofNode: name)) && .kind(type)
    guard let job = try await store.jobs(JobQuery(filter, limit: 1)).first else {
      throw JobError(.notFound, "the plan \(id) has no job '\(name)' of the kind '\(P.kind)'")
    }
    return JobHandle(id: job.id, isNew: false, store: store, kinds: [P.kind] + P.formerKinds, coding: P.outputCoding)
  }

  /// The plan's jobs as they are now, in the order in which they were added; none if the store has none, or no more. Of such
  /// a plan all else throws ``JobError/Code/notFound``.
  public var jobs: [JobSnapshot] {
    get async throws { try await store.jobs(JobQuery(.plan(id), limit: .max)) }
  }

  /// Ends all its jobs that have not ended, in one transaction. Those that run are asked to stop, and end when their handlers do.
  public func cancel(reason: String? = nil) async throws {
    try await mustExist()
    _ = try await store.changeAll(.cancel(reason: reason), where: .plan(id), bite: .max)
  }

  /// Runs those again that failed or were cancelled, and with them what was skipped because of them.
  public func retry() async throws {
    try await mustExist()
    _ = try await store.changeAll(.retry, where: .plan(id) && (.state(.failed) || .state(.cancelled)), bite: .max)
  }

  /// The graph as Mermaid text, each job with its state.
  public func mermaid() async throws -> String {
    try await mustExist()
    let jobs = try await store.jobs(JobQuery(.plan(id), detail: .edges, limit: .max))
    if let plan {
      let states = Dictionary(uniqueKeysWithValues: jobs.map { ($0.id, $0.state) })
      return plan.graph { nodes[$0].flatMap { states[$0.id] } }.mermaid
    }
    var graph = JobGraph()
    let places = Dictionary(uniqueKeysWithValues: jobs.enumerated().map { ($1.id, $0) })
    for job in jobs {
      let name = job.tags.lazy.compactMap(PlanID.node(ofTag:)).first ?? job.kind
      graph.add(name, job.state, after: job.edges.map { (JobGraph.Source($0.target, places), $0.condition) })
    }
    return graph.mermaid
  }

  private func mustExist() async throws {
    guard plan == nil, try await store.jobs(JobQuery(.plan(id), limit: 1)).isEmpty else { return }
    throw JobError(.notFound, "there is no plan \(id), or it was removed")
  }
}
