#if Shell
  /// What a person can do on the download screen.
  enum DemoKey: Hashable, Sendable {
    case left, right, up, down
    case random, start, quit
  }

  /// Turns what a terminal sends into keys. An arrow is several bytes, which may come in pieces.
  struct Keyboard {
    private enum State {
      case plain, escape, sequence
    }

    private var state = State.plain

    mutating func keys(_ bytes: some Sequence<UInt8>) -> [DemoKey] {
      bytes.compactMap { key($0) }
    }

    private mutating func key(_ byte: UInt8) -> DemoKey? {
      switch state {
      case .escape where byte == UInt8(ascii: "[") || byte == UInt8(ascii: "O"):
        state = .sequence
        return nil
      case .sequence:
        // What comes before the final byte are parameters, of a key with Shift for example.
        guard (0x40...0x7e).contains(byte) else { return nil }
        state = .plain
        return switch byte {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        default: nil
        }
      case .plain, .escape:
        state = byte == 0x1b ? .escape : .plain
        return switch Character(UnicodeScalar(byte)).lowercased() {
        case "h": .left
        case "l": .right
        case "k": .up
        case "j": .down
        case "r": .random
        case "s", "\r", "\n", " ": .start
        case "q", "\u{3}", "\u{4}", "\u{1c}": .quit
        default: nil
        }
      }
    }
  }
#endif
