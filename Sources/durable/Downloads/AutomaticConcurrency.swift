#if Shell
  /// How many downloads run at once where nobody said: few, since many large ones would only share the line; many while
  /// they are small, and end one after the other.
  struct AutomaticConcurrency {
    static let few = 6
    static let many = 32

    /// When the last few ended.
    private var ends: [Duration] = []

    mutating func ended(at now: Duration) {
      ends.append(now)
      if ends.count > Self.few { ends.removeFirst() }
    }

    func limit(at now: Duration) -> Int {
      guard ends.count == Self.few, let first = ends.first else { return Self.few }
      return now - first < .seconds(1) ? Self.many : Self.few
    }
  }
#endif
