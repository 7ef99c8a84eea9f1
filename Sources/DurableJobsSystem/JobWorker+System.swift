import DurableJobs
import Foundation

extension JobWorker {
  /// Provides what the system knows: ``JobConstraint/network``, ``JobConstraint/externalPower``, and
  /// ``JobConstraint/diskSpace`` as that much room on the volume of `folder`, 1 GB by default.
  public func provideSystemConstraints(diskSpace bytes: Int64 = 1_000_000_000, of folder: URL) {
    provide(.network, NetworkMonitor())
    provide(.externalPower, PowerMonitor())
    provide(.diskSpace, DiskSpaceMonitor(atLeast: bytes, of: folder))
  }
}
