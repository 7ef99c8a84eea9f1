#if Shell
  import Foundation

  /// Numbers of bytes in words, in powers of ten: a MB is 1,000,000 bytes.
  struct ByteUnit {
    let name: String
    let bytes: Double

    private static let all = [
      ByteUnit(name: "B", bytes: 1), ByteUnit(name: "kB", bytes: 1e3), ByteUnit(name: "MB", bytes: 1e6),
      ByteUnit(name: "GB", bytes: 1e9), ByteUnit(name: "TB", bytes: 1e12),
    ]

    /// The unit in which `amount` has at most three digits before its point.
    init(for amount: Double) { self = Self.all.first { amount / $0.bytes < 999.5 } ?? Self.all.last! }

    private init(name: String, bytes: Double) {
      self.name = name
      self.bytes = bytes
    }

    /// `amount` in this unit, without its name: "4.2", "200".
    func number(_ amount: Double) -> String {
      let value = amount / bytes
      if bytes == 1 || value >= 99.95 { return "\(Int64(value.rounded()))" }
      let tenths = Int64((value * 10).rounded())
      return "\(tenths / 10).\(tenths % 10)"
    }
  }

  extension Int64 {
    /// As in "512 B", "4.2 MB".
    var asBytes: String { Double(self).asBytes }

    /// As in "45.1 of 200 MB".
    func asBytes(of total: Int64) -> String {
      let unit = ByteUnit(for: Double(total))
      return "\(unit.number(Double(self))) of \(unit.number(Double(total))) \(unit.name)"
    }
  }

  extension Double {
    var asBytes: String {
      let unit = ByteUnit(for: self)
      return "\(unit.number(self)) \(unit.name)"
    }

    /// As in "12.3 MB/s".
    var asSpeed: String { asBytes + "/s" }
  }

  extension Duration {
    /// A length of time that is a guess: "85 s", "12 min", "3 h", "2 d".
    var roughly: String {
      let seconds = max(0, seconds)
      return switch seconds {
      case ..<99.5: "\(Int(seconds.rounded())) s"
      case ..<5970: "\(Int((seconds / 60).rounded())) min"
      case ..<172_800: "\(Int((seconds / 3600).rounded())) h"
      case ..<86_400_000: "\(Int((seconds / 86400).rounded())) d"
      default: "∞"
      }
    }
  }
#endif
