import Foundation

/// An advisory lock on a whole file that ends with the process holding it, however that ends.
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

  /// Tries to take the lock. False if it is held elsewhere or the call fails, as `errno` says.
  static func take(_ file: Descriptor) -> Bool { lock(file, LOCK_EX | LOCK_NB) }

  /// Waits for the lock, in the system's order. False only if the call fails.
  static func await(_ file: Descriptor) -> Bool { lock(file, LOCK_EX) }

  static func giveBack(_ file: Descriptor) { _ = lock(file, LOCK_UN) }

  /// Whether the path still names this file.
  static func isFile(_ file: Descriptor, at path: String) -> Bool { FileStat(file)?.key == FileStat(path)?.key }

  private static func lock(_ file: Descriptor, _ operation: Int32) -> Bool {
    while flock(file.number, operation) != 0 { if errno != EINTR { return false } }
    return true
  }
}
