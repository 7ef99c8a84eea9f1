import DurableJobs
import Foundation

/// The state of a schedule in its store at one moment.
public struct ScheduleSnapshot: Hashable, Sendable, Identifiable {
  /// The job that waits for the next tick. Each tick has another one.
  public let job: JobSnapshot
  package let schedule: JobSchedule

  public var id: String { name }
  public var name: String { schedule.name }
  /// When its ticks are. Its `description` says it in words.
  public var recurrence: Recurrence { schedule.recurrence }
  public var catchUp: CatchUp { schedule.catchUp }
  public var queue: String { job.queue }
  /// The kind of the jobs that it stores, and below their payload.
  public var kind: String { schedule.job.kind }
  public var payload: Data { schedule.job.payload }
  /// The options of the jobs that it stores.
  public var terms: JobTerms { schedule.job.terms }
  /// The last tick that has a job.
  public var last: Date? { schedule.last }
  public var isPaused: Bool { job.state == .suspended }
  /// Why it no longer stores jobs although it was not ended, as far as that is known.
  public var failure: String? { job.state == .failed ? job.failures.last?.message ?? "failed" : nil }

  /// Its next ticks; for a paused schedule, those that it would have if resumed at `date`.
  public func nextTimes(_ count: Int, after date: Date) -> [Date] {
    guard schedule.next <= date, isPaused else {
      return Array(([schedule.next] + recurrence.next(max(0, count - 1), after: schedule.next)).prefix(max(0, count)))
    }
    return recurrence.next(count, after: date)
  }
}
