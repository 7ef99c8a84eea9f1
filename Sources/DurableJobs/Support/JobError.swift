/// An error of the queue itself: what was refused or could not be done, and what to do about it.
public struct JobError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, for matching.
  @nonexhaustive
  public enum Code: String, Sendable {
    /// An argument that is not valid: a limit of 0, a name that is too long.
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
    /// The store's file can't be opened or created: it is a folder, permission is denied, or its folder does not exist.
    case unusableFile
    /// The store's file was deleted, moved or replaced while it was open. Nothing is stored or read until it is back.
    case fileGone
    /// The file can be read but not written.
    case readOnly
    /// The file is not a store: not an SQLite database, or that of another application.
    case notAStore
    /// The file is damaged.
    case damaged
    /// The store was written by a newer version of this library.
    case newerVersion
    /// The disk is full.
    case diskFull
    /// A commit might not survive a power cut, and the caller did not opt in to that.
    case weakDurability
    /// The transaction belongs to another database than the store's.
    case wrongStore
    /// The worker is already running.
    case alreadyRunning
    /// The disk or the system reported an error, which the message quotes.
    case storeFailed
  }

  public let code: Code
  /// One or two sentences for a person: what happened, to what, and what to do.
  public let message: String
  public let cause: (any Error)?

  public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
    (self.code, self.message, self.cause) = (code, message, cause)
  }

  public var description: String { message }

  /// Whether the same request may succeed later unchanged: the store is busy, full or unavailable.
  package var isPassing: Bool { [.locked, .diskFull, .storeFailed, .readOnly, .unusableFile].contains(code) }
}

/// Throws an error with these words unless something holds.
package func require(
  _ holds: Bool, _ words: @autoclosure () -> String, code: JobError.Code = .invalidArgument
) throws { guard holds else { throw JobError(code, words()) } }
