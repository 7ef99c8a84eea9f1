#if HTTP
  /// Why a download, or one attempt of it, failed.
  public struct DownloadError: Error, Sendable, CustomStringConvertible {
    @nonexhaustive
    public enum Code: String, Sendable {
      /// The URL, a header, the name, the checksum, a proxy, or a file of certificates or passwords is none.
      case invalidDownload
      /// The folder is missing, is no folder, can't be written to, or takes no file as large as that.
      case unusableFolder
      /// Another file is in its place.
      case fileExists
      /// The server's answer is an error: 404, 503.
      case refused
      /// No connection, or it broke.
      case connection
      /// The server could not show that it is the one in the URL.
      case untrusted
      /// The connection was too slow for too long.
      case stalled
      /// The answer contradicts itself, or what was said before.
      case unusableAnswer
      /// What came is not what was asked for: its checksum or its size.
      case wrongContent
      /// The disk is full, too many files are open, or a file that it needs can't be read for now. The download waits by
      /// itself.
      case noRoom
      /// The disk refused.
      case disk
    }

    public let code: Code
    /// What is wrong, and what to do.
    public let message: String
    /// No connection came about at all.
    var isUnreached = false
    /// The disk took no more bytes.
    var isOfFullDisk = false

    public init(_ code: Code, _ message: String) {
      self.code = code
      self.message = message
    }

    public var description: String { message }
  }
#endif
