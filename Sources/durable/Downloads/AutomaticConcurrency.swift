#if Shell
  import DurableJobsHTTP

  /// How many downloads run at once where nobody said: few, since many large ones would only share the line; many while
  /// small ones come one after the other.
  struct AutomaticConcurrency {
    static let few = 6
    static let many = 32
    private static let smallBytes: Int64 = 1_000_000

    /// When the last few small ones came.
    private var ends: [Duration] = []

    mutating func succeeded(_ file: DownloadedFile, at now: Duration) {
      guard !file.wasThere, file.size <= Self.smallBytes else { return }
      ends.append(now)
      if ends.count > Self.few { ends.removeFirst() }
    }

    func limit(at now: Duration) -> Int {
      guard ends.count == Self.few, let first = ends.first else { return Self.few }
      return now - first < .seconds(1) ? Self.many : Self.few
    }
  }
#endif
