#if Shell
  import DurableJobsProcess

  extension SystemText {
    /// As one would type it in a shell: bare, in single quotes, or with escapes if it could not be read otherwise.
    package var shellQuoted: String {
      guard let text = String(validating: bytes, as: UTF8.self), !text.hasControls else { return withEscapes }
      let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,")
      if !text.isEmpty, text.allSatisfy({ plain.contains($0) || ($0.isLetter && !$0.isASCII) }) { return text }
      return "'" + text.replacing("'", with: #"'\''"#) + "'"
    }

    /// `$'…'`, which bash, zsh and others read.
    private var withEscapes: String {
      var result = "$'"
      for byte in bytes {
        switch byte {
        case UInt8(ascii: "\n"): result += #"\n"#
        case UInt8(ascii: "\t"): result += #"\t"#
        case UInt8(ascii: "\r"): result += #"\r"#
        case UInt8(ascii: "'"): result += #"\'"#
        case UInt8(ascii: "\\"): result += #"\\"#
        case 0x20..<0x7f: result.unicodeScalars.append(UnicodeScalar(byte))
        default: result += #"\x"# + byte.hex
        }
      }
      return result + "'"
    }
  }

  extension ShellCommand {
    /// The command as one could type it again.
    package var typed: String {
      guard shell, let line = arguments.first else { return arguments.map(\.shellQuoted).joined(separator: " ") }
      return
        (["sh", "-c", line.shellQuoted] + (arguments.count > 1 ? ["sh"] : [])
        + arguments.dropFirst().map(\.shellQuoted)).joined(separator: " ")
    }
  }
#endif
