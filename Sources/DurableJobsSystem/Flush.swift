import Foundation

/// Flushes what was written to an open file or folder to disk, with its size and times. Returns 0, or -1 with the
/// reason in `errno`.
package func flushToDisk(_ descriptor: Int32) -> Int32 {
  #if canImport(Darwin)
    // On Apple platforms, fsync leaves the data in the drive's own cache.
    let result = fcntl(descriptor, F_FULLFSYNC)
    // Not all file systems support it; network file systems don't.
    if result == 0 || ![ENOTSUP, EINVAL, ENOTTY].contains(errno) { return result }
  #endif
  return fsync(descriptor)
}
