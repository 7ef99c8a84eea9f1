import Foundation

/// What becomes of ticks at which no worker was there.
public enum CatchUp: String, Hashable, Codable, Sendable, CaseIterable {
  /// Nothing: a tick that is more than ``grace`` late is left out.
  case skip = "none"
  /// One job, for the last of them.
  case latest
  /// A job for each, at most ``atOnce`` in one commit, with the rest right after it.
  case all

  /// How late a tick may be that is not missed yet: a minute.
  public static let grace = Duration.seconds(60)
  /// A thousand.
  public static let atOnce = 1000

  /// The ticks to be made up for at `now`, of which `tick` is the first that is open; and the one after them.
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
