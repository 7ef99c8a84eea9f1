import Foundation

/// Which jobs: `.kind("upload") && !.state(.running)`.
public indirect enum JobFilter: Hashable, Sendable {
  case all
  case id(JobID)
  case queue(String)
  case kind(String)
  case state(JobState)
  case tag(String)
  case key(String)
  case lane(String)
  case and(JobFilter, JobFilter)
  case or(JobFilter, JobFilter)
  case not(JobFilter)

  public static func kind<P: JobPayload>(_ type: P.Type) -> JobFilter { kinds([type.kind] + type.formerKinds) }

  static func kinds(_ kinds: [String]) -> JobFilter {
    kinds.dropFirst().reduce(.kind(kinds[0])) { $0 || .kind($1) }
  }

  static func queues(_ queues: Set<String>) -> JobFilter { queues.sorted().map { .queue($0) }.reduce(!.all, ||) }

  /// One of these, of which there must be one.
  static func ids(_ ids: [JobID]) -> JobFilter { ids.dropFirst().reduce(.id(ids[0])) { $0 || .id($1) } }

  /// The only ids that can match; nil if it says nothing of that.
  package var onlyIDs: [JobID]? {
    switch self {
    case .id(let id): [id]
    case .or(let a, let b): if let a = a.onlyIDs, let b = b.onlyIDs { a + b } else { nil }
    case .and(let a, let b): a.onlyIDs ?? b.onlyIDs
    default: nil
    }
  }

  public static func && (a: JobFilter, b: JobFilter) -> JobFilter { .and(a, b) }
  public static func || (a: JobFilter, b: JobFilter) -> JobFilter { .or(a, b) }
  public static prefix func ! (a: JobFilter) -> JobFilter { .not(a) }

  /// Whether `job` is one of them.
  public func matches(_ job: JobSnapshot) -> Bool {
    switch self {
    case .all: true
    case .id(let id): job.id == id
    case .queue(let queue): job.queue == queue
    case .kind(let kind): job.kind == kind
    case .state(let state): job.state == state
    case .tag(let tag): job.tags.contains(tag)
    case .key(let key): job.key == key
    case .lane(let name): job.lane?.name == name
    case .and(let a, let b): a.matches(job) && b.matches(job)
    case .or(let a, let b): a.matches(job) || b.matches(job)
    case .not(let a): !a.matches(job)
    }
  }
}

/// A page of jobs, by id.
public struct JobQuery: Sendable {
  public struct Detail: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let payload = Detail(rawValue: 1)
    public static let output = Detail(rawValue: 2)
    public static let failures = Detail(rawValue: 4)
    public static let all: Detail = [.payload, .output, .failures]
  }

  public enum Order: Hashable, Sendable {
    case oldestFirst, newestFirst
  }

  public var filter: JobFilter
  /// What to read beside what every snapshot has.
  public var detail: Detail
  public var order: Order
  /// The last id of the page before this one, in `order`.
  public var after: JobID?
  public var limit: Int

  public init(
    _ filter: JobFilter = .all, detail: Detail = [], order: Order = .oldestFirst, after: JobID? = nil,
    limit: Int = 100
  ) {
    self.filter = filter
    self.detail = detail
    self.order = order
    self.after = after
    self.limit = limit
  }
}

/// Whose work is asked about.
public enum WorkScope: Hashable, Sendable {
  /// What a worker on these queues that knows these kinds can serve.
  case worker(queues: Set<String>, kinds: Set<String>)
  /// What any living worker can serve of this queue, and jobs of these kinds.
  case queue(String, kinds: Set<String> = [])
}

/// What keeps a scope from being idle.
///
/// Idle means: no job that can be served is ready or running, and none that was claimed before waits for its next
/// attempt. Not waited for: a first start that is ahead, what is suspended or paused, and kinds that nobody knows.
public struct OutstandingWork: Hashable, Sendable {
  /// Jobs that can be served and are ready or running.
  public var active: Int
  /// Whether a job that can be served was claimed before and waits for its next attempt.
  public var isReturning: Bool
  /// All unfinished jobs of the scope's queues, whether they can be served or not.
  public var left: JobCounts

  public var isIdle: Bool { active == 0 && !isReturning }

  public init(active: Int, isReturning: Bool, left: JobCounts) {
    self.active = active
    self.isReturning = isReturning
    self.left = left
  }
}
