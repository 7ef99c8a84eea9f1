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
  /// One that is not done.
  case join(BatchID)
}

extension BatchMembership {
  /// Throws ``JobError/Code/invalidArgument`` if no store could take it.
  public func check() throws {
    guard case .new(let name, let whenDone) = self else { return }
    try NewJob.check(name: name, "the name of the batch")
    try whenDone?.check()
    if whenDone?.edges.isEmpty == false {
      throw JobError(.invalidArgument, "the job that follows a batch can't wait for other jobs too")
    }
    if whenDone?.terms.unique?.policy == .append {
      throw JobError(.invalidArgument, "the job that follows a batch can't be appended to others of its unique key")
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
  /// The job that was stored when it was done.
  public var whenDone: JobID?

  public init(
    id: BatchID, name: String, total: Int, unfinished: Int, succeeded: Int, isDone: Bool, whenDone: JobID? = nil
  ) {
    self.id = id
    self.name = name
    self.total = total
    self.unfinished = unfinished
    self.succeeded = succeeded
    self.isDone = isDone
    self.whenDone = whenDone
  }
}

public enum BatchQuery: Hashable, Sendable {
  case id(BatchID)
  /// The newest of that name.
  case name(String)
}
