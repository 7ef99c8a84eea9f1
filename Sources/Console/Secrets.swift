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
      let text = withoutPasswordsOfUsers
      return text.utf8.contains(UInt8(ascii: "=")) && text.hasURLs ? text.withoutSecretFields : text
    }

    /// This line for a shell without what the names in it say is a secret.
    package var withoutSecretsOfLine: String { SecretWords.hidden(in: [withoutPasswords], isLine: true)[0] }

    private var hasURLs: Bool {
      var rest = utf8[...]
      while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
        rest = rest[rest.index(after: colon)...]
        if rest.starts(with: "//".utf8) { return true }
      }
      return false
    }

    /// The same of the query alone, for a URL that may be relative.
    package var withoutSecretFields: String { SecretWords.hidingFields(of: self, inURLs: true) }

    private var withoutPasswordsOfUsers: String {
      guard utf8.contains(UInt8(ascii: "@")) else { return self }
      var text = ""
      var rest = self[...]
      var search = URLUser.Search(self)
      while let user = search.next() {
        let scheme = self[user.scheme]
        text += rest[..<user.name.lowerBound]
        if let password = user.password {
          text += self[user.name] + ":\(hiddenSecret)"
          rest = self[password.upperBound...]
        } else {
          let names: Set = ["ssh", "sftp", "scp", "rsync", "ftp"]
          let isName = scheme.lowercased().split(separator: "+").contains { names.contains(String($0)) }
          text += isName ? self[user.name] : hiddenSecret[...]
          rest = self[user.name.upperBound...]
        }
      }
      return text + rest
    }
  }

  /// The user whom a URL names, and the password, which ends at an `@`.
  package struct URLUser {
    fileprivate var scheme: Range<String.Index>
    package var name: Range<String.Index>
    package var password: Range<String.Index>?

    /// That of a text which begins as a URL.
    package init?(of text: String) {
      var search = Search(text)
      guard let found = search.next(), found.scheme.lowerBound == text.startIndex else { return nil }
      self = found
    }

    fileprivate init(scheme: Range<String.Index>, name: Range<String.Index>, password: Range<String.Index>?) {
      (self.scheme, self.name, self.password) = (scheme, name, password)
    }

    /// Those of all URLs in a text, in order. Each part of the text is looked at a few times at most: between two `://`, and
    /// in a word, nothing is looked for from more than one of them.
    fileprivate struct Search {
      private let text: String
      private var place: String.Index
      /// The word that was looked at last, and its last `@`.
      private var word: Range<String.Index>
      private var lastAt: String.Index?

      init(_ text: String) {
        self.text = text
        place = text.startIndex
        word = place..<place
      }

      mutating func next() -> URLUser? {
        let bytes = text.utf8
        while let colon = bytes[place...].firstIndex(of: UInt8(ascii: ":")) {
          place = bytes.index(after: colon)
          guard bytes[place...].starts(with: "//".utf8), let scheme = text.beginOfScheme(endingAt: colon) else {
            continue
          }
          place = bytes.index(place, offsetBy: 2)
          if let user = well(scheme..<colon) ?? ill(scheme..<colon) {
            place = bytes.index(after: user.password?.upperBound ?? user.name.upperBound)
            return user
          }
        }
        return nil
      }

      /// As URLs are written: neither has a `/`, `?` or `#`.
      private func well(_ scheme: Range<String.Index>) -> URLUser? {
        let part = text.utf8[place...].prefix { !$0.isSpace && $0 != UInt8(ascii: "/") }
        let authority = part.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let name = authority.prefix { !":\"'<>".utf8.contains($0) }
        // An `@` behind a `?` or `#` may be the end of a password.
        guard !part[authority.endIndex...].contains(UInt8(ascii: "@")) else { return nil }
        if name.endIndex < authority.endIndex, authority[name.endIndex] == UInt8(ascii: ":") {
          let begin = authority.index(after: name.endIndex)
          if let at = authority[begin...].lastIndex(of: UInt8(ascii: "@")) {
            return URLUser(scheme: scheme, name: place..<name.endIndex, password: begin..<at)
          }
        }
        return name.lastIndex(of: UInt8(ascii: "@")).map { URLUser(scheme: scheme, name: place..<$0, password: nil) }
      }

      /// A password that has a `/`, `?` or `#` ends at the last `@` of the word.
      private mutating func ill(_ scheme: Range<String.Index>) -> URLUser? {
        let bytes = text.utf8
        if place >= word.upperBound {
          word = place..<(bytes[place...].firstIndex(where: \.isSpace) ?? text.endIndex)
          lastAt = bytes[word].lastIndex(of: UInt8(ascii: "@"))
        }
        let rest = bytes[place...]
        guard let lastAt, let colon = rest.firstIndex(where: { $0.isSpace || "/?#:[\"'<>".utf8.contains($0) }),
          colon < lastAt, rest[colon] == UInt8(ascii: ":"),
          case let password = rest[rest.index(after: colon)..<lastAt],
          let sign = password.firstIndex(where: "/?#".utf8.contains), !password[..<sign].isPorts(before: rest[sign])
        else { return nil }
        return URLUser(scheme: scheme, name: place..<colon, password: password.startIndex..<lastAt)
      }
    }
  }

  extension Substring.UTF8View {
    /// As in `host:8080/path`, and in `host:5432,other:5432/path`, where `next` is what follows.
    fileprivate func isPorts(before next: UInt8) -> Bool {
      guard next != UInt8(ascii: "#") else { return false }
      let hosts = split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
      let ports =
        hosts.prefix(1)
        + hosts.dropFirst().compactMap { host in
          host.lastIndex(of: UInt8(ascii: ":")).map { host[host.index(after: $0)...] }
        }
      return ports.allSatisfy { !$0.isEmpty && $0.allSatisfy(\.isDigit) }
    }
  }

  extension UInt8 {
    fileprivate var isSpace: Bool { self == UInt8(ascii: " ") || (9...13).contains(self) }
  }

  extension String {
    /// Of a scheme that is longer than 32 characters the end will do.
    fileprivate func beginOfScheme(endingAt end: Index) -> Index? {
      var begin: Index?
      for index in utf8[..<end].indices.reversed().prefix(32) {
        let byte = utf8[index]
        if byte.isLetter {
          begin = index
        } else if !"0123456789+.-".utf8.contains(byte) {
          break
        }
      }
      return begin
    }
  }

  extension [SystemText] {
    /// These words, of which none need be UTF-8, for everybody's eyes: without passwords in URLs, and without what the
    /// names in them say is a secret (``SecretWords``). `isLine`: the first is a line for a shell.
    package func withoutSecrets(isLine: Bool = false) -> [SystemText] {
      // What is not ASCII becomes characters that mean nothing, and bytes again.
      let texts = map { word in
        if word.isUTF8 { return word.display }
        let scalars = word.bytes.map { UnicodeScalar(UInt32($0) + ($0 < 0x80 ? 0 : 0xe000))! }
        return String(String.UnicodeScalarView(scalars))
      }
      let shown = SecretWords.hidden(in: texts.map(\.withoutPasswords), isLine: isLine)
      return zip(self, shown).map { word, text in
        if word.isUTF8 { return SystemText(text) }
        return SystemText(bytes: text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
      }
    }
  }

  extension ShellCommand {
    /// For everybody's eyes: without the values of its environment, and without the secrets in its words.
    package var withoutSecrets: ShellCommand {
      var copy = self
      copy.arguments = arguments.withoutSecrets(isLine: shell)
      copy.env = env.mapValues { _ in SystemText(hiddenSecret) }
      return copy
    }
  }
#endif
