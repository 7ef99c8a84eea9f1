#if HTTP
  import Foundation

  /// What a server tells of its file, to know it by where a file of its name is there already.
  struct ServerFile: Equatable {
    var size: Int64?
    /// When it was last changed; nil also if it may change once more within that second.
    var modified: Date?

    init(_ version: FileVersion, modified: Date?) {
      size = version.total
      self.modified = version.wasJustModified == true ? nil : modified
    }

    /// Whether a file of that size and time, in nanoseconds since 1970, is this one: both are told, and the same to the
    /// second. With `skipsExisting` they only must not contradict, and the file may be younger.
    func isThere(size: Int64, modified: Int64, skipsExisting: Bool) -> Bool {
      let seconds = Int64((Double(modified) / 1e9).rounded(.down))
      let told = self.modified.map { Int64($0.timeIntervalSince1970.rounded(.down)) }
      guard skipsExisting else { return self.size == size && told == seconds }
      return self.size ?? size == size && told ?? seconds <= seconds
    }
  }
#endif
