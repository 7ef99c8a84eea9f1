#if HTTP
  import Foundation

  /// What a server says about its file, for recognizing an existing file of that name.
  struct ServerFile: Equatable {
    var version: FileVersion
    var size: Int64? { version.total }
    /// When it was last changed.
    var modified: Date?

    init(_ version: FileVersion, modified: Date?) {
      self.version = version
      self.modified = modified
    }

    /// Whether it is the file with that size and time, in nanoseconds since 1970: both must be known, equal (times to
    /// the second) and of one version. With `skipsExisting` they only must not contradict, and the file may be newer.
    func isThere(size: Int64, modified: Int64, skipsExisting: Bool) -> Bool {
      let seconds = modified / 1_000_000_000 - (modified % 1_000_000_000 < 0 ? 1 : 0)
      let told = self.modified.flatMap { Int64(exactly: $0.timeIntervalSince1970.rounded(.down)) }
      guard skipsExisting else { return self.size == size && told == seconds && version.isTold(by: self.modified) }
      return self.size ?? size == size && told ?? seconds <= seconds
    }
  }
#endif
