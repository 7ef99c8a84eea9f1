#if HTTP
  import Foundation

  /// Cookies that servers set while they redirect, since some redirect a client until it sends theirs. Each is sent
  /// only to its host or domain, and dropped when the answer arrives: none is kept. RFC 6265, without dates.
  struct WayCookies {
    private struct Cookie {
      var name: String
      var value: String
      var host: String
      /// The cookie also applies to all subdomains.
      var isOfDomain = false
      var path: String
      var isSecure = false
    }

    private var cookies: [Cookie] = []

    /// More than that are a mistake, or malicious.
    private static let most = 50
    private static let mostBytes = 4096

    /// Takes the lines of an answer of `url`.
    mutating func take(_ lines: [String], from url: HTTPURL) {
      for line in lines where line.utf8.count <= Self.mostBytes {
        guard let (cookie, isOver) = Self.cookie(line, from: url) else { continue }
        cookies.removeAll { $0.name == cookie.name && $0.host == cookie.host && $0.path == cookie.path }
        if !isOver, cookies.count < Self.most { cookies.append(cookie) }
      }
    }

    /// What to send with a request to `url`; nil if nothing.
    func header(for url: HTTPURL) -> String? {
      let path = url.path
      let sent = cookies.filter { cookie in
        (url.host == cookie.host || cookie.isOfDomain && url.host.hasSuffix("." + cookie.host))
          && (url.isSecure || !cookie.isSecure)
          && (path == cookie.path || path.hasPrefix(cookie.path.hasSuffix("/") ? cookie.path : cookie.path + "/"))
      }
      return sent.isEmpty ? nil : sent.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }

    private static func cookie(_ line: String, from url: HTTPURL) -> (Cookie, isOver: Bool)? {
      let parts = line.split(separator: ";", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard let equals = parts[0].firstIndex(of: "="), equals != parts[0].startIndex,
        parts[0].utf8.allSatisfy({ (0x20..<0x7f).contains($0) })
      else { return nil }
      // By default, for the folder of the requested path.
      let folder = url.path.lastIndex(of: "/").map { String(url.path[..<$0]) } ?? ""
      var cookie = Cookie(
        name: String(parts[0][..<equals]), value: String(parts[0][parts[0].index(after: equals)...]), host: url.host,
        path: folder.isEmpty ? "/" : folder)
      var isOver = false
      for part in parts.dropFirst() {
        let words = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        let value = words.count > 1 ? words[1] : ""
        switch words.first?.lowercased() {
        case "domain":
          let domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
          if url.host == domain, url.isOfAddress { continue }
          // A domain without a dot is everybody's, and an address has no domain.
          guard
            url.host == domain || url.host.hasSuffix("." + domain) && domain.contains(".") && !url.isOfAddress
          else { return nil }
          (cookie.host, cookie.isOfDomain) = (domain, true)
        case "path": if value.hasPrefix("/") { cookie.path = value }
        case "secure": cookie.isSecure = true
        case "max-age": isOver = Int(value).map { $0 <= 0 } ?? false
        default: break
        }
      }
      return (cookie, isOver)
    }
  }

  extension HTTPURL {
    /// Whether its host is an address, not a name: no name ends with a number.
    fileprivate var isOfAddress: Bool {
      host.hasPrefix("[") || host.split(separator: ".").last?.allSatisfy(\.isASCIIDigit) == true
    }
  }
#endif
