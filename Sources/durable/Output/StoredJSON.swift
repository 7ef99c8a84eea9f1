#if Shell
  import Foundation

  /// Bytes that were stored, for a line of JSON: JSON as it is, with its numbers as they were written and every key, but
  /// without line breaks; anything else as `{"base64": "…"}`.
  struct StoredJSON: Encodable, Sendable {
    let text: String

    init(_ data: Data) {
      if Self.isJSON(data) {
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

    static func isJSON(_ data: Data) -> Bool {
      // Foundation takes other encodings, too, and knows them by these.
      guard let first = data.first, first < 0x80, !data.contains(0),
        let text = String(validating: data, as: UTF8.self)
      else { return false }
      if canParse(data) { return true }
      // It refuses numbers that it can't hold. They are JSON all the same, if what remains without them is.
      let tokens = /"(?:[^"\\]|\\.)*"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]+)?/
      let rest = text.replacing(tokens.matchingSemantics(.unicodeScalar)) {
        $0.output.first == "\"" ? $0.output : "null"
      }
      return canParse(Data(rest.utf8))
    }

    private static func canParse(_ data: Data) -> Bool {
      (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
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
