import Foundation

/// A job whose queue is not known yet: validated and encoded, with complete options and its dependencies as references.
struct JobDraft: Sendable {
  let kind: String
  let payload: Data
  let waits: [(dependency: JobDependency, slot: Int?)]
  var options: JobOptions

  init(kind: String, payload: Data, inputs: [JobDependency] = [], after: [any JobReference], options: JobOptions) {
    (self.kind, self.payload, self.options) = (kind, payload, options)
    var waits: [(dependency: JobDependency, slot: Int?)] = inputs.enumerated().map { ($1, $0) }
    var known = Set(inputs.map(\.anywhere))
    for dependency in after.map(\.dependency) where known.insert(dependency.anywhere).inserted {
      waits.append((dependency, nil))
    }
    self.waits = waits
  }

  init<P: JobPayload>(
    _ job: P, after: [any JobReference], options: borrowing JobOptions, by encoder: PayloadEncoder = PayloadEncoder()
  ) throws {
    let (payload, inputs, hasOpen) = encoder.encode(job)
    if !hasOpen { try job.validate() }
    let own = P.options.overridden(by: job.options)
    let all = options.setsAny ? own.overridden(by: copy options) : own
    do { self.init(kind: P.kind, payload: try payload.get(), inputs: inputs, after: after, options: all) } catch {
      throw JobError(.notEncodable, "the payload of '\(P.kind)' can't be encoded: \(error.briefly)", cause: error)
    }
  }

  /// The job as it is stored. `place` finds the position of a node in the plan.
  func job(in queue: JobQueue, place: (UUID) -> Int? = { _ in nil }) throws -> NewJob {
    let edges = try waits.map { wait in
      try require(
        wait.dependency.store.map { $0 == ObjectIdentifier(queue.store) } ?? true,
        "'\(kind)' waits for a job of another store. If that is this one, opened twice, wait for the handle's id")
      guard let target = wait.dependency.target(place) else {
        throw JobError(
          .invalidArgument,
          "'\(kind)' waits for a node that is not in its plan. Add both to one plan, or enqueue the other's and wait for "
            + "its handle")
      }
      return JobEdge(target, wait.dependency.condition, slot: wait.slot)
    }
    let terms = queue.defaults.setsAny ? JobTerms(queue.defaults.overridden(by: options)) : JobTerms(options)
    var job = NewJob(queue: queue.name, kind: kind, payload: payload, terms: terms, edges: edges)
    guard queue.middleware.isEmpty || !HandlerTable.isOwn(kind) else {
      throw JobError(.invalidArgument, "'\(kind)' begins like the library's own kinds, which bypass middleware")
    }
    for middleware in queue.middleware { try middleware.enqueue(&job) }
    try withUnsafePointer(to: &job) { try NewJob.check(at: $0) }
    if let deadline = job.terms.deadline, case let now = queue.store.clock.now {
      try deadline.dated(at: now).check(start: job.terms.start.date(at: now), else: .invalidArgument)
    }
    return job
  }
}
