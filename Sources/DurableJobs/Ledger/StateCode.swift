/// States as they are stored. They begin at 2, since SQLite stores 0 and 1 in no byte and a row should keep its size.
/// Below 7 a job is unfinished.
extension JobState {
  package var code: Int64 {
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

  /// Indexed by their codes.
  private static let states: [JobState?] = [
    nil, nil, .blocked, .scheduled, .ready, .running, .suspended, .succeeded, .failed, .cancelled, .skipped,
  ]

  package init?(code: Int64) {
    guard Self.states.indices.contains(Int(clamping: code)), let state = Self.states[Int(code)] else { return nil }
    self = state
  }
}
