#if HTTP
  import AsyncHTTPClient
  import DurableJobs
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL

  extension DownloadError {
    /// The client's error, as text for a person. Nil if it only says that this task was cancelled.
    static func connection(_ error: any Error, _ host: String) -> DownloadError? {
      switch error {
      case is CancellationError: nil
      case let error as HTTPClientError where error == .cancelled && Task.isCancelled: nil
      case _ where isUnsent(error):
        .unsent(.connection, "\(host) closed the connection before the request was sent over it")
      case let error as DownloadError: error
      case let error as KeptConnection.Broken:
        DownloadError(.connection, "the connection to \(host) broke: \(reason(error.cause))")
      case let error as NIOConnectionError where error.connectionErrors.isEmpty:
        .unreached("can't find the host \(error.host)")
      case let error as IOError where isShortage(error):
        DownloadError(.noRoom, "can't connect to \(host) for now: \(reason(error))")
      case let error as NIOConnectionError where isShortage(error.connectionErrors[0].error):
        DownloadError(.noRoom, "can't connect to \(host) for now: \(reason(error.connectionErrors[0].error))")
      case let error as NIOConnectionError:
        .unreached("can't connect to \(host): \(reason(error.connectionErrors[0].error))")
      case let error as IOError where [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT].contains(error.errnoCode):
        .unreached("can't connect to \(host): \(reason(error))")
      case let error as HTTPClientError where connectTimeouts.contains(error):
        .unreached("can't connect to \(host): no answer")
      case let error as HTTPClientError where error == .invalidProxyResponse:
        .unreached("\(host) let no connection through")
      case _ where String(reflecting: type(of: error)).hasPrefix("NIOSOCKS."):
        .unreached("\(host) let no connection through: \(reason(error))")
      case let error as HTTPClientError where error == .getConnectionFromPoolTimeout:
        DownloadError(.noRoom, "\(host) takes no more requests at once for now")
      case let error as HTTPClientError:
        DownloadError(.connection, "the connection to \(host) broke: \(error.shortDescription)")
      case let error as NIOSSLError where mayFollowData(error):
        DownloadError(.connection, "the secure connection to \(host) broke: \(error)")
      case let error as NIOSSLError: handshake("\(error)", host)
      case let error as NIOSSLExtraError: handshake(error.description, host)
      case HTTPParserError.invalidEOFState:
        DownloadError(.connection, "\(host) closed the connection before the end of its answer")
      case let error as HTTPParserError:
        DownloadError(.unusableAnswer, "\(host) doesn't speak HTTP as it should: \(error.words)")
      case _ where String(reflecting: type(of: error)).contains("DecompressionError"):
        DownloadError(.unusableAnswer, "\(host) sends the file packed otherwise than it says, or not to its end")
      default: DownloadError(.connection, "the connection to \(host) broke: \(reason(error))")
      }
    }

    /// Whether the client gave a request up before it was sent, though nobody told it to: its connection was closing.
    static func isUnsent(_ error: any Error) -> Bool { error as? HTTPClientError == .cancelled && !Task.isCancelled }

    /// What follows a finished gzip member is left unread: the client decodes only one.
    static func isInPieces(_ error: any Error) -> Bool {
      String(reflecting: type(of: error)).hasSuffix(".ExtraDecompressionError") && "\(error)" == "invalidTrailingData"
    }

    /// Of connections that have come about in part: nothing has gone over them yet.
    private static let connectTimeouts: [HTTPClientError] = [
      .connectTimeout, .tlsHandshakeTimeout, .httpProxyHandshakeTimeout, .socksHandshakeTimeout,
    ]

    /// Whether it may come after a handshake, too.
    private static func mayFollowData(_ error: NIOSSLError) -> Bool {
      switch error {
      case .uncleanShutdown, .writeDuringTLSShutdown, .readInInvalidTLSState, .shutdownFailed: true
      default: false
      }
    }

    private static func isShortage(_ error: any Error) -> Bool {
      (error as? IOError).map { SystemLack.isOfOpenFiles($0.errnoCode) } ?? false
    }

    private static func unreached(_ message: String) -> DownloadError {
      var error = DownloadError(.connection, message)
      error.isUnreached = true
      return error
    }

    private static func unsent(_ code: Code, _ message: String) -> DownloadError {
      var error = DownloadError(code, message)
      error.isUnsent = true
      return error
    }

    private static func handshake(_ text: String, _ host: String) -> DownloadError {
      if ["WRONG_VERSION_NUMBER", "HTTP_REQUEST"].contains(where: text.contains) {
        return .unsent(
          .connection, "no secure connection to \(host): it answers without TLS. Is its address one of http?")
      }
      guard text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("HostnameMismatch") || text.contains("hostname")
      else { return .unsent(.connection, "no secure connection to \(host): \(text)") }
      return .unsent(
        .untrusted,
        "the certificate of \(host) is not one that is trusted; if you know the server, name its with --cacert. A log-in "
          + "before this network, or a clock that is wrong, looks the same")
    }

    private static func reason(_ error: any Error) -> String {
      if let error = error as? IOError { return SystemError.words(error.errnoCode) }
      // The descriptions of others are meant for their authors.
      let kind = String(reflecting: type(of: error))
      return switch error {
      case is ChannelError: "it is closed"
      case is NIOHTTPDecoderError: "the server answered what nobody had asked"
      case _ where kind.hasPrefix("NIOHTTP2."): "the server broke off, or broke the rules of HTTP/2"
      case _ where kind.hasPrefix("NIOHTTP1."): "the server doesn't speak HTTP as it should"
      case _ where kind.hasPrefix("NIOSOCKS."): "the proxy doesn't speak SOCKS 5 as it should, or refused"
      default: "\(type(of: error))"
      }
    }

    /// Another attempt would fail alike. An untrusted certificate may be that of a log-in page before the network, or
    /// not be valid yet by a clock that is still to be set.
    var isFinal: Bool {
      switch code {
      case .invalidDownload, .unusableFolder, .fileExists: true
      case .refused, .connection, .untrusted, .stalled, .unusableAnswer, .wrongContent, .disk, .noRoom: false
      }
    }
  }
#endif
