#if HTTP
  import Foundation

  /// A header of a request or an answer.
  public struct HTTPHeader: Codable, Hashable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }

    /// Parses `name: value`. Nil without a colon.
    package init?(line: String) {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      name = String(line[..<colon])
      value = line[line.index(after: colon)...].trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
    }
  }

  extension HTTPHeader {
    /// Throws ``DownloadError/Code/invalidDownload`` for what could not be sent as a header, or would inject another; and
    /// for what is the client's to say: where a body ends, and what becomes of the connection.
    func validate() throws {
      guard !name.isEmpty, name.allSatisfy(\.isOfHTTPToken) else {
        // The value may have been given as the name by mistake, and be secret.
        throw DownloadError(
          .invalidDownload,
          "the name of a header is letters, digits and '-', with the colon right behind it; as in: Accept: text/plain")
      }
      guard value.isHeaderValue else {
        throw DownloadError(.invalidDownload, "the value of the header \(name) has control characters in it")
      }
      let ofConnection = [
        "connection", "content-length", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
        "upgrade",
      ]
      guard ofConnection.contains(name.lowercased()) else { return }
      throw DownloadError(
        .invalidDownload,
        "the header \(name) is set by what sends the request, as its body and connection need; leave it out")
    }
  }

  extension StringProtocol {
    var isHeaderValue: Bool {
      unicodeScalars.allSatisfy { $0 == "\t" || $0.value >= 0x20 && $0.value != 0x7f }
    }
  }

  extension Character {
    /// Whether it may be part of a token: RFC 9110, section 5.6.2.
    var isOfHTTPToken: Bool { isASCII && (isLetter || isNumber || "!#$%&'*+-.^_`|~".contains(self)) }
  }

  // The description leaves out the value, which may be secret.
  extension HTTPHeader: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(name): …" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
  }
#endif
