#if HTTP
  import Foundation

  /// What must not be told of what a server says: servers repeat what they were sent, in errors most of all.
  struct Redaction {
    private let secrets: [SecretSpellings]
    /// So much is read beyond what is kept, since a secret takes more room than what stands for it.
    let margin: Int
    private let firstBytes: Set<UInt8>

    init(_ secrets: some Sequence<Data>) {
      let all = Set(secrets).filter { !$0.isEmpty }
      self.secrets = all.flatMap { secret in
        let encoded = secret.count > 3 ? (0..<3).map { SecretSpellings(inBase64: secret, after: $0) } : []
        return [SecretSpellings(secret)] + encoded
      }
      margin = all.map(\.count).max() ?? 0
      firstBytes = self.secrets.reduce(into: []) { $0.formUnion($1.firstBytes) }
    }

    func callAsFunction(_ data: Data) -> Data { hiding(data, isCut: false) }

    func callAsFunction(_ text: String) -> String { String(decoding: self(Data(text.utf8)), as: UTF8.self) }

    /// At most `count` bytes of what came, of which there is more if `isCut`: then what may be the beginning of a secret at
    /// its end goes, too.
    func kept(_ data: Data, _ count: Int, isCut: Bool) -> Data { hiding(data, isCut: isCut).prefix(count) }

    private func hiding(_ data: Data, isCut: Bool) -> Data {
      guard !secrets.isEmpty else { return data }
      let text = [UInt8](data)
      let mayBegin = (UInt8.min...UInt8.max).map(firstBytes.contains)
      var found: [Range<Int>] = []
      var end = text.count
      for start in text.indices where start < end && mayBegin[Int(text[start])] {
        for secret in secrets {
          let (last, mayBeCut) = secret.end(in: text, at: start)
          if mayBeCut, isCut { end = start }
          guard let last else { continue }
          // One may begin within another.
          if let before = found.last, before.upperBound > start {
            found[found.count - 1] = before.lowerBound..<max(before.upperBound, last)
          } else {
            found.append(start..<last)
          }
        }
      }
      var result = Data()
      var place = 0
      for range in found {
        result += text[place..<range.lowerBound] + Array("***".utf8)
        place = range.upperBound
      }
      return result + text[place..<max(place, end)]
    }
  }

  extension HTTPHeader {
    /// What may be secret in a header that came from a file, or says so by its name: all of it, of credentials each word, and
    /// what basic ones are of. What goes with most requests is none, nor is what is so short that it stands everywhere.
    var secrets: [Data] {
      let name = name.lowercased()
      guard !name.hasPrefix("accept"), !name.hasPrefix("content-"), !Self.openNames.contains(name) else { return [] }
      var words = [Substring(value)]
      if name.hasSuffix("authorization") {
        words += value.split(whereSeparator: { " ,=\"".contains($0) }).dropFirst()
        if value.lowercased().hasPrefix("basic "), let encoded = value.split(separator: " ").last,
          let decoded = Data(base64Encoded: String(encoded)).flatMap({ String(validating: $0, as: UTF8.self) })
        {
          words += [Substring(encoded), Substring(decoded), decoded.split(separator: ":", maxSplits: 1).last ?? ""]
        }
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
