#if HTTP
  import Foundation

  /// What must not be told of what a server says: servers repeat what they were sent, in errors most of all.
  struct Redaction {
    /// The longest first: one may begin another.
    private let secrets: [Data]

    init(_ secrets: some Sequence<Data>) {
      self.secrets = Set(secrets).filter { !$0.isEmpty }.sorted { $0.count > $1.count }
    }

    /// So much must be read beyond what is kept, for a secret that the cut would go through.
    var margin: Int { secrets.first?.count ?? 0 }

    func callAsFunction(_ data: Data) -> Data {
      secrets.reduce(data) { data, secret in
        var result = Data()
        var rest = data[...]
        while let found = rest.range(of: secret) {
          result += rest[..<found.lowerBound] + Data("***".utf8)
          rest = rest[found.upperBound...]
        }
        return result + rest
      }
    }

    func callAsFunction(_ text: String) -> String { String(decoding: self(Data(text.utf8)), as: UTF8.self) }

    /// At most `count` bytes of what came, of which there is more if `isCut`. What came has ``margin`` bytes more than
    /// `count` then, the last of which may be the beginning of a secret.
    func kept(_ data: Data, _ count: Int, isCut: Bool) -> Data {
      self(data).dropLast(isCut ? margin : 0).prefix(count)
    }
  }

  extension HTTPHeader {
    /// What may be secret in a header that came from a file: all of it, and of credentials each word. What goes with most
    /// requests is none, nor is what is so short that it stands everywhere.
    var secrets: [Data] {
      let name = name.lowercased()
      guard !name.hasPrefix("accept"), !name.hasPrefix("content-"), !Self.openNames.contains(name) else { return [] }
      var words = [Substring(value)]
      if name.hasSuffix("authorization") {
        words += value.split(whereSeparator: { " ,=\"".contains($0) }).dropFirst()
      } else if name == "cookie" {
        words += value.split(separator: ";").compactMap { $0.split(separator: "=", maxSplits: 1).last }
      }
      return words.filter { $0.utf8.count > 3 }.map { Data($0.utf8) }
    }

    private static let openNames: Set = [
      "cache-control", "date", "from", "host", "if-match", "if-none-match", "origin", "prefer", "referer", "user-agent",
    ]
  }

  extension HTTPURL.Credentials {
    /// The password, and what is sent of it.
    var secrets: [Data] { [Data(password), Data(basic.dropFirst("Basic ".count).utf8)] }
  }
#endif
