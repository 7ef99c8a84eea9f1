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
#endif
