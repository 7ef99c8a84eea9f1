#if Shell
  import Console
  import DurableJobsProcess
  import Foundation

  extension Screen {
    /// Writes a value as a line of JSON.
    func json(_ value: some Encodable) { line(JSONText.line(value)) }
  }

  enum JSONText {
    /// A value as a line of JSON.
    static func line(_ value: some Encodable) -> String {
      let line = JSONPiece()
      // What is printed is made of values that can all be encoded.
      try! line.take(value)
      return line.text
    }
  }

  /// A value that is null where there is nothing; a plain optional is left out there.
  @propertyWrapper
  struct OrNull<Value: Encodable & Sendable>: Encodable, Sendable {
    var wrappedValue: Value?

    init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
  }

  /// A piece of a line of JSON. Foundation's encoder keeps no order of keys, and can't pass on what is JSON already; here
  /// keys stand in the order in which their type names them, and ``StoredJSON`` as it is.
  private final class JSONPiece: Encoder {
    private var scalar = "null"
    private var fields: [(key: String, value: JSONPiece)]?
    private var items: [JSONPiece]?

    var text: String {
      if let fields {
        return "{" + fields.map { "\(Self.quote($0.key)):\($0.value.text)" }.joined(separator: ",") + "}"
      }
      return items.map { "[" + $0.map(\.text).joined(separator: ",") + "]" } ?? scalar
    }

    func take(_ value: some Encodable) throws {
      switch value {
      case let value as StoredJSON: scalar = value.text
      case let value as String: scalar = Self.quote(value)
      case let value as Bool: scalar = "\(value)"
      case let value as any BinaryInteger: scalar = "\(value)"
      case let value as Double: scalar = value.isFinite ? "\(value)" : "null"
      case let value as Date: scalar = Self.quote(value.iso8601)
      default:
        try value.encode(to: self)
        // Many jobs in one line need no more room than their text.
        scalar = text
        (fields, items) = (nil, nil)
      }
    }

    func object() -> JSONPiece {
      if fields == nil { fields = [] }
      return self
    }

    func array() -> JSONPiece {
      if items == nil { items = [] }
      return self
    }

    func field(_ key: some CodingKey) -> JSONPiece {
      let piece = JSONPiece()
      fields?.append((key.stringValue, piece))
      return piece
    }

    func item() -> JSONPiece {
      let piece = JSONPiece()
      items?.append(piece)
      return piece
    }

    var count: Int { items?.count ?? 0 }

    private static func quote(_ string: String) -> String {
      var result = "\""
      for scalar in string.unicodeScalars {
        switch scalar {
        case "\"": result += #"\""#
        case "\\": result += #"\\"#
        case "\n": result += #"\n"#
        case "\r": result += #"\r"#
        case "\t": result += #"\t"#
        default:
          if scalar.value < 0x20 || (0x7f..<0xa0).contains(scalar.value) {
            result +=
              #"\u"# + String(repeating: "0", count: scalar.value < 16 ? 3 : 2) + String(scalar.value, radix: 16)
          } else {
            result.unicodeScalars.append(scalar)
          }
        }
      }
      return result + "\""
    }

    // MARK: Encoder

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
      KeyedEncodingContainer(JSONObject(piece: object()))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { JSONArray(piece: array()) }
    func singleValueContainer() -> any SingleValueEncodingContainer { JSONScalar(piece: self) }
  }

  private struct JSONObject<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let piece: JSONPiece
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { _ = piece.field(key) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try piece.field(key).take(value) }
    func nestedContainer<Nested: CodingKey>(keyedBy: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested> {
      piece.field(key).container(keyedBy: Nested.self)
    }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { piece.field(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { piece }
    func superEncoder(forKey key: Key) -> any Encoder { piece.field(key) }
  }

  private struct JSONArray: UnkeyedEncodingContainer {
    let piece: JSONPiece
    var codingPath: [any CodingKey] { [] }
    var count: Int { piece.count }

    func encodeNil() { _ = piece.item() }
    func encode<T: Encodable>(_ value: T) throws { try piece.item().take(value) }
    func nestedContainer<Nested: CodingKey>(keyedBy: Nested.Type) -> KeyedEncodingContainer<Nested> {
      piece.item().container(keyedBy: Nested.self)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { piece.item().unkeyedContainer() }
    func superEncoder() -> any Encoder { piece.item() }
  }

  private struct JSONScalar: SingleValueEncodingContainer {
    let piece: JSONPiece
    var codingPath: [any CodingKey] { [] }

    func encodeNil() {}
    func encode<T: Encodable>(_ value: T) throws { try piece.take(value) }
  }
#endif
