/// States as they are stored. They begin at 2, since SQLite stores 0 and 1 in no byte and a row should keep its size.
/// Below 7 a job is unfinished.
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
}
