import DurableJobs
import Foundation

extension JobWorker {
  /// Provides what the system knows: ``JobConstraint/network``, ``JobConstraint/externalPower``, and
  /// ``JobConstraint/diskSpace`` as that many free bytes, by default 1 GB, on the volume of `folder`.
  public func provideSystemConstraints(diskSpace bytes: Int64 = 1_000_000_000, of folder: URL) {
    provide(.network, NetworkMonitor())
    provide(.externalPower, PowerMonitor())
    provide(.diskSpace, DiskSpaceMonitor(atLeast: bytes, of: folder))
  }
}
