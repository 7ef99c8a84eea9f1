import Foundation

public struct BatchID: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }
  public var description: String { "\(rawValue)" }
}

/// How new jobs come into a batch. A job that another stands for, by its unique key, comes into none.
public enum BatchMembership: Hashable, Sendable {
  /// A batch of their own. `whenDone` is stored in the transaction in which the last of them ends, and waits for nothing.
  case new(name: String, whenDone: NewJob?)
  /// The same, and it is not done before it is closed, so that jobs can come one by one, or none at first.
  case open(name: String, whenDone: NewJob?)
  /// One that is not done.
  case join(BatchID)
  /// The same, and these are the last that it waits for. Of no jobs, nothing changes if it is closed already.
  case close(BatchID)
}

extension BatchMembership {
  /// Throws ``JobError/Code/invalidArgument`` if no store could take it.
  public func check() throws {
    guard let (name, whenDone, _) = made else { return }
    try NewJob.check(name: name, "the name of the batch")
    try whenDone?.check()
    if whenDone?.edges.isEmpty == false {
      throw JobError(.invalidArgument, "the job that follows a batch can't wait for other jobs too")
    }
    if let terms = whenDone?.terms, terms.key != nil,
      terms.lane != nil || terms.unique?.policy == .replace
    {
      // It is stored with the last result of the batch, which must not be refused because somebody waits for the key.
      throw JobError(
        .invalidArgument,
        "the job that follows a batch can't have a key together with a lane, or while it replaces others")
    }
    if whenDone?.terms.unique?.policy == .append {
      throw JobError(.invalidArgument, "the job that follows a batch can't be appended to others of its unique key")
    }
  }

  /// The batch that it makes.
  package var made: (name: String, whenDone: NewJob?, isOpen: Bool)? {
    switch self {
    case .new(let name, let whenDone): (name, whenDone, false)
    case .open(let name, let whenDone): (name, whenDone, true)
    case .join, .close: nil
    }
  }

  /// The batch that it is about, if that is there.
  package var known: BatchID? {
    switch self {
    case .join(let id), .close(let id): id
    case .new, .open: nil
    }
  }
}

/// A batch as its store had it at one moment.
public struct BatchSnapshot: Hashable, Codable, Sendable, Identifiable {
  public var id: BatchID
  public var name: String
  /// Jobs that came into it. Those that were deleted since count on, as what they were.
  public var total: Int
  public var unfinished: Int
  public var succeeded: Int
  /// All had ended once. What is retried since changes nothing of that.
  public var isDone: Bool
  /// It is not done before it is closed.
  public var isOpen: Bool
  /// The job that was stored when it was done.
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
  /// The newest of that name.
  case name(String)
  /// So many at most, the newest.
  case newest(Int)
}
