#if HTTP
  import DurableJobsSystem
  import Foundation

  /// Which headers, variables and fields of a query are secret, by their names.
  enum SecretPlaces {
    static func isSecret(header name: String) -> Bool {
      name.lowercased() != "idempotency-key" && SecretName.isOne(Array(name.utf8))
    }

    static func isSecret(field name: String) -> Bool { SecretName.isOne(Array(name.utf8), inQuery: true) }
  }

  extension URL {
    /// Without the secret fields of its query.
    var withoutSecretFields: URL {
      guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true), let query = parts.percentEncodedQuery
      else { return self }
      parts.percentEncodedQuery = query.queryFields.filter { !SecretPlaces.isSecret(field: $0.nameOfField) }
        .joined(separator: "&")
      return parts.url ?? self
    }

    /// The values of the secret fields of its query, as they stand there and as they are meant.
    var secretFields: [Data] { (query(percentEncoded: true) ?? "").secretFields }
  }

  extension HTTPURL {
    /// Whose versions a tag tells apart (RFC 9110, section 8.8.3), as a text without secrets. A query that is signed, or has a
    /// token or a time, is another one each time that a redirect makes it, and left out.
    var place: String {
      let isMadeAnew = query.queryFields.contains { field in
        SecretPlaces.isSecret(field: field.nameOfField) || field.nameOfField.lowercased().contains("expire")
          || field.hasTokenOrTime
      }
      return isMadeAnew ? origin + path : source
    }

    /// The same with a digest of whatever query it has.
    var source: String {
      query.isEmpty
        ? origin + path : "\(origin)\(path)?\(SHA256.hash(data: Data(query.utf8)).prefix(8).hexadecimal)"
    }

    /// The values of the secret fields of its query, as they stand there and as they are meant.
    var secretFields: [Data] { query.secretFields }

    private var query: Substring { target.dropFirst(path.count).dropFirst() }
  }

  extension StringProtocol {
    fileprivate var secretFields: [Data] {
      queryFields.flatMap { field -> [Data] in
        let parts = field.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1)
        guard parts.count == 2, SecretPlaces.isSecret(field: field.nameOfField) else { return [] }
        let (raw, spaced) = (Data(parts[1]), Data(parts[1].map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }))
        return [raw, Data(raw.unescaped), Data(spaced.unescaped)].filter { $0.count > 3 }
      }
    }
    fileprivate var queryFields: [SubSequence] { split { $0 == "&" || $0 == ";" } }
    fileprivate var nameOfField: String {
      String(decoding: utf8.prefix { $0 != UInt8(ascii: "=") }.unescaped, as: UTF8.self)
    }
    /// As far as its value tells: that of a version is shorter, or has points, and seconds since 1970 have ten digits.
    fileprivate var hasTokenOrTime: Bool {
      let value = drop { $0 != "=" }.dropFirst()
      return value.utf8.count >= 16 && !value.contains(".")
        || value.utf8.count == 10 && value.hasPrefix("1") && value.allSatisfy(\.isNumber)
    }
  }
#endif
