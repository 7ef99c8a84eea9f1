#if Process
  import Foundation

  extension JSONEncoder {
    package static var iso8601: JSONEncoder {
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = .custom { date, encoder in
        var container = encoder.singleValueContainer()
        try container.encode(date.iso8601)
      }
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return encoder
    }
  }

  extension JSONDecoder {
    package static var iso8601: JSONDecoder {
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = .custom { decoder in
        let text = try decoder.singleValueContainer().decode(String.self)
        return try Date(text, strategy: Date.iso8601Style)
      }
      return decoder
    }
  }

  extension Date {
    package static var iso8601Style: Date.ISO8601FormatStyle {
      Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    }
    /// In UTC with milliseconds.
    package var iso8601: String { formatted(Self.iso8601Style) }
  }
#endif
