/// A predicate on jobs: `.kind("upload") && !.state(.running)`.
///
/// A filter of more than ``Limits/filterParts`` parts, or nested deeper than ``Limits/filterDepth``, matches nothing
/// and is rejected by every store with ``JobError/Code/invalidArgument``. Any number of ids, queues or kinds in a set,
/// as in `.ids(many)`, is a single part. A ``JobQueue`` sees only its own jobs, whatever queue a filter names.
public struct JobFilter: Hashable, Sendable {
  /// What a filter tests.
  @nonexhaustive
  public indirect enum Condition: Hashable, Sendable {
    /// The job is one of these.
    case ids(Set<JobID>)
    case queues(Set<String>)
    case kinds(Set<String>)
    case states(Set<JobState>)
    case tag(String)
    case key(String)
    case lane(String)
    case requires(JobConstraint)
    case batch(BatchID)
    /// The job is suspended, and by this.
    case heldBy(JobHold)
    /// All of these match. An empty list matches every job.
    case and([JobFilter])
    /// At least one of these matches. An empty list matches no job.
    case or([JobFilter])
    case not(JobFilter)
    /// The filter exceeded the limits; see ``JobFilter/check()``.
    case tooLarge
  }

  public let condition: Condition
  /// The number of conditions in the whole tree. Parts and depth are bounded, so that no walk overflows a stack.
  private let parts: Int
  private let depth: Int

  private init(_ condition: Condition) {
    let inner =
      switch condition {
      case .and(let all), .or(let all): all
      case .not(let a): [a]
      default: [] as [JobFilter]
      }
    let (parts, depth) = (1 + inner.reduce(0) { $0 + $1.parts }, 1 + (inner.map(\.depth).max() ?? 0))
    let isTooLarge = parts > Limits.filterParts || depth > Limits.filterDepth
    (self.condition, self.parts, self.depth) = isTooLarge ? (.tooLarge, 1, 1) : (condition, parts, depth)
  }

  public static let all = JobFilter(.and([]))
  public static func id(_ id: JobID) -> JobFilter { JobFilter(.ids([id])) }
  public static func ids(_ ids: some Sequence<JobID>) -> JobFilter { JobFilter(.ids(Set(ids))) }
  public static func queue(_ name: String) -> JobFilter { JobFilter(.queues([name])) }
  public static func queues(_ names: some Sequence<String>) -> JobFilter { JobFilter(.queues(Set(names))) }
  public static func kind(_ name: String) -> JobFilter { JobFilter(.kinds([name])) }
  public static func kind<P: JobPayload>(_ type: P.Type) -> JobFilter { kinds([type.kind] + type.formerKinds) }
  public static func kinds(_ names: some Sequence<String>) -> JobFilter { JobFilter(.kinds(Set(names))) }
  public static func state(_ state: JobState) -> JobFilter { JobFilter(.states([state])) }
  public static func states(_ states: some Sequence<JobState>) -> JobFilter { JobFilter(.states(Set(states))) }
  package static let unfinished = states(JobState.allCases.filter { !$0.isFinished })
  public static func tag(_ tag: String) -> JobFilter { JobFilter(.tag(tag)) }
  public static func key(_ key: String) -> JobFilter { JobFilter(.key(key)) }
  public static func lane(_ name: String) -> JobFilter { JobFilter(.lane(name)) }
  /// Jobs that require this condition, possibly among others.
  public static func requires(_ constraint: JobConstraint) -> JobFilter { JobFilter(.requires(constraint)) }
  public static func batch(_ id: BatchID) -> JobFilter { JobFilter(.batch(id)) }
  public static func heldBy(_ holder: JobHold) -> JobFilter { .state(.suspended) && JobFilter(.heldBy(holder)) }

  public static func && (a: JobFilter, b: JobFilter) -> JobFilter { join(a, b, by: \.conjuncts, as: Condition.and) }
  public static func || (a: JobFilter, b: JobFilter) -> JobFilter { join(a, b, by: \.disjuncts, as: Condition.or) }

  public static prefix func ! (a: JobFilter) -> JobFilter {
    switch a.condition {
    case .not(let b): b
    case .and(let all) where all.isEmpty: JobFilter(.or([]))
    case .or(let any) where any.isEmpty: .all
    case .tooLarge: a
    default: JobFilter(.not(a))
    }
  }

  /// Flattens operands that are already joined by the same operator.
  private static func join(
    _ a: JobFilter, _ b: JobFilter, by terms: (JobFilter) -> [JobFilter]?, as condition: ([JobFilter]) -> Condition
  ) -> JobFilter {
    for one in [a, b] where one.condition == .tooLarge { return one }
    let all = (terms(a) ?? [a]) + (terms(b) ?? [b])
    return all.count == 1 ? all[0] : JobFilter(condition(all))
  }

  package var conjuncts: [JobFilter]? { if case .and(let all) = condition { all } else { nil } }
  private var disjuncts: [JobFilter]? { if case .or(let any) = condition { any } else { nil } }

  /// Without unfinished schedules, unless it asks for them by id, kind or key: bulk changes are not meant for those.
  package var sparingSchedules: JobFilter { saysWhich ? self : self && !(.kind("durable.schedule") && .unfinished) }

  private var saysWhich: Bool {
    switch condition {
    case .ids, .kinds, .key: true
    case .and(let all), .or(let all): all.contains(where: \.saysWhich)
    case .queues, .states, .tag, .lane, .requires, .batch, .heldBy, .not, .tooLarge: false
    }
  }

  /// Throws ``JobError/Code/invalidArgument`` if the filter is too large. For stores.
  public func check() throws {
    try require(
      condition != .tooLarge,
      "the filter has more than \(Limits.filterParts) parts, or is nested more than \(Limits.filterDepth) deep. Ask for "
        + "fewer jobs at a time; many ids, queues or kinds are one part as .ids(…), .queues(…) or .kinds(…)")
  }

  /// Whether `job` matches.
  public func matches(_ job: JobSnapshot) -> Bool {
    switch condition {
    case .ids(let ids): ids.contains(job.id)
    case .queues(let names): names.contains(job.queue)
    case .kinds(let names): names.contains(job.kind)
    case .states(let states): states.contains(job.state)
    case .tag(let tag): job.tags.contains(tag)
    case .key(let key): job.key == key
    case .lane(let name): job.lane?.name == name
    case .requires(let constraint): job.requires.contains(constraint)
    case .batch(let id): job.batch == id
    case .heldBy(let holder): job.heldBy == holder
    case .and(let all): all.allSatisfy { $0.matches(job) }
    case .or(let any): any.contains { $0.matches(job) }
    case .not(let a): !a.matches(job)
    case .tooLarge: false
    }
  }
}
