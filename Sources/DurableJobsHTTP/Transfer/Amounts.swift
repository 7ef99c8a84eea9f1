#if HTTP
  import Foundation

  /// Numbers of bytes in words, in powers of ten: a MB is 1,000,000 bytes.
  package struct ByteUnit {
    package let name: String
    package let bytes: Double

    private static let all = [
      ByteUnit(name: "B", bytes: 1), ByteUnit(name: "kB", bytes: 1e3), ByteUnit(name: "MB", bytes: 1e6),
      ByteUnit(name: "GB", bytes: 1e9), ByteUnit(name: "TB", bytes: 1e12),
    ]

    /// The unit in which `amount` has at most three digits before its point.
    package init(for amount: Double) { self = Self.all.first { amount / $0.bytes < 999.5 } ?? Self.all.last! }

    private init(name: String, bytes: Double) {
      self.name = name
      self.bytes = bytes
    }

    /// `amount` in this unit, without its name: "4.2", "200".
    package func number(_ amount: Double) -> String {
      let value = amount / bytes
      if bytes == 1 || value >= 99.95 { return "\(Int64(value.rounded()))" }
      let tenths = Int64((value * 10).rounded())
      return "\(tenths / 10).\(tenths % 10)"
    }
  }

  extension Int64 {
    /// As in "512 B", "4.2 MB".
    package var asBytes: String { Double(self).asBytes }

    /// As in "45.1 of 200 MB".
    package func asBytes(of total: Int64) -> String {
      let unit = ByteUnit(for: Double(total))
      return "\(unit.number(Double(self))) of \(unit.number(Double(total))) \(unit.name)"
    }
  }

  extension Double {
    package var asBytes: String {
      let unit = ByteUnit(for: self)
      return "\(unit.number(self)) \(unit.name)"
    }

    /// As in "12.3 MB/s".
    package var asSpeed: String { asBytes + "/s" }
  }
#endif
