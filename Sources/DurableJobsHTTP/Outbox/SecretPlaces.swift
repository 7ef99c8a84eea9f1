#if HTTP
  import Foundation

  /// Which headers and fields of a query are secret, by their names.
  enum SecretPlaces {
    static func isSecret(header name: String) -> Bool {
      let name = name.lowercased()
      return name != "idempotency-key" && speaks(name, others: [])
    }

    static func isSecret(field name: String) -> Bool { speaks(name.lowercased(), others: wordsOfQuery) }

    private static func speaks(_ name: String, others: Set<Substring>) -> Bool {
      speaking.contains { name.contains($0) }
        || name.split { !$0.isLetter && !$0.isNumber }.contains { words.contains($0) || others.contains($0) }
    }

    private static let speaking = [
      "authoriz", "cookie", "credential", "password", "passwd", "passphrase", "passcode", "secret", "token", "apikey",
      "accesskey", "signature",
    ]
    private static let words: Set<Substring> = ["auth", "bearer", "key", "pass", "pwd"]
    private static let wordsOfQuery: Set<Substring> = [
      "code", "hmac", "jwt", "otp", "session", "sid", "sig", "sign", "ticket",
    ]
  }

  extension URL {
    /// The values of the secret fields of its query, as they stand there and as they are meant.
    var secretFields: [Data] {
      let fields = (query(percentEncoded: true) ?? "").split { $0 == "&" || $0 == ";" }
      return fields.flatMap { field -> [Data] in
        let parts = field.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1)
        guard parts.count == 2, SecretPlaces.isSecret(field: String(decoding: parts[0].unescaped, as: UTF8.self)) else {
          return []
        }
        let (raw, spaced) = (Data(parts[1]), Data(parts[1].map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }))
        return [raw, Data(raw.unescaped), Data(spaced.unescaped)].filter { $0.count > 3 }
      }
    }
  }
#endif
