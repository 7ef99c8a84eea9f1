/// An error of the queue itself: what was refused or could not be done, and what to do about it.
public struct JobError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, to be matched.
  @nonexhaustive
  public enum Code: String, Sendable {
    /// An argument that can't be used: a limit of 0, a name that is too long.
    case invalidArgument
    /// A payload or an output that can't be encoded, or is too large.
    case notEncodable
    /// Stored bytes that don't decode as the type asked for.
    case notDecodable
    /// No job with that id.
    case notFound
    /// The job is in a state in which this can't be done.
    case wrongState
    /// The store was closed.
    case closed
    /// Another process holds the store, and did not let go within ``Defaults/busyTimeout``.
    case locked
    /// The store's file can't be opened or created: a folder, no permission, no such folder.
    case unusableFile
    /// The file can be read but not written.
    case readOnly
    /// The file is not a store: no SQLite database, or one of something else.
    case notAStore
    /// The file is damaged.
    case damaged
    /// The store was written by a newer version of this library.
    case newerVersion
    /// There is no room on the disk.
    case diskFull
    /// A commit would not survive a power cut, and nobody asked for that.
    case weakDurability
    /// A transaction of another database than the store's.
    case wrongStore
    /// The worker is running already.
    case alreadyRunning
    /// The disk or the system refused; the message has its words.
    case storeFailed
  }

  public let code: Code
  /// One or two sentences for a person: what happened, to what, and what to do.
  public let message: String
  public let cause: (any Error)?

  public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
  }

  public var description: String { message }
}

extension JobError {
  /// The same request may succeed later, with nothing changed: the store is busy, full or away.
  package var isPassing: Bool {
    switch code {
    case .locked, .diskFull, .storeFailed, .readOnly, .unusableFile: true
    default: false
    }
  }
}
