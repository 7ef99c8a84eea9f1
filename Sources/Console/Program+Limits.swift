#if Shell
  import ArgumentParser
  import DurableJobsProcess
  import Foundation

  extension Program {
    /// The umask that the process was started with. Reading it for the first time sets one under which all that the process
    /// creates is its user's alone.
    package static let umaskAtStart: mode_t = umask(0o077)

    /// Throws where too few files can be opened: what is used below would end the process with a trace. Who works gets as
    /// many as the system allows.
    package static func provideOpenFiles(forWork: Bool) throws {
      // A store, and for each core what its thread waits with.
      let least = forWork ? 24 + 4 * ProcessInfo.processInfo.activeProcessorCount : 13
      if forWork || !hasRoom(forFiles: least) { raiseLimitOfOpenFiles() }
      guard !hasRoom(forFiles: least) else { return }
      throw ValidationError(
        "too few files may be open at once: \(least) more are needed. Raise that with: ulimit -n 256")
    }

    /// Of files that are the user's own, and not the store's.
    package static var permissionsOfFiles: Int { Int(0o666 & ~umaskAtStart) }
  }
#endif
