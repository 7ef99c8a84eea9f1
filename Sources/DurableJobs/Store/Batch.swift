public struct BatchID: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }
  public var description: String { "\(rawValue)" }
}

/// How new jobs become part of a batch. A job that is not stored, because of its unique key, becomes part of none.
public indirect enum BatchMembership: Hashable, Sendable {
  /// Creates a batch. `whenDone` is stored in the transaction in which the last job ends, and has no dependencies.
  case new(name: String, whenDone: NewJob?)
  /// Creates a batch that is not done before it is closed, so that jobs can be added one by one, or later.
  case open(name: String, whenDone: NewJob?)
  /// Adds to a batch that is not done.
  case join(BatchID)
  /// Adds the last jobs and closes the batch. Without jobs, closing a closed batch changes nothing.
  case close(BatchID)

  /// Throws ``JobError/Code/invalidArgument`` for what no store accepts.
  public func check() throws {
    guard let (name, whenDone, _) = made else { return }
    try NewJob.check(name: name, "the name of the batch")
    guard let whenDone else { return }
    try whenDone.check()
    try require(whenDone.edges.isEmpty, "the job that follows a batch can't wait for other jobs too")
    // It is stored with the batch's last result, which must not be refused because another job waits for the key.
    let (terms, policy) = (whenDone.terms, whenDone.terms.unique?.policy)
    try require(
      terms.key == nil || terms.lane == nil && policy != .replace,
      "the job that follows a batch can't have a key together with a lane, or while it replaces others")
    try require(policy != .append, "the job that follows a batch can't be appended to others of its unique key")
  }

  package var made: (name: String, whenDone: NewJob?, isOpen: Bool)? {
    switch self {
    case .new(let name, let whenDone): (name, whenDone, false)
    case .open(let name, let whenDone): (name, whenDone, true)
    case .join, .close: nil
    }
  }

  package var known: BatchID? {
    switch self {
    case .join(let id), .close(let id): id
    case .new, .open: nil
    }
  }
}

/// The state of a batch in its store at one moment.
public struct BatchSnapshot: Hashable, Codable, Sendable, Identifiable {
  public var id: BatchID
  public var name: String
  /// How many jobs were added. Jobs deleted since are still counted, here and below, in their last state.
  public var total: Int
  public var unfinished: Int
  public var succeeded: Int
  /// Whether all jobs had ended at some time. A later retry does not change it.
  public var isDone: Bool
  /// Whether the batch has yet to be closed before it can be done.
  public var isOpen: Bool
  /// The job that was stored when the batch was done.
  public var whenDone: JobID?

  public init(
    id: BatchID, name: String, total: Int, unfinished: Int, succeeded: Int, isDone: Bool, isOpen: Bool = false,
    whenDone: JobID? = nil
  ) {
    (self.id, self.name, self.whenDone) = (id, name, whenDone)
    (self.total, self.unfinished, self.succeeded) = (total, unfinished, succeeded)
    (self.isDone, self.isOpen) = (isDone, isOpen)
  }
}

public enum BatchQuery: Hashable, Sendable {
  case id(BatchID)
  /// The newest batch of this name.
  case name(String)
  /// The newest batches, at most this many.
  case newest(Int)
}
