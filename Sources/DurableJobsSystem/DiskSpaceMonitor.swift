import DurableJobs
import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Monitors the free space on a volume, for `JobConstraint.diskSpace`. Checks once a minute, as no system reports it.
public struct DiskSpaceMonitor: ConstraintMonitor {
  private static let interval = Duration.seconds(60)

  private let least: Int64
  private let path: String

  /// Requires this many bytes to be free for this user on the volume of a file or folder. Once there is less, it takes
  /// 10 % more to be enough again, so that small changes do not start and stop jobs.
  public init(atLeast least: Int64, of url: URL) {
    self.least = least
    path = url.path
  }

  public func changes() -> some AsyncSequence<Bool, Never> {
    let was = Lock(true)
    return Polling(Self.interval) { [least, path] in
      let free = Self.free(path)
      return was.withLock { was in
        was = Self.isEnough(free, least: least, was: was)
        return was
      }
    }
  }

  /// If the volume can't be read, nothing is known, and no job is held up.
  static func isEnough(_ free: Int64?, least: Int64, was: Bool) -> Bool {
    guard let free else { return true }
    return free >= least && (was || free - least >= least / 10)
  }

  private static func free(_ path: String) -> Int64? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    return DiskRoom(status)?.free
  }
}
