#if Shell
  import DurableJobsProcess
  import Foundation

  extension Program {
    /// The umask that the process was started with. Reading it for the first time sets one under which all that the process
    /// creates is its user's alone.
    package static let umaskAtStart: mode_t = umask(0o077)

    /// Of files that are the user's own, and not the store's.
    package static var permissionsOfFiles: Int { Int(0o666 & ~umaskAtStart) }
  }
#endif
