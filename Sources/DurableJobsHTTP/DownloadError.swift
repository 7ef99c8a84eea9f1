#if HTTP
  import DurableJobs
  import Foundation

  /// Why a download, or one attempt of it, failed.
  public struct DownloadError: CodedError, LocalizedError, Sendable, CustomStringConvertible {
    @nonexhaustive
    public enum Code: String, Sendable {
      /// The URL, a header, the name, the checksum, a proxy, or a file of certificates or passwords is not valid.
      case invalidDownload
      /// The folder is missing, is not a folder, can't be written to, or can't hold a file of that size.
      case unusableFolder
      /// Another file is in its place.
      case fileExists
      /// The server answered with an error, such as 404 or 503.
      case refused
      /// There was no connection, or it broke.
      case connection
      /// The server could not prove that it is the one in the URL.
      case untrusted
      /// The connection was too slow for too long.
      case stalled
      /// The answer contradicts itself or an earlier one.
      case unusableAnswer
      /// The checksum or size of what was received is not the required one.
      case wrongContent
      /// The disk is full, too many files are open, or a required file is temporarily unreadable. The download waits
      /// automatically.
      case noRoom
      /// The disk or the file system reported an error.
      case disk
    }

    public let code: Code
    /// What is wrong, and what to do.
    public let message: String
    /// What the server answered, if it was that.
    var status: Int?
    /// Whether no connection was established at all.
    var isUnreached = false
    /// Whether nothing of the request was sent, though somebody answered: there was no secure connection.
    var isUnsent = false
    /// Whether the disk was full.
    var isOfFullDisk = false

    public init(_ code: Code, _ message: String) {
      self.code = code
      self.message = message
    }

    public var description: String { message }
    public var errorDescription: String? { description }
    /// ``code``, with the status of an answer that refuses: `refused-404`.
    public var failureCode: String { code.rawValue + (status.map { "-\($0)" } ?? "") }
  }
#endif
