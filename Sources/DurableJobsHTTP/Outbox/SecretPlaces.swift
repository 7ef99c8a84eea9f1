#if HTTP
  import DurableJobsSystem
  import Foundation

  /// Which headers and fields of a query are secret, by their names.
  enum SecretPlaces {
    static func isSecret(header name: String) -> Bool {
      name.lowercased() != "idempotency-key" && SecretName.isOne(Array(name.utf8))
    }

    static func isSecret(field name: String) -> Bool { SecretName.isOne(Array(name.utf8), inQuery: true) }
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
