#if HTTP
  import Foundation

  /// As whom a download asks for its file: by what it brings itself, and by the file of passwords. To which of its hosts
  /// redirects lead is known only with an answer, which has the users of all that were asked: ``FileVersion/users``.
  struct Asker: Sendable {
    /// A digest of all that the download brings by which a server may tell who asks, or which of its files is meant; nil if
    /// that is nothing.
    let own: String?
    /// Of the file of passwords: the user of the URL's own host, who is told in any case, and those of hosts that it names.
    private let first: String?
    private let named: Set<String>

    init(own: String? = nil) { (self.own, first, named) = (own, nil, []) }

    init(_ download: Download, at url: HTTPURL, _ netrc: Netrc?) {
      let headers = download.headers.map { "\($0.name.lowercased()): \($0.value)" }.sorted()
      let facts = [url.credentials?.basic].compactMap { $0 } + headers
      own = facts.isEmpty ? nil : SHA256.hash(data: Data(facts.joined(separator: "\n").utf8)).hexadecimal
      first = netrc?.credentials(for: url.host, isNamed: false).map { Self.digest(of: $0, at: url.host) }
      named = Set(
        netrc?.machines.compactMap { host in
          netrc?.credentials(for: host, isNamed: true).map { Self.digest(of: $0, at: host) }
        } ?? [])
    }

    /// Whether what came as those users may come as the same again, as far as that is known before it is asked for.
    func mayAsk(as users: String?) -> Bool {
      let users = Set(users?.split(separator: ",").map(String.init) ?? [])
      return users.isSubset(of: first.map { named.union([$0]) } ?? named) && first.map(users.contains) ?? true
    }

    /// Nil for none.
    static func users(_ digests: Set<String>) -> String? {
      digests.isEmpty ? nil : digests.sorted().joined(separator: ",")
    }

    static func digest(of credentials: HTTPURL.Credentials, at host: String) -> String {
      let name = host.trimmingCharacters(in: ["[", "]"])
      return SHA256.hash(data: Data("\(name) ".utf8) + credentials.user).prefix(8).hexadecimal
    }
  }
#endif
