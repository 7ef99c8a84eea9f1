import Foundation

extension JobQueue {
  /// Stores the jobs of a plan in one transaction: all of them or none. Jobs without dependencies may start at once.
  ///
  /// Throws what ``enqueue(_:after:options:)`` throws for any of the jobs, and ``JobError/Code/invalidArgument`` if one
  /// refers to a node of another plan or belongs to another store.
  @discardableResult
  public func enqueue(_ plan: JobPlan) async throws -> PlanHandle {
    let id = PlanID(name: plan.name)
    let jobs = try plan.jobs(in: self, as: id)
    let stored = jobs.isEmpty ? [] : try await store.insert(JobInsertion(jobs)).jobs
    let nodes = Dictionary(uniqueKeysWithValues: zip(plan.entries.map(\.mark), stored))
    return PlanHandle(id: id, store: store, plan: plan, nodes: nodes)
  }

  /// A handle to the plan with this id, which an earlier process may have enqueued. Does not access the store.
  public func plan(_ id: PlanID) -> PlanHandle { PlanHandle(id: id, store: store, plan: nil, nodes: [:]) }
}

/// A handle to a stored plan.
///
/// Where a unique key was already held, the job that holds it stands for the node, and is not part of the plan.
public struct PlanHandle: Sendable, Identifiable {
  /// The id by which a later process can find the plan.
  public let id: PlanID
  let store: any JobStore
  /// Nil if the handle was made from an id.
  let plan: JobPlan?
  let nodes: [UUID: InsertedJob]

  /// A handle to the job of a node. Throws ``JobError/Code/invalidArgument`` if the node is not of this plan, or if
  /// this handle was made from an id, which only knows names.
  public func handle<Output>(of node: PlanNode<Output>) throws -> JobHandle<Output> {
    guard let job = nodes[node.mark] else {
      throw JobError(
        .invalidArgument,
        plan == nil
          ? "a plan that was found by its id does not know its nodes; name them, and use handle(named:as:)"
          : "this node of '\(node.kinds[0])' is not of the plan \(id)")
    }
    return JobHandle(id: job.id, isNew: job.disposition.isNew, store: store, kinds: node.kinds, coding: node.coding)
  }

  /// A handle to the job added under a name. Throws ``JobError/Code/notFound`` if the plan has no such job now.
  public func handle<P: JobPayload>(named name: String, as type: P.Type) async throws -> JobHandle<P.Output> {
    let filter: JobFilter = .plan(id) && .tag(PlanID.tag(ofNode: name)) && .kind(type)
    guard let job = try await store.jobs(JobQuery(filter, limit: 1)).first else {
      throw JobError(.notFound, "the plan \(id) has no job '\(name)' of the kind '\(P.kind)'")
    }
    return JobHandle(id: job.id, isNew: false, store: store, kinds: [P.kind] + P.formerKinds, coding: P.outputCoding)
  }

  /// The current jobs of the plan, in the order in which they were added; empty if the store has none, or none any
  /// more. The other members throw ``JobError/Code/notFound`` in that case.
  public var jobs: [JobSnapshot] { get async throws { try await store.jobs(JobQuery(.plan(id), limit: .max)) } }

  /// Cancels all unfinished jobs in one transaction. Running ones are asked to stop, and end when their handlers do.
  public func cancel(reason: String? = nil) async throws {
    try await mustExist()
    _ = try await store.change(.cancel(reason: reason), where: .plan(id), after: nil, limit: .max)
  }

  /// Runs the jobs that failed or were cancelled again, and with them the jobs that were skipped because of those, in
  /// one transaction. Throws ``JobError/Code/wrongState`` if one can't be retried, with the reason; the others are.
  public func retry() async throws {
    try await mustExist()
    let ended = JobFilter.plan(id) && (.state(.failed) || .state(.cancelled))
    let report = try await store.change(.retry, where: ended, after: nil, limit: .max)
    if let refusal = report.refused.first { throw JobError(refusal) }
  }

  /// The graph as Mermaid text, with the state of each job.
  public func mermaid() async throws -> String {
    try await mustExist()
    let jobs = try await store.jobs(JobQuery(.plan(id), detail: .edges, limit: .max))
    if let plan {
      let states = Dictionary(uniqueKeysWithValues: jobs.map { ($0.id, $0.state) })
      return plan.graph { nodes[$0].flatMap { states[$0.id] } }.mermaid
    }
    var graph = JobGraph()
    graph.places = Dictionary(uniqueKeysWithValues: jobs.enumerated().map { ($1.id, $0) })
    for job in jobs {
      let name = job.tags.lazy.compactMap(PlanID.node(ofTag:)).first ?? job.kind
      graph.add(name, job.state, after: job.edges.map { ($0.target, $0.condition) })
    }
    return graph.mermaid
  }

  private func mustExist() async throws {
    guard plan == nil, try await store.jobs(JobQuery(.plan(id), limit: 1)).isEmpty else { return }
    throw JobError(.notFound, "there is no plan \(id), or it was removed")
  }
}
