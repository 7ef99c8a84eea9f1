#if HTTP
  import DurableJobs
  import Foundation

  /// Why a request, or one attempt to send it, failed.
  public struct RequestError: CodedError, LocalizedError, Sendable, CustomStringConvertible {
    @nonexhaustive
    public enum Code: String, Sendable {
      /// The method, the URL, a header, the body or the key is not valid.
      case invalidRequest
      /// The file of its body is missing, or can't be read or copied.
      case unusableBody
      /// The system temporarily lacks what sending takes, such as open files. The request waits automatically.
      case shortage
      /// The server answered with an error, such as 404 or 503, or redirects elsewhere.
      case refused
      /// There was no connection, or it broke.
      case connection
      /// The server could not prove that it is the one in the URL.
      case untrusted
      /// Nothing moved for too long.
      case stalled
      /// The answer contradicts itself, or HTTP.
      case unusableAnswer
    }

    public let code: Code
    /// What is wrong, and what to do.
    public let message: String
    /// What the server answered, if it was that.
    var status: Int?
    /// Whether the disk was full.
    package var isOfFullDisk = false

    public init(_ code: Code, _ message: String) {
      self.code = code
      self.message = message
    }

    public var description: String { message }
    public var errorDescription: String? { description }
    /// ``code``, with the status of an answer that refuses: `refused-422`.
    public var failureCode: String { code.rawValue + (status.map { "-\($0)" } ?? "") }
  }

  extension RequestError {
    /// What went wrong with a connection, or an answer.
    init(_ error: DownloadError) {
      let code: Code =
        switch error.code {
        case .invalidDownload, .unusableFolder, .fileExists: .invalidRequest
        case .refused: .refused
        case .connection: .connection
        case .untrusted: .untrusted
        case .stalled: .stalled
        case .unusableAnswer, .wrongContent: .unusableAnswer
        case .noRoom: .shortage
        case .disk: .unusableBody
        }
      self.init(code, error.message)
      (status, isOfFullDisk) = (error.status, error.isOfFullDisk)
    }
  }
#endif
