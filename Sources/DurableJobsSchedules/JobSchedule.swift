import DurableJobs
import Foundation

/// A schedule, as a job that waits for its next tick. Then, in the transaction that ends it, it stores the tick's job
/// and the schedule's next job, which waits for the following tick. So each tick has exactly one job, however many
/// processes there are and whatever happens to them.
///
///     worker.register(JobSchedule.self)
///
/// `JobQueue.schedule(_:_:_:catchUp:options:)` stores one. A store has at most one schedule with a name.
public struct JobSchedule: Job, Hashable {
  public static let kind = "durable.schedule"

  public internal(set) var name: String
  public internal(set) var recurrence: Recurrence
  public internal(set) var catchUp: CatchUp
  /// What each tick stores, apart from its key and tags.
  package var job: NewJob
  /// The first tick that has no job yet.
  public internal(set) var next: Date
  /// The last tick that has one.
  public internal(set) var last: Date?

  /// Stores the jobs that are due and the schedule's next job. Before its time, that is one for the same tick: a job that
  /// was claimed once and waits again would keep its queue from being idle.
  public func run(in context: JobContext) async throws {
    let now = context.store.clock.now
    guard now >= next else { return try context.follow(with: stored()) }
    var (ticks, following) = catchUp.due(from: next, of: recurrence, at: now)
    // Of jobs that replace each other, only the last would remain.
    if job.terms.unique?.policy == .replace { ticks = ticks.suffix(1) }
    // The store refused the job of one of them, as when what waits for it stands before it in a lane: then they are tried
    // one by one, and that one is left out, since all later ticks would be lost with it.
    if context.attempt > 1, let first = ticks.first {
      following = ticks.dropFirst().first ?? following
      ticks = context.attempt == 2 ? [first] : []
      if ticks.isEmpty {
        context.logger.error("a tick is left out", metadata: ["schedule": "\(name)", "tick": "\(first.tickText)"])
      }
    }
    for tick in ticks { try context.follow(with: job(at: tick)) }
    guard let following else { return }
    var successor = self
    (successor.next, successor.last) = (following, ticks.last ?? last)
    try context.follow(with: successor.stored())
  }

  /// The job of a tick. Unless it has another unique key, the tick's name is one, so that no second job can be stored
  /// for the tick, not even manually.
  func job(at tick: Date) -> NewJob {
    var new = job
    let key = "\(name)@\(tick.tickText)"
    new.terms.key = key
    new.terms.unique = new.terms.unique ?? UniqueKey(key, scope: .whileStored)
    new.terms.tags.insert(Self.key(of: name))
    return new
  }

  /// The key and unique key of a schedule's job, and the tag of the jobs that it stores.
  package static func key(of name: String) -> String { "schedule/\(name)" }

  /// This schedule as a job that waits for its next tick. It has high priority, since it takes little time and others
  /// wait for it.
  func stored() throws -> NewJob {
    let key = Self.key(of: name)
    let terms = JobTerms(priority: .high, start: .at(next), key: key, unique: UniqueKey(key))
    let new = NewJob(queue: job.queue, kind: Self.kind, payload: try payload, terms: terms)
    try new.check()
    return new
  }

  var payload: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(self)
    }
  }

  /// Whether both declare the same, whatever ticks they have reached.
  func declares(_ other: JobSchedule, equal: (Data, Data) -> Bool = (==)) -> Bool {
    var job = job
    if equal(job.payload, other.job.payload) { job.payload = other.job.payload }
    return (name, recurrence, catchUp, job) == (other.name, other.recurrence, other.catchUp, other.job)
  }
}

extension JobSchedule {
  /// Whether it waits for a later time than `next`, the next tick by the current clock, because the clock was far ahead
  /// and has been corrected. Smaller steps back are ignored, as in cron(8): the repeated ticks already have their jobs.
  func isAhead(of next: Date) -> Bool { self.next.timeIntervalSince(next) > 3 * 3600 }
}

extension JobContext {
  /// The tick that this job was stored for; nil if no schedule stored it. May be long ago if the tick was made up for.
  public var scheduledFor: Date? {
    guard let key, let at = key.lastIndex(of: "@") else { return nil }
    return try? Date(tickText: String(key[key.index(after: at)...]))
  }
}

extension JobSchedule {
  private enum Key: String, CodingKey { case name, recurrence, catchUp, next, last, job }
  /// The payload is stored as text if it is JSON, so that a person can read it.
  private enum JobKey: String, CodingKey { case queue, kind, payload, bytes, terms }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(name, forKey: .name)
    try container.encode(recurrence, forKey: .recurrence)
    try container.encode(catchUp, forKey: .catchUp)
    try container.encode(next.tickText, forKey: .next)
    try container.encodeIfPresent(last?.tickText, forKey: .last)
    var template = container.nestedContainer(keyedBy: JobKey.self, forKey: .job)
    try template.encode(job.queue, forKey: .queue)
    try template.encode(job.kind, forKey: .kind)
    if let text = String(validating: job.payload, as: UTF8.self) {
      try template.encode(text, forKey: .payload)
    } else {
      try template.encode(job.payload, forKey: .bytes)
    }
    try template.encode(job.terms, forKey: .terms)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    name = try container.decode(String.self, forKey: .name)
    recurrence = try container.decode(Recurrence.self, forKey: .recurrence)
    catchUp = try container.decode(CatchUp.self, forKey: .catchUp)
    next = try Date(tickText: container.decode(String.self, forKey: .next))
    last = try container.decodeIfPresent(String.self, forKey: .last).map { try Date(tickText: $0) }
    let template = try container.nestedContainer(keyedBy: JobKey.self, forKey: .job)
    job = NewJob(
      queue: try template.decode(String.self, forKey: .queue), kind: try template.decode(String.self, forKey: .kind),
      payload: try template.decodeIfPresent(String.self, forKey: .payload).map { Data($0.utf8) }
        ?? template.decode(Data.self, forKey: .bytes),
      terms: try template.decode(JobTerms.self, forKey: .terms))
  }
}
