#if Shell
  import Foundation

  /// Bytes that were stored, for a line of JSON: JSON as it is, with its numbers as they were written and every key, but
  /// without line breaks; anything else as `{"base64": "…"}`, and so is what is too deep for common parsers: it would keep all
  /// else in its line from being read.
  struct StoredJSON: Encodable, Sendable {
    let text: String

    /// Arrays and objects in each other that others than this program read, too.
    private static let mostDepth = 200

    init(_ data: Data) {
      if let json = JSONGrammar(data), json.depth <= Self.mostDepth {
        // In JSON they stand between tokens alone.
        let bytes = data.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
        text = String(decoding: bytes, as: UTF8.self)
      } else {
        text = #"{"base64":""# + data.base64EncodedString() + #""}"#
      }
    }

    /// Only `Screen.json` can pass it on; to other encoders it is a string.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(text)
    }
  }

  extension JSONEncoder {
    /// As payloads are stored.
    static var ofPayloads: JSONEncoder {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return encoder
    }
  }
#endif
