import Foundation

/// Something that a job can wait for: a handle, an id, a node of a plan, or one of these with another condition.
///
///     try await queue.enqueue(Publish(), after: [upload, .end(of: scan), .failure(of: backup), .key("import-7")])
public protocol JobReference: Sendable { var dependency: JobDependency { get } }

/// A job, and how it must end for the waiting job to run.
public struct JobDependency: JobReference, Hashable {
  enum Source: Hashable {
    case job(JobID)
    case key(String)
    /// A node of a plan, by its mark.
    case node(UUID)
  }

  let source: Source
  let condition: JobEdge.Condition
  /// The store of the handle that was given; nil if the reference is valid for any store.
  let store: ObjectIdentifier?

  init(_ source: Source, _ condition: JobEdge.Condition = .succeeded, in store: ObjectIdentifier? = nil) {
    (self.source, self.condition, self.store) = (source, condition, store)
  }

  public var dependency: JobDependency { self }

  /// The same dependency without a particular store.
  var anywhere: JobDependency { JobDependency(source, condition) }

  /// Nil for a node that has no place in the plan.
  func target(_ place: (UUID) -> Int?) -> JobEdge.Target? {
    switch source {
    case .job(let id): .job(id)
    case .key(let key): .key(key)
    case .node(let mark): place(mark).map { .sibling($0) }
    }
  }

  func on(_ condition: JobEdge.Condition) -> JobDependency { JobDependency(source, condition, in: store) }
}

extension JobReference where Self == JobDependency {
  /// Waits until `job` has ended in any way. A job given without a condition must succeed.
  public static func end(of job: some JobReference) -> JobDependency { job.dependency.on(.ended) }

  /// Waits until `job` has failed, or was skipped because of a failure.
  public static func failure(of job: some JobReference) -> JobDependency { job.dependency.on(.failed) }

  /// Waits for the job with this ``JobOptions/key``: the newest unfinished one in the store, else the newest that
  /// succeeded, else the first to be enqueued later. It must succeed; `.end(of: .key("import-7"))` accepts any end.
  public static func key(_ key: String) -> JobDependency { JobDependency(.key(key)) }
}

extension JobID: JobReference { public var dependency: JobDependency { JobDependency(.job(self)) } }

/// A reference to a job whose output type is known, so that another job can use the output as a ``JobInput``.
public protocol TypedJobReference<Output>: JobReference { associatedtype Output: Sendable }

extension TypedJobReference where Output: Codable {
  /// The job's output, as an input of a job that runs once it has succeeded.
  public var output: JobInput<Output> { JobInput(awaiting: dependency.on(.succeeded)) }

  /// The job's output or failure, as an input of a job that runs once it has ended.
  public var outcome: JobInput<JobOutcome<Output>> { JobInput(awaiting: dependency.on(.ended)) }
}

extension TypedJobReference {
  /// The job's failure, as an input of a job that runs only if it fails or is skipped because of a failure.
  public var failure: JobInput<JobFailure> { JobInput(awaiting: dependency.on(.failed)) }
}

extension JobHandle: TypedJobReference {
  public var dependency: JobDependency { JobDependency(.job(id), in: ObjectIdentifier(store)) }
}
