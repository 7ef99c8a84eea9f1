#if Postgres
  import DurableJobs
  import Foundation

  /// A value of a statement, in PostgreSQL's binary format. Sets are arrays: one statement for any number of rows.
  enum Value {
    case int(Int64?)
    case bool(Bool)
    case text(String?)
    case data(Data?)
    case ints([Int64])
    case optionalInts([Int64?])
    case doubles([Double?])
    case texts([String?])
    case datas([Data?])

    static func ids(_ ids: some Sequence<JobID>) -> Value { .ints(ids.map(\.rawValue)) }

    /// The number of its type in `pg_type`.
    var type: UInt32 {
      switch self {
      case .int: 20
      case .bool: 16
      case .text: 25
      case .data: 17
      case .ints, .optionalInts: 1016
      case .doubles: 1022
      case .texts: 1009
      case .datas: 1001
      }
    }

    /// About how many bytes it takes, told without making them.
    var size: Int {
      switch self {
      case .int, .bool: 8
      case .text(let value): value?.utf8.count ?? 0
      case .data(let value): value?.count ?? 0
      case .ints(let values): 12 * values.count
      case .optionalInts(let values): 12 * values.count
      case .doubles(let values): 12 * values.count
      case .texts(let values): values.reduce(0) { $0 + 4 + ($1?.utf8.count ?? 0) }
      case .datas(let values): values.reduce(0) { $0 + 4 + ($1?.count ?? 0) }
      }
    }

    /// Adds it to what is there. Returns false, and adds nothing, if it is NULL.
    func append(to bytes: inout [UInt8]) -> Bool {
      switch self {
      case .int(nil), .text(nil), .data(nil): return false
      case .int(let value?): bytes.append(bigEndian: value)
      case .bool(let value): bytes.append(value ? 1 : 0)
      case .text(let value?): bytes.append(contentsOf: value.escaped.utf8)
      case .data(let value?): value.withUnsafeBytes { bytes.append(contentsOf: $0) }
      case .ints(let values):
        bytes.beginArray(of: 20, values.count, hasNull: false)
        for value in values { bytes.append(bigEndian: value, counted: true) }
      case .optionalInts(let values): bytes.append(values, of: 20) { $0.append(bigEndian: $1, counted: true) }
      case .doubles(let values):
        bytes.append(values, of: 701) { $0.append(bigEndian: Int64(bitPattern: $1.bitPattern), counted: true) }
      case .texts(let values):
        bytes.append(values, of: 25) { bytes, value in
          let value = value.escaped
          bytes.append(bigEndian: Int32(value.utf8.count))
          bytes.append(contentsOf: value.utf8)
        }
      case .datas(let values):
        bytes.append(values, of: 17) { bytes, value in
          bytes.append(bigEndian: Int32(value.count))
          value.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
      }
      return true
    }
  }

  extension [UInt8] {
    fileprivate mutating func append<T>(_ values: [T?], of type: Int32, _ append: (inout [UInt8], T) -> Void) {
      beginArray(of: type, values.count, hasNull: values.contains { $0 == nil })
      for value in values {
        if let value { append(&self, value) } else { self.append(bigEndian: Int32(-1)) }
      }
    }

    fileprivate mutating func beginArray(of type: Int32, _ count: Int, hasNull: Bool) {
      append(bigEndian: count == 0 ? 0 : 1 as Int32)
      append(bigEndian: hasNull ? 1 : 0 as Int32)
      append(bigEndian: type)
      guard count > 0 else { return }
      append(bigEndian: Int32(count))
      append(bigEndian: 1 as Int32)
    }

    fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
      Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func append(bigEndian value: Int64, counted: Bool) {
      append(bigEndian: Int32(8))
      append(bigEndian: value)
    }
  }

  extension String {
    /// PostgreSQL's texts can't contain character 0: it is written as two others, as is the first of these itself.
    var escaped: String {
      guard utf8.contains(where: { $0 == 0 || $0 == 0xF3 }) else { return self }
      return unicodeScalars.reduce(into: "") { text, scalar in
        switch scalar.value {
        case 0: text += "\u{F0000}0"
        case 0xF0000: text += "\u{F0000}1"
        default: text.unicodeScalars.append(scalar)
        }
      }
    }

    var unescaped: String {
      guard utf8.contains(0xF3) else { return self }
      var (text, isEscaped) = ("", false)
      for scalar in unicodeScalars {
        if isEscaped {
          text.unicodeScalars.append(scalar == "0" ? "\0" : "\u{F0000}")
          isEscaped = false
        } else if scalar.value == 0xF0000 {
          isEscaped = true
        } else {
          text.unicodeScalars.append(scalar)
        }
      }
      return text
    }
  }
#endif
