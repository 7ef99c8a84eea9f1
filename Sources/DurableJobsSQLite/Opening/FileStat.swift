import Foundation

/// What the system says of a file or a folder.
struct FileStat {
  /// The file, whatever path leads to it.
  struct Key: Hashable {
    let device: UInt64
    let file: UInt64
  }

  let key: Key
  /// In bytes.
  let size: Int64
  let modified: Modification

  /// Nil if there is no such file.
  init?(_ path: String) { self.init { status in path.withCString { stat($0, &status) } } }

  init?(_ file: Descriptor) { self.init { fstat(file.number, &$0) } }

  private init?(_ look: (inout stat) -> Int32) {
    var status = stat()
    guard look(&status) == 0 else { return nil }
    key = Key(device: UInt64(truncatingIfNeeded: status.st_dev), file: UInt64(truncatingIfNeeded: status.st_ino))
    size = Int64(status.st_size)
    #if canImport(Darwin)
      modified = Modification(time: status.st_mtimespec)
    #else
      modified = Modification(time: status.st_mtim)
    #endif
  }
}

/// When something was last changed, as far as its file system tells.
struct Modification: Equatable {
  let seconds: Int
  let nanoseconds: Int

  init(time: timespec) { (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec) }

  /// Whether a later change is sure to have another time: file systems stamp with a clock that steps, by 10 ms at
  /// most or, where they keep no fractions, by one or two seconds.
  func isSettled(at now: timespec) -> Bool {
    let age = Double(now.tv_sec - seconds) + Double(now.tv_nsec - nanoseconds) / 1e9
    return age > (nanoseconds == 0 ? 3 : 0.02)
  }
}
