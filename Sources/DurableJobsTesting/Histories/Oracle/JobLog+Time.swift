import DurableJobs
import Foundation

/// When a job is due.
extension JobLog {
  /// The earliest time at which it may run, as far as its log tells.
  enum Due {
    case now
    case at(Date)
    /// The store drew it from there, and has not shown it yet.
    case within(ClosedRange<Date>)

    /// Nil if there is nothing to wait for. A time that was drawn is not known before it is seen.
    var date: Date? {
      switch self {
      case .now: nil
      case .at(let date): date
      case .within(let range): range.upperBound
      }
    }

    /// Of a wait that begins then: a time that is not ahead is no time.
    var earliest: Date {
      switch self {
      case .now: .distantPast
      case .at(let date): date
      case .within(let range): range.lowerBound
      }
    }

    fileprivate func later(than date: Date) -> Due {
      guard case .within(let range) = self, range.upperBound > date else { return .at(max(earliest, date)) }
      return .within(max(range.lowerBound, date)...range.upperBound)
    }

    fileprivate func ahead(of date: Date) -> Due { self.date.map { $0 > date } ?? false ? self : .now }
  }

  /// What its last turn promised, moved with a clock that was set back meanwhile: what is left of a wait is left, and a
  /// date stays.
  var due: Due {
    if let derived { return derived.due }
    var due = promise
    var isDated = isDatedByTurn
    var isMoved: Bool {
      [.ready, .suspended, .skipped].contains(standing) && (!isDated || wrong == .dateMoves) && wrong != .waitKeepsDate
    }
    for entry in entries[turn...] {
      switch entry.event {
      case .paced(let date, let isAll): (due, isDated) = (due.later(than: date), isDated && !isAll)
      case .drew(let date): due = date.map { .at($0) } ?? .now
      case .clockSetBack(let step) where isMoved:
        if case .within(let range) = due {
          due = .within(range.lowerBound.later(by: -step)...range.upperBound.later(by: -step))
        }
        guard case .at(let date) = due else { continue }
        let length = date.milliseconds - entries[turn].at.milliseconds
        due = .at(wrong == .waitStartsAnew ? entry.at.later(by: length) : date.later(by: -step))
      default: break
      }
    }
    return due
  }

  /// It waits for a date that somebody named, and not for its lane alone.
  private var isDated: Bool { isDatedByTurn && !isPacedSinceTurn }

  private var isDatedByTurn: Bool {
    let time: JobTime
    switch entries[turn].event {
    case .inserted: time = job.terms.start
    case .reported(.retry(let named, _, _)), .rescheduled(let named): time = named
    case .reported(.snoozed(let named, _)):
      // Sooner than a snooze can end, it is no date.
      guard let date = named.promise(at: entries[turn].at).date, date >= entries[turn].at.later(by: 100) else {
        return false
      }
      time = named
    case .held, .released, .skipped, .reopened: return before(turn).isDated
    default: return false
    }
    return if case .at = time { true } else { false }
  }

  /// It waits for no date, and for less if what it requires returns.
  var isBackOff: Bool {
    guard standing == .ready || standing == .suspended || standing == .skipped, due.date != nil, promise.date != nil,
      !isDatedByTurn
    else {
      return false
    }
    switch entries[turn].event {
    case .reported(.retry(_, _, let isBackOff)), .reported(.snoozed(_, let isBackOff)):
      return isBackOff || wrong == .wakeEndsAnyWait
    case .woken: return true
    case .held, .released, .skipped, .reopened: return before(turn).isBackOff
    default: return false
    }
  }

  /// What it waits for is its lane's rate, and no time of its own.
  var isPaced: Bool {
    switch entries[turn].event {
    case .held, .released, .skipped, .reopened: return isPacedSinceTurn || before(turn).isPaced
    default: return isPacedSinceTurn
    }
  }

  private var isPacedSinceTurn: Bool {
    entries[turn...].contains { if case .paced(_, isAll: true) = $0.event { true } else { false } }
  }

  private var promise: Due {
    let (event, at) = (entries[turn].event, entries[turn].at)
    switch event {
    case .inserted: return job.terms.start.promise(at: at)
    case .reported(.retry(let time, _, _)): return time.promise(at: at)
    case .rescheduled(let time): return wrong == .startStays ? before(turn).due : time.promise(at: at)
    case .reported(.snoozed(let time, _)):
      let least = at.later(by: wrong == .snoozeOfNoTime ? 0 : 100)
      return .at(max(time.promise(at: at).date ?? at, least)).ahead(of: at)
    case .died: return backOff
    case .woken(let window): return .within(at...at.later(by: Int64(window / .milliseconds(1))))
    case .held, .reopened: return before(turn).due.ahead(of: at)
    case .skipped: return before(turn).due
    case .released: return wrong == .resumeForgetsTime ? .now : before(turn).due.ahead(of: at)
    default: return .now
    }
  }

  /// The first death in a row costs no wait, each later one a longer one, of which half is random.
  private var backOff: Due {
    let number = crashesInRow - (wrong == .firstDeathWaits ? 0 : 1)
    guard number > 0 else { return .now }
    let wait = policy.crashBackOff
    let grown = (1..<number).reduce(wait.base / .milliseconds(1)) { grown, _ in grown * wait.factor }
    let longest = wrong == .backOffHasNoCap ? grown : min(grown, wait.cap / .milliseconds(1))
    let at = entries[turn].at
    return .within(at.later(by: Int64(longest / 2))...at.later(by: Int64(longest)))
  }
}

extension JobTime {
  /// In whole milliseconds, and never earlier than was asked for.
  func promise(at now: Date) -> JobLog.Due {
    switch self {
    case .now: return .now
    case .after(let delay):
      return .at(now.later(by: Int64((delay / .milliseconds(1)).rounded(.up)))).ahead(of: now)
    case .at(let date): return .at(date).ahead(of: now)
    }
  }
}

extension Date {
  func later(by milliseconds: Int64) -> Date { Date(milliseconds: self.milliseconds + milliseconds) }
}
