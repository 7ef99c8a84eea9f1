#if HTTP
  import DurableJobsSystem
  import Foundation
  import NIOCore

  /// An `http` or `https` URL as requests contain it. Escapes in it are kept, and what is not allowed in a request is
  /// escaped once, byte by byte, as browsers and curl do. RFC 3986; RFC 9112, section 3.2.
  ///
  /// Foundation's `URL` has no path if an escaped byte is not UTF-8, and escapes the escapes of a text that also has
  /// anything illegal.
  struct HTTPURL: Hashable, Sendable, CustomStringConvertible {
    var isSecure: Bool
    /// The decoded user and password, which may not be text.
    var credentials: Credentials?
    /// In lower case and ASCII; an IPv6 address has its brackets.
    var host: String
    /// Nil for the scheme's default.
    var port: Int?
    /// Path and query, in ASCII, with a `/` at the beginning.
    var target: String

    struct Credentials: Hashable, Sendable {
      var user: [UInt8]
      var password: [UInt8]
    }

    init?(_ url: URL) { self.init(url.absoluteString) }

    /// Throws ``DownloadError/Code/invalidDownload`` with what is wrong.
    init(checking url: URL) throws {
      if let checked = HTTPURL(url) {
        self = checked
        return
      }
      let text = url.absoluteString.withoutSecrets
      let message =
        switch (url.scheme?.lowercased(), url.host() ?? "") {
        case (nil, _): "\(text) has no scheme; write https://\(text)"
        case ("http", ""), ("https", ""): "\(text) names no host"
        case ("http", _), ("https", _): "\(text) has a host or a port that can't be one"
        default: "\(text) is no http or https URL; others can't be asked"
        }
      throw DownloadError(.invalidDownload, message)
    }

    init?(_ text: String) {
      guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
      switch text[..<colon].lowercased() {
      case "http": isSecure = false
      case "https": isSecure = true
      default: return nil
      }
      let rest = text.utf8[text.utf8.index(after: colon)...]
      guard rest.starts(with: "//".utf8) else { return nil }
      let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
      let hostAndPort: Substring.UTF8View
      if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
        credentials = Credentials(authority[..<at])
        hostAndPort = authority[authority.index(after: at)...]
      } else {
        hostAndPort = authority
      }
      guard let (host, port) = Self.parse(hostAndPort: hostAndPort) else { return nil }
      self.host = host
      self.port = port
      target = Self.target(rest[authority.endIndex...])
    }

    /// Where a redirect leads (RFC 3986, section 5.2), without credentials. Nil if that is not such a URL.
    func following(_ location: String) -> HTTPURL? {
      // What could not be read of it, as over HTTP/2, nobody may guess.
      guard !location.unicodeScalars.contains("\u{fffd}") else { return nil }
      var next = resolving(location)
      next?.credentials = nil
      return next
    }

    private func resolving(_ location: String) -> HTTPURL? {
      let reference = location.utf8.prefix { $0 != UInt8(ascii: "#") }
      let beginning = reference.prefix { !":/?".utf8.contains($0) }
      if beginning.endIndex < reference.endIndex, reference[beginning.endIndex] == UInt8(ascii: ":") {
        return HTTPURL(location)?.withoutDots
      }
      if reference.starts(with: "//".utf8) { return HTTPURL((isSecure ? "https:" : "http:") + location)?.withoutDots }
      var next = self
      let (path, _) = pathAndQuery
      switch reference.first {
      case nil: return next
      case UInt8(ascii: "/"): next.target = Self.target(reference)
      case UInt8(ascii: "?"): next.target = path + Self.escaped(reference)
      default: next.target = path.prefix(through: path.lastIndex(of: "/")!) + Self.escaped(reference)
      }
      return reference.first == UInt8(ascii: "?") ? next : next.withoutDots
    }

    // MARK: Told

    /// Without credentials.
    var description: String { "\(isSecure ? "https" : "http")://\(hostAndPort)\(target)" }

    /// `example.org`, `example.org:8080`, for a person.
    var hostAndPort: String { host + (port.map { ":\($0)" } ?? "") }

    var effectivePort: Int { port ?? (isSecure ? 443 : 80) }

    /// What credentials belong to: scheme, host and port.
    var origin: String { "\(isSecure ? "https" : "http")://\(host):\(effectivePort)" }

    /// The value of `Host`: without a default port, and without a zone, which means nothing elsewhere.
    var hostField: String {
      let name = host.hasPrefix("[") ? host.replacing(/%25[^\]]*/, with: "") : host
      return effectivePort == (isSecure ? 443 : 80) ? name : "\(name):\(effectivePort)"
    }

    // MARK: Parts

    var path: Substring { pathAndQuery.path }

    private var pathAndQuery: (path: Substring, query: Substring) {
      let end = target.firstIndex(of: "?") ?? target.endIndex
      return (target[..<end], target[end...])
    }

    /// RFC 3986, section 5.2.4.
    private var withoutDots: HTTPURL {
      let (path, query) = pathAndQuery
      var kept: [Substring] = []
      let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
      for (index, segment) in segments.enumerated() {
        guard segment == "." || segment == ".." else {
          kept.append(segment)
          continue
        }
        if segment == "..", !kept.isEmpty { kept.removeLast() }
        if index == segments.count - 1 { kept.append("") }
      }
      var url = self
      url.target = "/" + kept.joined(separator: "/") + query
      return url
    }

    private static func parse(hostAndPort: Substring.UTF8View) -> (String, Int?)? {
      let end: Substring.UTF8View.Index
      if hostAndPort.first == UInt8(ascii: "["), let bracket = hostAndPort.firstIndex(of: UInt8(ascii: "]")) {
        end = hostAndPort.index(after: bracket)
      } else {
        end = hostAndPort.firstIndex(of: UInt8(ascii: ":")) ?? hostAndPort.endIndex
      }
      guard let host = parse(host: Substring(hostAndPort[..<end])) else { return nil }
      let rest = hostAndPort[end...]
      if rest.isEmpty { return (host, nil) }
      let digits = rest.dropFirst()
      guard rest.first == UInt8(ascii: ":"), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      if digits.isEmpty { return (host, nil) }
      guard let port = Int(Substring(digits)), (1...65535).contains(port) else { return nil }
      return (host, port)
    }

    private static func parse(host text: Substring) -> String? {
      if text.hasPrefix("[") {
        let address = text.dropFirst().dropLast().prefix { $0 != "%" }
        guard text.hasSuffix("]"), (try? SocketAddress(ipAddress: String(address), port: 0))?.protocol == .inet6,
          text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { return nil }
        return text.lowercased()
      }
      guard let name = String(text).removingPercentEncoding, !name.isEmpty else { return nil }
      let isPlain = name.utf8.allSatisfy { $0 < 0x80 }
      let host = isPlain ? name : URL(string: "http://\(name)/")?.host(percentEncoded: false) ?? ""
      let isName = host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"\"#%/:<>?@[\\]^`{|}".utf8.contains($0) }
      return isName && !host.isEmpty ? host.lowercased() : nil
    }

    /// The request target for what follows the authority of a URL.
    private static func target(_ text: some Sequence<UInt8>) -> String {
      let text = escaped(text.prefix { $0 != UInt8(ascii: "#") })
      return text.hasPrefix("/") ? text : "/" + text
    }

    /// Escapes all bytes that are not allowed in a request's target, and those of `others`.
    static func escaped(_ bytes: some Sequence<UInt8>, others: String = "") -> String {
      var text: [UInt8] = []
      for byte in bytes {
        if byte > 0x20, byte < 0x7f, !"\"<>\\^`{|}".utf8.contains(byte), !others.utf8.contains(byte) {
          text.append(byte)
        } else {
          text += byte.escape
        }
      }
      return String(decoding: text, as: UTF8.self)
    }
  }

  extension HTTPURL.Credentials {
    fileprivate init(_ text: Substring.UTF8View) {
      let colon = text.firstIndex(of: UInt8(ascii: ":")) ?? text.endIndex
      user = text[..<colon].unescaped
      password = text[colon...].dropFirst().unescaped
    }

    /// The value of `Authorization` that sends them.
    var basic: String { "Basic " + Data(user + [UInt8(ascii: ":")] + password).base64EncodedString() }
  }

  extension Collection<UInt8> {
    /// Whether there is an escape at `index`: `%` and two digits.
    func isEscape(at index: Index) -> Bool {
      let text = self[index...].prefix(3)
      return text.count == 3 && text.first == UInt8(ascii: "%")
        && text.dropFirst().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    /// The bytes that it represents.
    var unescaped: [UInt8] {
      var bytes: [UInt8] = []
      var index = startIndex
      while index < endIndex {
        let isEscape = isEscape(at: index)
        let next = self.index(index, offsetBy: isEscape ? 3 : 1)
        if isEscape {
          bytes.append(UInt8(String(decoding: self[index..<next].dropFirst(), as: UTF8.self), radix: 16)!)
        } else {
          bytes.append(self[index])
        }
        index = next
      }
      return bytes
    }
  }
#endif
