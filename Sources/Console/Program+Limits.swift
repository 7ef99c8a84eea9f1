#if Shell
  import DurableJobsProcess
  import Foundation

  extension Program {
    /// The umask that the process was started with. Reading it for the first time sets one under which all that the process
    /// creates is its user's alone.
    package static let umaskAtStart: mode_t = umask(0o077)

    /// Of files that are the user's own, and not the store's.
    package static var permissionsOfFiles: Int { Int(0o666 & ~umaskAtStart) }

    /// A download holds a few open files. Systems allow few at first, and more to who asks.
    package static func raiseLimitOfOpenFiles() {
      var limit = rlimit()
      #if canImport(Darwin)
        let resource = RLIMIT_NOFILE
        let most = rlim_t(OPEN_MAX)
      #else
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        let most = rlim_t(65_536)
      #endif
      guard getrlimit(resource, &limit) == 0, limit.rlim_cur < min(limit.rlim_max, most) else { return }
      limit.rlim_cur = min(limit.rlim_max, most)
      setrlimit(resource, &limit)
    }
  }
#endif
