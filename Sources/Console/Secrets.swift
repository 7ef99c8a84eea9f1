#if Shell
  import DurableJobsProcess
  import Foundation

  /// What is shown in the place of what may be a secret.
  package let hiddenSecret = "***"

  extension String {
    /// This text with the passwords in its URLs hidden: `https://user:***@host`. A user without a password may be a token,
    /// and is hidden too, but where it goes over SSH or FTP, which know none.
    ///
    /// A password with characters that must not stand in one ends at the last `@` of the word: rather too much is hidden.
    ///
    /// So are the values in its query whose names say that they are secret or sign it: `https://host/file?X-Amz-Signature=***`.
    package var withoutPasswords: String {
      guard contains("://") else { return self }
      return contains("=") ? withoutPasswordsOfUsers.withoutSecretFields : withoutPasswordsOfUsers
    }

    private var withoutSecretFields: String {
      replacing(/([?&;#])([A-Za-z0-9_.%\[\]\-]{1,100})=[^&;#\s"'<>]+/) { field in
        let (whole, sign, name) = field.output
        let plain = name.contains("%") ? Substring(String(name).removingPercentEncoding ?? "token") : name
        return SecretWords.isSecret(name: plain, inQuery: true) ? "\(sign)\(name)=\(hiddenSecret)" : String(whole)
      }
    }

    private var withoutPasswordsOfUsers: String {
      guard contains("@") else { return self }
      let well = /([A-Za-z][A-Za-z0-9+.\-]{0,31}):\/\/([^\s\/?#:"'<>]*)(:[^\s\/?#]*)?@(?![^\s\/]*[#?][^\s\/]*@)/
      return replacingURLs(well) { match in
        let (_, scheme, user, password) = match.output
        if password != nil { return "\(scheme)://\(user):\(hiddenSecret)@" }
        let names: Set = ["ssh", "sftp", "scp", "rsync", "ftp"]
        let isName = scheme.lowercased().split(separator: "+").contains { names.contains(String($0)) }
        return "\(scheme)://\(isName ? String(user) : hiddenSecret)@"
      }.withoutIllPasswords
    }

    /// Without those that have a `/`, `?` or `#`: they end at the last `@` of the word, which is looked for once a word.
    private var withoutIllPasswords: String {
      var text = ""
      var rest = self[...]
      var word = startIndex..<startIndex
      var lastAt: Index?
      var place = rest.utf8.firstIndex(of: UInt8(ascii: ":"))
      while let found = place {
        let next = rest.utf8.index(after: found)
        if rest.utf8[next...].starts(with: "//".utf8), rest.beginOfScheme(endingAt: found) != nil {
          let user = rest.utf8[rest.utf8.index(next, offsetBy: 2)...]
          if user.startIndex >= word.upperBound {
            word = user.startIndex..<(user.firstIndex(where: " \t\r\n".utf8.contains) ?? user.endIndex)
            lastAt = utf8[word].lastIndex(of: UInt8(ascii: "@"))
          }
          if let lastAt, let colon = user.firstIndex(where: " \t\r\n/?#:[\"'<>".utf8.contains), colon < lastAt,
            user[colon] == UInt8(ascii: ":"), case let password = user[user.index(after: colon)..<lastAt],
            password.contains(where: "/?#".utf8.contains), !password.beginsAsPort
          {
            // What is hidden already stays as it is.
            let end = utf8.index(after: lastAt)
            let isHidden = self[colon..<end].contains(":\(hiddenSecret)@")
            text += rest[..<colon] + (isHidden ? self[colon..<end] : ":\(hiddenSecret)@")
            rest = rest[end...]
            place = rest.utf8.firstIndex(of: UInt8(ascii: ":"))
            continue
          }
        }
        place = rest.utf8[next...].firstIndex(of: UInt8(ascii: ":"))
      }
      return text + rest
    }

    /// Replaces what matches from a scheme on. It is looked for at each "://" alone: from each letter of a long word all
    /// others would be looked at.
    private func replacingURLs<Output>(
      _ regex: Regex<Output>, with replacement: (Regex<Output>.Match) -> String
    ) -> String {
      var text = ""
      var rest = self[...]
      var colon = rest.utf8.firstIndex(of: UInt8(ascii: ":"))
      while let found = colon {
        var end = rest.utf8.index(after: found)
        if rest.utf8[end...].starts(with: "//".utf8), let begin = rest.beginOfScheme(endingAt: found),
          let match = rest[begin...].prefixMatch(of: regex)
        {
          text += rest[..<begin] + replacement(match)
          end = match.range.upperBound
        } else {
          text += rest[..<end]
        }
        rest = rest[end...]
        colon = rest.utf8.firstIndex(of: UInt8(ascii: ":"))
      }
      return text + rest
    }
  }

  extension Substring.UTF8View {
    /// As in `host:8080/path`.
    fileprivate var beginsAsPort: Bool {
      let digits = prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
      return !digits.isEmpty && self[digits.endIndex...].first.map("/?".utf8.contains) ?? false
    }
  }

  extension Substring {
    /// Of a scheme that is longer than 32 characters the end will do.
    fileprivate func beginOfScheme(endingAt end: Index) -> Index? {
      var begin: Index?
      for index in utf8[..<end].indices.reversed().prefix(32) {
        let byte = utf8[index]
        if byte | 0x20 >= UInt8(ascii: "a"), byte | 0x20 <= UInt8(ascii: "z") {
          begin = index
        } else if !"0123456789+.-".utf8.contains(byte) {
          break
        }
      }
      return begin
    }
  }

  extension [SystemText] {
    /// The same of each, of which none need be UTF-8.
    fileprivate func mapText(_ hide: ([String]) -> [String]) -> [SystemText] {
      // What is not ASCII becomes characters that mean nothing, and bytes again.
      let texts = map { word in
        if word.isUTF8 { return word.display }
        let scalars = word.bytes.map { UnicodeScalar(UInt32($0) + ($0 < 0x80 ? 0 : 0xe000))! }
        return String(String.UnicodeScalarView(scalars))
      }
      return zip(self, hide(texts)).map { word, text in
        if word.isUTF8 { return SystemText(text) }
        return SystemText(bytes: text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
      }
    }
  }

  extension ShellCommand {
    /// For everybody's eyes: without the values of its environment, without passwords in URLs, and without what the names in
    /// its words say is a secret (``SecretWords``).
    package var withoutSecrets: ShellCommand {
      var copy = self
      copy.arguments = arguments.mapText { SecretWords.hidden(in: $0.map(\.withoutPasswords), isLine: shell) }
      copy.env = env.mapValues { _ in SystemText(hiddenSecret) }
      return copy
    }
  }
#endif
