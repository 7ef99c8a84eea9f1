import Foundation

/// How many bytes a file system has, and how many of them a program leaves to others, such as a store that is on it too.
package struct DiskRoom: Sendable {
  package let free: Int64
  package let all: Int64
  /// 16 MB, or an eighth of a small disk.
  package var reserve: Int64 { min(16 << 20, all / 8) }

  /// Nil if the file system does not say, or if more is free than can be counted.
  package init?(_ status: statvfs) {
    let unit = Int64(clamping: status.f_frsize)
    let (free, isMuch) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(by: unit)
    guard status.f_blocks > 0, !isMuch else { return nil }
    let (all, isLarge) = Int64(clamping: status.f_blocks).multipliedReportingOverflow(by: unit)
    (self.free, self.all) = (free, isLarge ? .max : all)
  }
}
