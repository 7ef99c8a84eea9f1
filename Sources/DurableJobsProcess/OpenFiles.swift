#if Process
  import Foundation

  extension Program {
    #if canImport(Darwin)
      private static let resource = RLIMIT_NOFILE
      private static let most = rlim_t(OPEN_MAX)
    #else
      private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
      private static let most = rlim_t(65_536)
    #endif

    /// How many files this process could open when this was first read: at its start. Its commands get the same limit.
    static let openFilesAtStart: UInt64? = {
      var limit = rlimit()
      return getrlimit(resource, &limit) == 0 ? UInt64(limit.rlim_cur) : nil
    }()

    /// Running commands and downloads hold a few open files each. Systems allow few at first, and more on request.
    package static func raiseLimitOfOpenFiles() {
      _ = openFilesAtStart
      var limit = rlimit()
      guard getrlimit(resource, &limit) == 0, limit.rlim_cur < min(limit.rlim_max, most) else { return }
      limit.rlim_cur = min(limit.rlim_max, most)
      setrlimit(resource, &limit)
    }

    /// Whether this many more can be opened, besides those that are open.
    package static func hasRoom(forFiles count: Int) -> Bool {
      var files: [Int32] = []
      defer { for file in files { close(file) } }
      while files.count < count {
        let file = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        guard file >= 0 else { return errno != EMFILE }
        files.append(file)
      }
      return true
    }

    /// Lowers the raised limit again.
    static func limitOpenFiles(to count: UInt64) {
      var limit = rlimit()
      guard getrlimit(resource, &limit) == 0 else { return }
      limit.rlim_cur = min(rlim_t(count), limit.rlim_max)
      setrlimit(resource, &limit)
    }
  }
#endif
