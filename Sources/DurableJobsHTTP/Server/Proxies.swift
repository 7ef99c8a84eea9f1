#if HTTP
  import Foundation

  /// Which proxy a URL is reached through, according to the variables that curl and others read.
  ///
  /// `http_proxy` only in lower case: in capitals a web server would set it from a request's `Proxy` header.
  struct Proxies: Sendable {
    struct Proxy: Hashable, Sendable {
      enum Kind: Hashable, Sendable { case http, socks }
      var kind: Kind
      /// As in a ``HTTPURL``.
      var host: String
      var port: Int
      var credentials: HTTPURL.Credentials?

      var hostAndPort: String { "\(host):\(port)" }
    }

    private let variables: [String: String]

    init(environment: [String: String]) { variables = environment }

    /// Nil for a direct connection. Throws if the variable names no usable proxy.
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
          .invalidDownload,
          "\(name) is '\(text.withoutSecrets)', which is no proxy; as in: \(name)=http://proxy.example.org:3128")
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
        if let network = IPNetwork(name) { return network.contains(bare) }
        while name.hasPrefix(".") { name.removeFirst() }
        return !name.isEmpty && (bare == name || bare.hasSuffix("." + name))
      }
    }
  }

  /// A block of addresses, as in `10.0.0.0/8` or `fd00::/8`: RFC 4632, section 3.1; RFC 4291, section 2.3.
  private struct IPNetwork {
    private let address: [UInt8]
    private let length: Int

    /// A single address counts as one, too.
    init?(_ text: String) {
      let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.count <= 2, let address = Self.bytes(of: String(parts[0])),
        let length = parts.count == 2 ? Int(parts[1]) : 8 * address.count, (0...8 * address.count).contains(length)
      else { return nil }
      (self.address, self.length) = (address, length)
    }

    func contains(_ host: String) -> Bool {
      guard let other = Self.bytes(of: host), other.count == address.count else { return false }
      return zip(address, other).enumerated().allSatisfy { index, pair in
        let bits = min(max(length - 8 * index, 0), 8)
        return (pair.0 ^ pair.1) >> (8 - bits) == 0
      }
    }

    private static func bytes(of address: String) -> [UInt8]? {
      for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
        var bytes = [UInt8](repeating: 0, count: count)
        if inet_pton(Int32(family), address, &bytes) == 1 { return bytes }
      }
      return nil
    }
  }

  extension Proxies.Proxy {
    init?(_ text: String) {
      let scheme = text.range(of: "://").map { text[..<$0.lowerBound].lowercased() }
      switch scheme ?? "http" {
      case "http": (kind, port) = (.http, 80)
      case "socks5", "socks5h", "socks": (kind, port) = (.socks, 1080)
      default: return nil
      }
      guard let url = HTTPURL("http://" + text.dropFirst(scheme.map { $0.count + 3 } ?? 0)) else { return nil }
      host = url.host
      port = url.port ?? port
      credentials = url.credentials
    }
  }
#endif
