import Foundation

/// What must not be told of what a server or a command says: they repeat what they were sent, in errors most of all.
package struct Redaction {
  /// So much is read beyond what is kept, since a secret takes more room than what stands for it.
  package let margin: Int
  /// By the first byte of a text that one of them may be.
  private let secrets: [[SecretSpellings]]

  /// Looks for what is `inBase64`, too, unless that is not to be expected: it takes ten times as long.
  package init(_ secrets: some Sequence<Data>, inBase64: Bool = true) {
    let all = Set(secrets).filter { !$0.isEmpty }
    margin = all.map(\.count).max() ?? 0
    self.secrets = all.reduce(into: Array(repeating: [], count: 256)) { table, secret in
      let encoded = inBase64 && secret.count > 3 ? (0..<3).map { SecretSpellings(inBase64: secret, after: $0) } : []
      for spellings in [SecretSpellings(secret)] + encoded {
        for byte in spellings.firstBytes { table[Int(byte)].append(spellings) }
      }
    }
  }

  package func callAsFunction(_ data: Data) -> Data { hiding(data, isCut: false) }

  package func callAsFunction(_ text: String) -> String { String(decoding: self(Data(text.utf8)), as: UTF8.self) }

  /// At most `count` bytes of what came, of which there is more if `isCut`: then what may be the beginning of a secret at
  /// its end goes, too.
  package func kept(_ data: Data, _ count: Int, isCut: Bool) -> Data { hiding(data, isCut: isCut).prefix(count) }

  private func hiding(_ data: Data, isCut: Bool) -> Data {
    guard margin > 0 else { return data }
    let text = [UInt8](data)
    var found: [Range<Int>] = []
    var end = text.count
    for start in text.indices where start < end {
      for secret in secrets[Int(text[start])] {
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
