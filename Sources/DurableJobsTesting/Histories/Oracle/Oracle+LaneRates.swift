import DurableJobs
import Foundation

/// Rates of lanes by definition: a bucket that each start of an attempt fills once that has ended, and time empties; whoever
/// comes next waits until there is room for one more.
extension Oracle {
  struct Pace {
    let rate: JobRate
    /// When it will be, or was, in microseconds.
    let emptyAt: Int64
  }

  private var microseconds: Int64 { now.milliseconds * 1000 }

  /// Each start adds so much.
  private func cost(_ rate: JobRate) -> Int64 {
    Int64((Double(rate.period.milliseconds) * 1000 / Double(rate.count)).rounded(.up))
  }

  private func start(by pace: Pace) -> Date {
    let room = pace.emptyAt - cost(pace.rate) * Int64(pace.rate.burst - 1)
    return Date(milliseconds: (max(room, microseconds) + 999) / 1000)
  }

  mutating func setRate(_ rate: JobRate?, of lane: String) {
    let old = paces[lane]
    paces[lane] = rate.map { rate in
      guard let old, old.emptyAt > microseconds else { return Pace(rate: rate, emptyAt: old?.emptyAt ?? 0) }
      let soonest = min(start(by: old).milliseconds * 1000, microseconds + cost(rate))
      return Pace(rate: rate, emptyAt: soonest + cost(rate) * Int64(rate.burst - 1))
    }
    fillSeats()
    bindWaiting()
    paceLanes()
  }

  /// Attempts of these have ended.
  mutating func countStarts(of ended: [JobID]) {
    for id in ended.sorted() {
      guard let index = index(of: id), let lane = jobs[index].job.terms.lane?.name, let pace = paces[lane],
        let claim = jobs[index].last(\.isClaim), wrong != .laneRetriesAreFree || jobs[index].standing.isFinished
      else { continue }
      let began = wrong == .laneCountsEnds ? now : min(jobs[index].entries[claim].at, now)
      paces[lane] = Pace(
        rate: pace.rate, emptyAt: max(pace.emptyAt, began.milliseconds * 1000) + cost(pace.rate))
    }
  }

  mutating func paceLanes() {
    guard wrong != .laneRateIgnored else { return }
    for (lane, pace) in paces {
      let start = start(by: pace)
      for id in (seats[lane] ?? []).sorted() where start > now {
        guard let index = index(of: id), [.ready, .scheduled].contains(state(jobs[index])),
          jobs[index].due.earliest < start
        else { continue }
        note(.paced(until: start, isAll: state(jobs[index]) == .ready), index)
      }
    }
  }
}
