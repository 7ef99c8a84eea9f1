/// Something in a store that contradicts the rest of it.
public struct StoreFinding: Hashable, Sendable, CustomStringConvertible {
  @nonexhaustive
  public enum Subject: String, Hashable, Sendable, CaseIterable {
    /// What SQLite finds wrong with the pages and indices of its file; only `SQLiteStore.repair(from:to:)` helps there.
    case file
    /// Rows of a job that is not there, or, on PostgreSQL, a job that runs for a worker that is not there.
    case remains
    /// An unfinished job of which it is lost what it does, or what it waits for. To mend is to suspend it, with the reason.
    case damaged
    /// What a job waits for, or whether it waits at all.
    case waits
    /// Places in a lane.
    case lanes
    /// Numbers of a batch.
    case batches
    /// An unfinished job without its unique key.
    case uniqueKeys
    /// A job that is not found by its key, by one of its tags, or in its batch.
    case names
    /// An unfinished job that would not be given up at its deadline.
    case deadlines
    /// How many jobs there are of a queue and a kind, by state.
    case counts
  }

  public var subject: Subject
  /// In how many rows.
  public var count = 0
  /// The first few of the jobs, batches or routes that it concerns, or what SQLite says.
  public var details: [String] = []
  /// Whether it was put right: a look after mending did not find it.
  public var isMended = false

  package init(_ subject: Subject) { self.subject = subject }

  public var description: String {
    "\(subject): \(count) (\(details.joined(separator: ", "))\(count > details.count ? ", …" : ""))"
  }
}
