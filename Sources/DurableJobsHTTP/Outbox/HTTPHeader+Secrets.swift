#if HTTP
  import Foundation

  extension HTTPHeader {
    /// What may be secret in a header that came from a file, or says so by its name: all of it, of credentials each word, and
    /// what basic ones are of. What goes with most requests is none, nor is what is so short that it stands everywhere.
    var secrets: [Data] {
      let name = name.lowercased()
      guard !name.hasPrefix("accept"), !name.hasPrefix("content-"), !Self.openNames.contains(name) else { return [] }
      var words = [Substring(value)]
      if name.hasSuffix("authorization") {
        words += value.split(whereSeparator: { " ,=\"".contains($0) }).dropFirst()
        if value.lowercased().hasPrefix("basic "), let encoded = value.split(separator: " ").last,
          let decoded = Data(base64Encoded: String(encoded)).flatMap({ String(validating: $0, as: UTF8.self) })
        {
          words += [Substring(encoded), Substring(decoded), decoded.split(separator: ":", maxSplits: 1).last ?? ""]
        }
      } else if name == "cookie" {
        words += value.split(separator: ";").compactMap { $0.split(separator: "=", maxSplits: 1).last }
      }
      return words.filter { $0.utf8.count > 3 }.map { Data($0.utf8) }
    }

    private static let openNames: Set = [
      "cache-control", "date", "from", "host", "if-match", "if-none-match", "origin", "prefer", "referer", "user-agent",
    ]
  }

  extension HTTPURL.Credentials {
    /// The password, and what is sent of it.
    var secrets: [Data] { [Data(password), Data(basic.dropFirst("Basic ".count).utf8)] }
  }
#endif
