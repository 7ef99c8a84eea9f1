#if HTTP
  /// What was said on the way to a URL decides what it is told. What was held back once stays so, wherever the redirects
  /// lead.
  enum Way: Comparable {
    /// Through the first scheme, host and port alone.
    case own
    case elsewhere
    /// Down from https to http.
    case open

    func leading(from url: HTTPURL, to next: HTTPURL) -> Way {
      guard next.origin != url.origin else { return self }
      return url.isSecure && !next.isSecure ? .open : max(self, .elsewhere)
    }

    /// Which user and password `url` is given: `own` are those of the first URL.
    func credentials(for url: HTTPURL, own: HTTPURL.Credentials?, _ netrc: Netrc?) -> HTTPURL.Credentials? {
      switch self {
      case .own: own ?? netrc?.credentials(for: url.host, isNamed: false)
      case .elsewhere: netrc?.credentials(for: url.host, isNamed: true)
      case .open: nil
      }
    }
  }
#endif
