import DurableJobs
import Foundation

/// A dead session, whose lock this process has as long as it has this, so that only one at a time cleans up after it.
package struct DeadSession: Sendable {
  let folder: String
  let session: String
  let file: Descriptor

  /// Removes the dead session's files from the folder.
  package func bury() {
    // The lock file goes last: as long as it exists, another process can finish an interrupted cleanup.
    for kind in SessionFile.allCases.reversed() { unlink(kind.path(of: session, in: folder)) }
  }
}
