import Foundation

/// What to do about ticks that were missed because no worker was running.
public enum CatchUp: String, Hashable, Codable, Sendable, CaseIterable {
  /// Skip them: a tick that is more than ``grace`` late gets no job.
  case skip = "none"
  /// Store one job, for the last of them.
  case latest
  /// Store a job for each, at most ``atOnce`` per commit, with the rest right after.
  case all

  /// How late a tick may be without counting as missed: a minute.
  public static let grace = Duration.seconds(60)
  /// A thousand.
  public static let atOnce = 1000

  /// The ticks to store jobs for at `now`, where `tick` is the first without a job; and the tick after them.
  func due(from tick: Date, of recurrence: Recurrence, at now: Date) -> (ticks: [Date], next: Date?) {
    guard self == .all else {
      let last = recurrence.last(notAfter: now, butAfter: tick) ?? tick
      let isMissed = self == .skip && now.timeIntervalSince(last) > Double(Self.grace.components.seconds)
      return (isMissed ? [] : [last], recurrence.next(after: max(now, last)))
    }
    var (ticks, next): ([Date], Date?) = ([], tick)
    while let due = next, due <= now, ticks.count < Self.atOnce {
      ticks.append(due)
      next = recurrence.next(after: due)
    }
    return (ticks, next)
  }
}
