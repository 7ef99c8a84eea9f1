import DurableJobs

/// States as they are stored. They begin at 2, since SQLite keeps 0 and 1 in no byte and a row should keep its size.
/// Below 7 a job is unfinished.
extension JobState {
  var code: Int64 {
    switch self {
    case .blocked: 2
    case .scheduled: 3
    case .ready: 4
    case .running: 5
    case .suspended: 6
    case .succeeded: 7
    case .failed: 8
    case .cancelled: 9
    case .skipped: 10
    }
  }

  /// By their codes.
  private static let states: [JobState?] = [
    nil, nil, .blocked, .scheduled, .ready, .running, .suspended, .succeeded, .failed, .cancelled, .skipped,
  ]

  init?(code: Int64) {
    guard Self.states.indices.contains(Int(clamping: code)), let state = Self.states[Int(code)] else { return nil }
    self = state
  }
}

/// The state of a row that is no job any more. It keeps the highest id of all from being given out again.
let stubCode: Int64 = 11

/// What a job's hot row knows of the tables beside it, and of what was asked of its worker.
struct Links: OptionSet {
  let rawValue: Int64
  /// Its terms have a unique key: it has a row in `durable_uniq` while it is unfinished.
  static let unique = Links(rawValue: 8)
  static let cancelAsked = Links(rawValue: 16)
  static let suspendAsked = Links(rawValue: 256)
  /// A row in `durable_crash`.
  static let crash = Links(rawValue: 512)
  /// A row in `durable_note`.
  static let note = Links(rawValue: 1024)

  static let stopAsked: Links = [.cancelAsked, .suspendAsked]

  var stopReason: StopReason? {
    contains(.cancelAsked) ? .cancelled : contains(.suspendAsked) ? .suspended : nil
  }
}

/// A claim in one number: the row of its worker, and the how-manieth claim of that worker it is. Owner, batch and fence
/// are all in it, and no number is ever used twice.
enum ClaimNumber {
  static let bits: Int64 = 24
  /// A worker takes a new row before it counts this far.
  static let limit: Int64 = 1 << bits
  /// What a job that was never claimed has. It is as long as a real one, so that a row keeps its size.
  static let nobody: Int64 = 1 << 40

  static func worker(of claim: Int64) -> Int64 { claim >> bits }
  static func range(ofWorker row: Int64) -> ClosedRange<Int64> { row << bits...row << bits | (limit - 1) }
}
