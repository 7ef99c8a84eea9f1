#if Shell
  import DurableJobsProcess

  /// What is shown in the place of what may be a secret.
  package let hiddenSecret = "***"

  extension String {
    /// This text with the passwords in its URLs hidden: `https://user:***@host`. A user without a password may be a token,
    /// and is hidden too, but where it goes over SSH or FTP, which know none.
    ///
    /// A password with characters that must not stand in one ends at the last `@` of the word: rather too much is hidden.
    ///
    /// So are the values of what signs a query: `https://host/file?X-Amz-Signature=***`.
    package var withoutPasswords: String {
      guard contains("://") else { return self }
      return contains("=") ? withoutPasswordsOfUsers.withoutSignatures : withoutPasswordsOfUsers
    }

    private var withoutSignatures: String {
      let signs =
        /([?&;](?:[A-Za-z0-9\-]+-)?(?:signature|credential|security-token|sig|token|access_token|api[_\-]?key|password|passwd|secret|client_secret)=)[^&;#\s"'<>]+/
      return replacing(signs.ignoresCase()) { "\($0.output.1)\(hiddenSecret)" }
    }

    private var withoutPasswordsOfUsers: String {
      guard contains("@") else { return self }
      let well = /([A-Za-z][A-Za-z0-9+.\-]{0,31}):\/\/([^\s\/?#:]*)(:[^\s\/?#]*)?@(?![^\s\/]*[#?][^\s\/]*@)/
      let ill = /([A-Za-z][A-Za-z0-9+.\-]{0,31}):\/\/([^\s\/?#:\[]*):(?![0-9]+[\/?])\S*[\/?#]\S*@/
      let text = replacingURLs(well) { match in
        let (_, scheme, user, password) = match.output
        if password != nil { return "\(scheme)://\(user):\(hiddenSecret)@" }
        let names: Set = ["ssh", "sftp", "scp", "rsync", "ftp"]
        let isName = scheme.lowercased().split(separator: "+").contains { names.contains(String($0)) }
        return "\(scheme)://\(isName ? String(user) : hiddenSecret)@"
      }
      return text.replacingURLs(ill) { match in
        // What is hidden already stays as it is.
        match.output.0.contains(":\(hiddenSecret)@")
          ? String(match.output.0) : "\(match.output.1)://\(match.output.2):\(hiddenSecret)@"
      }
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

  extension SystemText {
    /// The same of what need not be UTF-8.
    fileprivate var withoutPasswords: SystemText {
      if isUTF8 { return SystemText(display.withoutPasswords) }
      // What is not ASCII becomes characters that mean nothing, and bytes again.
      let scalars = bytes.map { UnicodeScalar(UInt32($0) + ($0 < 0x80 ? 0 : 0xe000))! }
      let text = String(String.UnicodeScalarView(scalars)).withoutPasswords
      return SystemText(bytes: text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }
  }

  extension ShellCommand {
    /// For everybody's eyes: without the values of its environment, and without passwords in URLs.
    package var withoutSecrets: ShellCommand {
      var copy = self
      copy.arguments = arguments.map(\.withoutPasswords)
      copy.env = env.mapValues { _ in SystemText(hiddenSecret) }
      return copy
    }
  }
#endif
