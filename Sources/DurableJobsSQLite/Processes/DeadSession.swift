import DurableJobs
import Foundation

/// A session that died, with its lock, which who found it has taken: so one process at a time clears up after it.
package final class DeadSession: Sendable {
  private let folder: String
  private let session: String
  private let file: Lock<Descriptor?>

  init(folder: String, session: String, file: Descriptor) {
    self.folder = folder
    self.session = session
    self.file = Lock(file)
  }

  /// Removes what the dead session left in the folder, then lets go.
  package func bury() {
    // The lock file last: as long as it is there, somebody else can finish what is begun here.
    file.withLock { file in
      guard file != nil else { return }
      for kind in SessionFile.allCases.reversed() { unlink(kind.path(of: session, in: folder)) }
      file = nil
    }
  }

  /// Leaves everything as it was found.
  package func letGo() {
    file.withLock { $0 = nil }
  }
}

/// An advisory lock on a whole file, which ends with the process that holds it, however that ends.
enum FileLock {
  /// Opens a file such that no child process ever holds its lock; nil if the system refuses, with the reason in `errno`.
  static func file(at path: String, creating flags: Int32 = 0) -> Descriptor? {
    Descriptor.opened {
      while true {
        // `O_CLOEXEC` here and not later: a child may be started in between.
        let number = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0o600)
        if number >= 0 || errno != EINTR { return number }
      }
    }
  }

  /// False if somebody else holds it, or the system refuses; `errno` tells.
  static func take(_ file: Descriptor) -> Bool { lock(file, LOCK_EX | LOCK_NB) }

  /// Waits in the order that the system keeps. False only if the system refuses.
  static func await(_ file: Descriptor) -> Bool { lock(file, LOCK_EX) }

  static func giveBack(_ file: Descriptor) { _ = lock(file, LOCK_UN) }

  /// Whether that path still names this file.
  static func isFile(_ file: Descriptor, at path: String) -> Bool {
    FileStatus(file)?.key == FileStatus(path)?.key
  }

  private static func lock(_ file: Descriptor, _ operation: Int32) -> Bool {
    while flock(file.number, operation) != 0 {
      if errno != EINTR { return false }
    }
    return true
  }
}
