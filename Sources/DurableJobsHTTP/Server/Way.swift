#if HTTP
  /// The redirects on the way to a URL decide what is sent to it. What was withheld once remains withheld, wherever the
  /// redirects lead.
  enum Way: Comparable {
    /// Only through the first scheme, host and port.
    case own
    case elsewhere
    /// Down from https to http.
    case open

    func leading(from url: HTTPURL, to next: HTTPURL) -> Way {
      guard next.origin != url.origin else { return self }
      return url.isSecure && !next.isSecure ? .open : max(self, .elsewhere)
    }

    /// The user and password sent to `url`: `own` are those of the first URL.
    func credentials(for url: HTTPURL, own: HTTPURL.Credentials?, _ netrc: Netrc?) -> HTTPURL.Credentials? {
      switch self {
      case .own: own ?? netrc?.credentials(for: url.host, isNamed: false)
      case .elsewhere: netrc?.credentials(for: url.host, isNamed: true)
      case .open: nil
      }
    }
  }
#endif
