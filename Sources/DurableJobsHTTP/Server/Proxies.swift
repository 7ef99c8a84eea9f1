#if HTTP
  import Foundation

  /// Which proxy a URL is reached through, by the variables that curl and others read.
  ///
  /// `http_proxy` only in small letters: in capitals a web server would set it from a request's `Proxy` header.
  struct Proxies: Sendable {
    struct Proxy: Hashable, Sendable {
      enum Kind: Hashable, Sendable { case http, socks }
      var kind: Kind
      var host: String
      var port: Int
      var user: String?
      var password: String?
    }

    private let variables: [String: String]

    init(environment: [String: String]) { variables = environment }

    /// Nil for a direct connection. Throws if the variable names no proxy that can be used.
    func proxy(for url: HTTPURL) throws -> Proxy? {
      guard !isExempt(url.host, port: url.effectivePort) else { return nil }
      let names =
        url.isSecure
        ? ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] : ["http_proxy", "all_proxy", "ALL_PROXY"]
      guard let name = names.first(where: { !(variables[$0] ?? "").isEmpty }), let text = variables[name] else {
        return nil
      }
      guard let proxy = Proxy(text) else {
        throw DownloadError(
          .invalidDownload, "\(name) is '\(text)', which is no proxy; as in: \(name)=http://proxy.example.org:3128")
      }
      return proxy
    }

    private func isExempt(_ host: String, port: Int) -> Bool {
      let list = variables["no_proxy"] ?? variables["NO_PROXY"] ?? ""
      let bare = host.trimmingCharacters(in: ["[", "]"])
      return list.split(whereSeparator: { $0 == "," || $0 == " " }).contains { entry in
        var name = entry.lowercased()
        if name == "*" { return true }
        if let colon = name.lastIndex(of: ":"), name.filter({ $0 == ":" }).count == 1 {
          guard Int(name[name.index(after: colon)...]) == port else { return false }
          name = String(name[..<colon])
        }
        name = name.trimmingCharacters(in: ["[", "]"])
        while name.hasPrefix(".") { name.removeFirst() }
        return !name.isEmpty && (bare == name || bare.hasSuffix("." + name))
      }
    }
  }

  extension Proxies.Proxy {
    init?(_ text: String) {
      let url = URL(string: text.contains("://") ? text : "http://" + text)
      guard let url, let host = url.host(percentEncoded: false), !host.isEmpty else { return nil }
      switch url.scheme?.lowercased() {
      case "http": (kind, port) = (.http, url.port ?? 80)
      case "socks5", "socks5h", "socks": (kind, port) = (.socks, url.port ?? 1080)
      default: return nil
      }
      self.host = host
      user = url.user(percentEncoded: false)
      password = url.password(percentEncoded: false)
    }
  }
#endif
