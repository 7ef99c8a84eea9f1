/// States as they are stored, below 7 if unfinished. They begin at 2: for SQLite, 0 and 1 would take no byte.
extension JobState {
  private static let first: Int64 = 2
  private static let stored: [JobState] = [
    .blocked, .scheduled, .ready, .running, .suspended, .succeeded, .failed, .cancelled, .skipped,
  ]

  package var code: Int64 { Self.first + Int64(Self.stored.firstIndex(of: self)!) }

  package init?(code: Int64) {
    guard code >= Self.first, code - Self.first < Self.stored.count else { return nil }
    self = Self.stored[Int(code - Self.first)]
  }

  /// In these, a job waits for its time, or will once it goes on.
  static let withTime: [JobState] = [.blocked, .scheduled, .suspended, .skipped]
  package static let codesWithTime = withTime.map { "\($0.code)" }.joined(separator: ",")
}
