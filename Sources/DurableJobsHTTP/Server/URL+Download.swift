#if HTTP
  import Foundation

  extension URL {
    /// Parses a URL as typed or pasted, like browsers and curl, without its fragment: escapes are kept, and characters
    /// that are not valid in a URL are escaped once. `URL(string:)` also escapes the escapes if anything else needs
    /// escaping, and turns `a%20b[1]` into `a%2520b%5B1%5D`. Nil if the text is not a URL with a host.
    public init?(typed text: String) {
      guard let authority = text.range(of: "://")?.upperBound else { return nil }
      let rest = text[authority...].utf8.prefix { $0 != UInt8(ascii: "#") }
      let target = rest.drop { !"/?".utf8.contains($0) }
      let host = rest[..<target.startIndex].split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false).last!
      let user = rest[..<host.startIndex]
      let url =
        text[..<authority] + Self.escaped(user.dropLast()) + (user.isEmpty ? "" : "@") + String(Substring(host))
        + Self.escaped(target)
      self.init(string: url)
    }

    /// In a form that `URL` accepts, and without escapes of escapes.
    private static func escaped(_ text: Substring.UTF8View) -> String {
      var escaped = ""
      for index in text.indices {
        let isEscape = text.isEscape(at: index)
        escaped += HTTPURL.escaped(CollectionOfOne(text[index]), others: isEscape ? "[]" : "[]%")
      }
      return escaped
    }

    /// The same for all URLs that name the same: scheme and host in lower case, and without what follows a `#`, which
    /// is never sent.
    var normalized: URL {
      guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
      parts.fragment = nil
      parts.scheme = parts.scheme?.lowercased()
      parts.percentEncodedHost = parts.percentEncodedHost?.lowercased()
      return parts.url ?? self
    }

    /// For display: unchanged, but without user and password, and what follows a `#`.
    package var withoutCredentials: String {
      let text = absoluteString
      return Substring(text.utf8.prefix { $0 != UInt8(ascii: "#") }).withoutCredentials
    }
  }

  extension StringProtocol {
    /// The text of a URL, or of what should be one, without its user and password.
    package var withoutCredentials: String {
      // Byte by byte, since it is asked for several times a file.
      let text = String(self)
      let bytes = text.utf8
      let slashes = bytes.indices.first { bytes[$0...].starts(with: "//".utf8) }
      let authority = slashes.map { bytes.index($0, offsetBy: 2) } ?? bytes.startIndex
      guard
        let at = bytes[authority...].prefix(while: { !"/?#".utf8.contains($0) }).lastIndex(of: UInt8(ascii: "@"))
      else { return text }
      return String(text[..<authority]) + text[bytes.index(after: at)...]
    }

    /// The same without a query, which may be signed, or a fragment, where log-ins hand tokens over.
    var withoutQuery: String { beginOfQuery.map { "\(self[...$0])…" } ?? String(self) }

    private var beginOfQuery: Index? { firstIndex { "?#".contains($0) } }

    /// For an error, from a text that may not be a URL: without everything up to a last `@` except a scheme, and without
    /// what begins with a `?` or a `#`. If an `@` comes after that, either may be part of a password, and only the scheme
    /// is shown.
    package var withoutSecrets: String {
      let text = withoutQuery
      let scheme = text.range(of: "//").map { text[..<$0.upperBound] } ?? ""
      if let begin = beginOfQuery, self[begin...].contains("@") { return scheme + "…" }
      let rest = text.lastIndex(of: "@").map { text[text.index(after: $0)...] } ?? text.dropFirst(scheme.count)
      return String(scheme + rest)
    }
  }
#endif
