import Foundation

/// The ways in which a secret may stand in a text: as it is, in JSON, in a URL, in HTML, or in a mixture of these; and in each
/// of them what is encoded in base64, and what a server has read byte by byte, as most do with headers.
struct SecretSpellings {
  /// The ways in which each of its characters may be written, or each byte of what is no UTF-8.
  private let letters: [[[UInt8]]]
  /// So many of them tell that what is cut off there may be the secret. In base64 the first one alone is in any text.
  private let fewest: Int
  /// What may stand between them: base64 is written in lines.
  private let breaks: [[UInt8]]

  init(_ secret: Data) {
    (fewest, breaks) = (0, [])
    letters =
      String(validating: secret, as: UTF8.self).map { $0.unicodeScalars.map(Self.spellings) }
      ?? secret.map { [[$0], $0.escape, $0.escape.map(\.lowercase)] + Self.spellings(of: [Unicode.Scalar($0)]) }
  }

  /// Within what is encoded in base64, where so many bytes of a group of three stand before it. Of a character that holds
  /// bits of other bytes, too, those may be any.
  init(inBase64 secret: Data, after before: Int) {
    fewest = 4
    breaks = ["\r\n", "\n", #"\r\n"#, #"\n"#].map { Array($0.utf8) }
    var bits = [Bool?](repeating: nil, count: 8 * before % 6)
    for byte in secret { bits += (0..<8).map { byte << $0 & 0x80 != 0 } }
    letters = stride(from: 0, to: bits.count, by: 6).map { start in
      let wanted = bits[start...].prefix(6)
      return Self.base64.enumerated().flatMap { value, scalar -> [[UInt8]] in
        let fits = zip(0..., wanted).allSatisfy { place, bit in bit == nil || bit == (value << place & 0x20 != 0) }
        guard fits else { return [] }
        return Self.spellings(of: scalar) + (Self.base64URL[scalar].map(Self.spellings) ?? [])
      }
    }
  }

  private static let base64 = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".unicodeScalars)
  private static let base64URL: [Unicode.Scalar: Unicode.Scalar] = ["+": "-", "/": "_"]

  /// What it may begin with.
  var firstBytes: Set<UInt8> { Set((letters.first ?? []).compactMap(\.first)) }

  /// Where it ends if it stands at `start`, and whether the text may end within it.
  func end(in text: [UInt8], at start: Int) -> (end: Int?, mayBeCut: Bool) {
    var places = [start]
    var mayBeCut = false
    for (index, letter) in letters.enumerated() {
      var next: [Int] = []
      if index > 0 {
        places += places.flatMap { place in
          breaks.filter { text[place...].starts(with: $0) }.map { place + $0.count }
        }
      }
      for place in places {
        for spelling in letter {
          let count = min(spelling.count, text.count - place)
          guard (0..<count).allSatisfy({ text[place + $0] == spelling[$0] }) else { continue }
          if count == spelling.count {
            // Once each: two ways to one place would be four to the next.
            if !next.contains(place + count) { next.append(place + count) }
          } else if index >= fewest {
            mayBeCut = true
          }
        }
      }
      if next.isEmpty { return (nil, mayBeCut) }
      places = next
    }
    return (places.max(), mayBeCut)
  }

  private static func spellings(of scalar: Unicode.Scalar) -> [[UInt8]] {
    let bytes = String(scalar).utf8.map { Unicode.Scalar($0) }
    let all = spellings(of: [scalar]) + spellings(of: bytes) + (others[scalar] ?? []).map { Array($0.utf8) }
    return Array(Set(all))
  }

  /// Of what was one character, as these.
  private static func spellings(of scalars: [Unicode.Scalar]) -> [[UInt8]] {
    let text = String(String.UnicodeScalarView(scalars))
    let bytes = Array(text.utf8)
    let escape = bytes.flatMap(\.escape)
    var codes = [scalars.map { "&#\($0.value);" }]
    for isUpper in [false, true] {
      codes.append(text.utf16.map { #"\u"# + String(format: isUpper ? "%04X" : "%04x", $0) })
      codes.append(scalars.map { "&#x\(String($0.value, radix: 16, uppercase: isUpper));" })
    }
    return [bytes, escape, escape.map(\.lowercase)] + codes.map { Array($0.joined().utf8) }
  }

  private static let others: [Unicode.Scalar: [String]] = [
    "\"": [#"\""#, "&quot;"], "\\": [#"\\"#], "/": [#"\/"#], "\t": [#"\t"#], " ": ["+"], "&": ["&amp;"],
    "<": ["&lt;"], ">": ["&gt;"], "'": ["&apos;"],
  ]
}

extension UInt8 {
  /// `%0A`
  package var escape: [UInt8] {
    let digits = Array("0123456789ABCDEF".utf8)
    return [UInt8(ascii: "%"), digits[Int(self >> 4)], digits[Int(self & 15)]]
  }

  fileprivate var lowercase: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(self) ? self | 0x20 : self }
}
