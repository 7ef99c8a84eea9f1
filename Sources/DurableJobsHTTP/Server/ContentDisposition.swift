#if HTTP
  import Foundation

  /// The name in a `Content-Disposition`: `attachment; filename*=UTF-8''na%C3%AFve.txt`. RFC 6266.
  enum ContentDisposition {
    /// The name as the server sent it, which may be hostile: ``FileName`` makes it harmless.
    static func fileName(in header: String) -> String? {
      var plain: String?
      for (name, value) in parameters(header) {
        switch name {
        case "filename*": if let decoded = extended(value), !decoded.isEmpty { return decoded }
        case "filename" where !value.isEmpty: plain = plain ?? value.removingPercentEncoding ?? value
        default: break
        }
      }
      return plain
    }

    /// RFC 8187: a character set, a language, and the value, percent-encoded.
    private static func extended(_ value: String) -> String? {
      let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 3 else { return nil }
      var bytes: [UInt8] = []
      var rest = Array(parts[2].utf8)[...]
      while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%") {
          guard let number = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
          bytes.append(number)
          rest = rest.dropFirst(2)
        } else {
          bytes.append(byte)
        }
      }
      return switch parts[0].lowercased() {
      case "utf-8": String(validating: bytes, as: UTF8.self)
      case "iso-8859-1": String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
      default: nil
      }
    }

    /// Names in lower case, values without their quotes.
    private static func parameters(_ header: String) -> [(String, String)] {
      var parameters: [(String, String)] = []
      var field = ""
      var isQuoted = false
      var isEscaped = false
      func end() {
        guard let equals = field.firstIndex(of: "=") else { return }
        let name = field[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
        let value = field[field.index(after: equals)...].trimmingCharacters(in: .whitespaces)
        parameters.append((name, value))
      }
      for character in header {
        if isEscaped {
          field.append(character)
          isEscaped = false
        } else if isQuoted, character == "\\" {
          isEscaped = true
        } else if character == "\"" {
          isQuoted.toggle()
        } else if character == ";", !isQuoted {
          end()
          field = ""
        } else {
          field.append(character)
        }
      }
      end()
      return parameters
    }
  }
#endif
