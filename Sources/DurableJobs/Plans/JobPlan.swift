import Foundation

/// A graph of jobs to be stored in one transaction, in which each job waits for those that it refers to.
///
///     var plan = JobPlan("album")
///     let cover = plan.add(Fetch(url: coverURL))
///     let pages = pageURLs.map { plan.add(Fetch(url: $0)) }
///     plan.add(Bind(cover: cover.output, pages: pages.map(\.output)), named: "bind")
///     let album = try await queue.enqueue(plan)
///
/// A node can only refer to nodes added before it, so there are no cycles. Each time a plan is enqueued makes another.
public struct JobPlan: Sendable {
  struct Entry: Sendable {
    let mark: UUID
    let name: String?
    let kind: String
    let queue: JobQueue?
    /// An error in the job is thrown when the plan is enqueued.
    let draft: Result<JobDraft, any Error>
  }

  /// The prefix of the plan's id, if there is one.
  public let name: String?
  private(set) var entries: [Entry] = []

  public init(_ name: String? = nil) { self.name = name }

  /// Adds a job, with the parameters of ``JobQueue/enqueue(_:after:options:)``. A named job can also be found by later
  /// processes: ``PlanHandle/handle(named:as:)``. `queue` is another queue of the same store, if not the plan's.
  @discardableResult
  public mutating func add<P: JobPayload>(
    _ job: P, named name: String? = nil, after: [any JobReference] = [], on queue: JobQueue? = nil,
    options: JobOptions = JobOptions()
  ) -> PlanNode<P.Output> {
    var options = options
    if let name { options.tags.insert(PlanID.tag(ofNode: name)) }
    let draft = Result { try JobDraft(job, after: after, options: options) }
    let entry = Entry(mark: UUID(), name: name, kind: P.kind, queue: queue, draft: draft)
    entries.append(entry)
    return PlanNode(mark: entry.mark, kinds: [P.kind] + P.formerKinds, coding: P.outputCoding)
  }

  /// The jobs as they are to be stored, in the order in which they were added.
  package func jobs(in queue: JobQueue, as id: PlanID) throws -> [NewJob] {
    let places = places
    var names: Set<String> = []
    return try entries.map { entry in
      let target = entry.queue ?? queue
      let isHere = target.store === queue.store
      try require(isHere, "'\(entry.kind)' is to go to a queue of another store than its plan")
      if let name = entry.name { try require(names.insert(name).inserted, "two nodes of the plan are named '\(name)'") }
      var draft = try entry.draft.get()
      draft.options.tags.insert(id.tag)
      return try draft.job(in: target) { places[$0] }
    }
  }

  /// The graph as Mermaid text. A job that can't be stored is shown without its dependencies.
  public var mermaid: String { graph { _ in nil }.mermaid }

  func graph(state: (UUID) -> JobState?) -> JobGraph {
    let places = places
    var graph = JobGraph()
    for entry in entries {
      let waits = (try? entry.draft.get())?.waits ?? []
      graph.add(
        entry.name ?? entry.kind, state(entry.mark),
        after: waits.map { ($0.dependency.target { places[$0] }, $0.dependency.condition) })
    }
    return graph
  }

  private var places: [UUID: Int] { Dictionary(uniqueKeysWithValues: entries.enumerated().map { ($1.mark, $0) }) }
}

/// A job of a plan, with the type of its output: something to wait for and to take inputs from.
public struct PlanNode<Output: Sendable>: TypedJobReference {
  let mark: UUID
  let kinds: [String]
  let coding: OutputCoding<Output>

  public var dependency: JobDependency { JobDependency(.node(mark)) }
}

/// Identifies a plan in its store. The plan's jobs carry it as a tag.
public struct PlanID: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  init(name: String?) {
    let number = String(UInt64.random(in: .min ... .max), radix: 36)
    rawValue = name.map { "\($0)-\(number)" } ?? number
  }

  public var description: String { rawValue }

  var tag: String { "plan:\(rawValue)" }
  static func tag(ofNode name: String) -> String { "node:\(name)" }
  static func node(ofTag tag: String) -> String? { tag.hasPrefix("node:") ? String(tag.dropFirst(5)) : nil }
}

extension JobFilter {
  /// The jobs of a plan: with a store, all of them; with a queue, those of that queue.
  public static func plan(_ id: PlanID) -> JobFilter { .tag(id.tag) }
}
