import DurableJobs
import Foundation

/// All that happened to one job. Nothing else is kept of it: what must be seen of the job is defined by its log, in the
/// extensions.
struct JobLog {
  enum Event {
    case inserted
    case claimed(ClaimToken, by: Int)
    /// A stop was asked of the running attempt; with nil, it was taken back.
    case asked(StopReason?, reason: String?)
    case reported(ClaimSettlement.Result)
    /// What ran it died.
    case died
    case held(reason: String?)
    case released
    /// Somebody did not want to wait for its time.
    case hurried
    /// What it requires has returned: it begins again within that time.
    case woken(within: Duration)
    case startedAnew
    /// It was skipped, and keeps its time.
    case reopened
    case reset
    case cancelled(reason: String?)
    /// It can't be run any more because of that job.
    case skipped(by: JobID, reason: String, afterFailure: Bool)
    /// It had been skipped, and is so because of that job from now on.
    case skippedAnew(by: JobID, reason: String, afterFailure: Bool)
    case completed(output: Data?)
    case givenUp(message: String)
    case prioritized(JobPriority)
    case rewritten(Data)
    case rescheduled(JobTime)
    case progressed(JobProgress)
    case stepped([String: Data])
    /// Its deadline concerns it no more.
    case deadlinePassed
    /// Its time had come when somebody looked.
    case cameDue
    /// The wait that the store drew, with no date if it is over.
    case drew(Date?)
    case clockSetBack(by: Int64)
    /// Its lane lets it begin no sooner.
    /// `isAll`: it waits for nothing but its lane.
    case paced(until: Date, isAll: Bool)
    /// The worker of this claim was told that its report was taken.
    case answered(ClaimToken)

    /// It decides where the job stands from then on.
    var isTurn: Bool {
      switch self {
      case .asked, .prioritized, .rewritten, .progressed, .stepped, .deadlinePassed, .drew, .clockSetBack, .paced,
        .answered, .skippedAnew:
        false
      default: true
      }
    }

    var isClaim: Bool { if case .claimed = self { true } else { false } }
  }

  struct Entry {
    let event: Event
    let at: Date
  }

  let id: JobID
  let job: NewJob
  let batch: BatchID?
  let policy: StorePolicy
  let wrong: WrongRule?
  private(set) var entries: ArraySlice<Entry> = []

  /// What follows from the entries, so that it is not derived at each look.
  private(set) var derived: (standing: JobState, due: Due)?

  mutating func note(_ event: Event, at date: Date) {
    derived = nil
    entries.append(Entry(event: event, at: date))
    derived = (standing, due)
  }

  /// The log as it was when the entry had not been made.
  func before(_ index: Int) -> JobLog {
    var log = self
    log.entries = entries[..<index]
    log.derived = nil
    return log
  }

  /// The last entry that decided where it stands.
  var turn: Int { entries.lastIndex { $0.event.isTurn }! }

  func entries(where matches: (Event) -> Bool) -> [Int] { entries.indices.filter { matches(entries[$0].event) } }

  /// Whose report made it what it is.
  var lastAnswer: ClaimToken? {
    entries[turn...].lazy.compactMap { if case .answered(let token) = $0.event { token } else { nil } }.first
  }

  /// What it was skipped because of, as of its last skip.
  var skip: (by: JobID, reason: String, afterFailure: Bool)? {
    for entry in entries[turn...].reversed() {
      switch entry.event {
      case .skipped(let id, let reason, let afterFailure): return (id, reason, afterFailure)
      case .skippedAnew(let id, let reason, let afterFailure): return (id, reason, afterFailure)
      default: continue
      }
    }
    return nil
  }

  func last(_ matches: (Event) -> Bool) -> Int? { entries.lastIndex { matches($0.event) } }
}
