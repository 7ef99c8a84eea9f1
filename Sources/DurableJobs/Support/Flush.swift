import Foundation

/// Returns 0 once what was written into an open file or folder is on the disk, with its size and times; else `errno` says why
/// not.
package func flushToDisk(_ descriptor: Int32) -> Int32 {
  #if canImport(Darwin)
    // There, fsync leaves it in the drive's own memory.
    let result = fcntl(descriptor, F_FULLFSYNC)
    // Not all file systems know it: those of other machines don't.
    if result == 0 || ![ENOTSUP, EINVAL, ENOTTY].contains(errno) { return result }
  #endif
  return fsync(descriptor)
}
