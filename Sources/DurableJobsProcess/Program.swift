#if Process
  import Foundation
  import Subprocess

  /// This program and its process.
  package enum Program {
    /// The umask that the process was started with. Reading it for the first time sets one under which all that the process
    /// creates is its user's alone.
    package static let umaskAtStart: mode_t = umask(0o077)

    /// Of files that are the user's own, and not the store's.
    package static var permissionsOfFiles: Int { Int(0o666 & ~umaskAtStart) }

    /// The umask that the process was started with, as in "022".
    package static var umaskInOctal: String { String(("00" + String(umaskAtStart, radix: 8)).suffix(3)) }

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

    /// This program, also if its file was replaced since it started.
    package static var itself: Executable {
      #if os(Linux)
        if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
          !path.hasSuffix(" (deleted)")
        {
          return .path(.init(path))
        }
        return .path("/proc/self/exe")
      #else
        return .path(.init(Bundle.main.executablePath ?? CommandLine.arguments[0]))
      #endif
    }
  }
#endif
