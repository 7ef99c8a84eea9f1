#if HTTP
  import Foundation

  /// A header of a request, or of an answer.
  public struct HTTPHeader: Codable, Hashable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }

    /// As it is typed: `name: value`. Nil without a colon.
    package init?(line: String) {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      name = String(line[..<colon])
      value = line[line.index(after: colon)...].trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
    }
  }

  extension HTTPHeader {
    /// Throws ``DownloadError/Code/invalidDownload`` for what could not be sent as a header, or would be another one too.
    func validate() throws {
      let legal = name.prefix(while: \.isOfHTTPToken)
      guard !name.isEmpty, legal.count == name.count else {
        // Somebody may have put its value there.
        throw DownloadError(.invalidDownload, "'\(legal)…' can't be the name of a header; as in: Accept: text/plain")
      }
      guard value.isHeaderValue else {
        throw DownloadError(.invalidDownload, "the value of the header \(name) has control characters in it")
      }
    }
  }

  extension StringProtocol {
    var isHeaderValue: Bool {
      unicodeScalars.allSatisfy { $0 == "\t" || $0.value >= 0x20 && $0.value != 0x7f }
    }
  }

  extension Character {
    /// RFC 9110, section 5.6.2.
    var isOfHTTPToken: Bool { isASCII && (isLetter || isNumber || "!#$%&'*+-.^_`|~".contains(self)) }
  }

  // It does not say what may be a secret.
  extension HTTPHeader: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(name): …" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
  }
#endif
