import DurableJobs
import Foundation

/// A schedule as its store had it at one moment.
public struct ScheduleSnapshot: Hashable, Sendable, Identifiable {
  /// The job that waits for the next tick. It is another one after each.
  public let job: JobSnapshot
  package let schedule: JobSchedule

  public var id: String { name }
  public var name: String { schedule.name }
  /// It is in words as its `description`.
  public var recurrence: Recurrence { schedule.recurrence }
  public var catchUp: CatchUp { schedule.catchUp }
  public var queue: String { job.queue }
  /// The kind of the jobs that it stores, and their payload.
  public var kind: String { schedule.job.kind }
  public var payload: Data { schedule.job.payload }
  /// The options of the jobs that it stores.
  public var terms: JobTerms { schedule.job.terms }
  /// The last tick that has a job.
  public var last: Date? { schedule.last }
  public var isPaused: Bool { job.state == .suspended }
  /// Why it stores nothing any more though nobody ended it, as far as that is known.
  public var failure: String? { job.state == .failed ? job.failures.last?.message ?? "failed" : nil }

  /// Its next ticks; of a paused one those that it would have if it were resumed at `date`.
  public func nextTimes(_ count: Int, after date: Date) -> [Date] {
    guard schedule.next <= date, isPaused else {
      return Array(([schedule.next] + recurrence.next(max(0, count - 1), after: schedule.next)).prefix(count))
    }
    return recurrence.next(count, after: date)
  }
}
