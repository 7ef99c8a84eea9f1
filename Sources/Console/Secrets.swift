#if Shell
  import DurableJobsProcess

  /// What is shown in the place of what may be a secret.
  package let hiddenSecret = "***"

  extension String {
    /// This text with the passwords in its URLs hidden: `https://user:***@host`. A user without a password may be a token
    /// where it goes over HTTP, and is hidden there.
    package var withoutPasswords: String {
      guard contains("://"), contains("@") else { return self }
      return replacing(/([A-Za-z][A-Za-z0-9+.\-]*):\/\/([^\s\/?#:]*)(:[^\s\/?#]*)?@/) { match in
        let (_, scheme, user, password) = match.output
        if password != nil { return "\(scheme)://\(user):\(hiddenSecret)@" }
        let isWeb = scheme.lowercased().hasPrefix("http")
        return "\(scheme)://\(isWeb ? hiddenSecret : String(user))@"
      }
    }
  }

  extension ShellCommand {
    /// For everybody's eyes: without the values of its environment, and without passwords in URLs.
    package var withoutSecrets: ShellCommand {
      var copy = self
      copy.arguments = arguments.map { $0.isUTF8 ? SystemText($0.display.withoutPasswords) : $0 }
      copy.env = env.mapValues { _ in SystemText(hiddenSecret) }
      return copy
    }
  }
#endif
