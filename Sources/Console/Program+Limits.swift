#if Shell
  import ArgumentParser
  import DurableJobsProcess
  import Foundation

  extension Program {
    /// The umask that the process was started with. Reading it for the first time sets one under which all that the process
    /// creates is its user's alone.
    package static let umaskAtStart: mode_t = umask(0o077)

    /// Throws where too few files can be opened, or too few threads started: what is used below would end the process with a
    /// trace, or hang. Who works gets as many files as the system allows.
    package static func provideRoom(forWork: Bool) throws {
      // A store, and for each core what its thread waits with.
      let least = forWork ? 24 + 4 * ProcessInfo.processInfo.activeProcessorCount : 13
      if forWork || !hasRoom(forFiles: least) { raiseLimitOfOpenFiles() }
      guard hasRoom(forFiles: least) else {
        throw ValidationError(
          "too few files may be open at once: \(least) more are needed. Raise that with: ulimit -n 256")
      }
      // Without threads, what is below would wait for some without a word.
      let threads = forWork ? 8 + 4 * ProcessInfo.processInfo.activeProcessorCount : 4
      guard hasPlentyOfThreads || hasRoom(forThreads: threads) else {
        throw ValidationError(
          "too few threads may run at once: \(threads) more are needed. Raise that with: ulimit -u, or the limit of "
            + "processes (pids) of the container")
      }
    }

    /// Whether the system's limits are so far away that nothing is learned by starting some. False where they can't be read.
    private static var hasPlentyOfThreads: Bool {
      #if os(Linux)
        let plenty = 1000
        guard let memory = limit(RLIMIT_AS), memory == .max, let most = limit(__RLIMIT_NPROC) else { return false }
        if most != .max {
          // As in "0.1 0.1 0.1 2/345 678": all threads that there are, and not the user's alone.
          guard let all = text("/proc/loadavg")?.split(separator: "/").last?.split(separator: " ").first,
            let count = Int(all), most > count + plenty
          else { return false }
        }
        return hasPlentyInGroups(plenty)
      #else
        return false
      #endif
    }

    #if os(Linux)
      /// Whether this process's group for which processes are counted, and those around it, may have so many more.
      private static func hasPlentyInGroups(_ plenty: Int) -> Bool {
        guard let groups = text("/proc/self/cgroup") else { return false }
        // As in "8:pids:/a/b" or, where one tree is for all, "0::/a/b".
        let lines = groups.split(separator: "\n").map {
          $0.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        }
        let ofPids = lines.first { $0.count == 3 && $0[1].split(separator: ",").contains("pids") }
        guard let group = ofPids ?? lines.first(where: { $0.count == 3 && $0[1].isEmpty }), !group[2].contains("..")
        else {
          return false
        }
        let root = "/sys/fs/cgroup\(ofPids == nil ? "" : "/pids")"
        var names = group[2].split(separator: "/").map(String.init)
        while true {
          let folder = ([root] + names).joined(separator: "/")
          guard access(folder, F_OK) == 0 else { return false }
          if let most = text(folder + "/pids.max").flatMap({ Int($0) }) {
            guard let count = text(folder + "/pids.current").flatMap({ Int($0) }), most > count + plenty else {
              return false
            }
          }
          if names.popLast() == nil { return true }
        }
      }

      private static func limit(_ resource: __rlimit_resource) -> Int? {
        var limit = rlimit()
        return getrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 ? Int(clamping: limit.rlim_cur) : nil
      }

      /// What the system says in a file of its own, without the line break at its end.
      private static func text(_ path: String) -> Substring? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
          let count = read(file, buffer.baseAddress, buffer.count)
          guard count > 0, count < buffer.count else { return nil }
          let text = String(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<count]), as: UTF8.self)
          return text.hasSuffix("\n") ? text.dropLast() : text[...]
        }
      }
    #endif

    /// Whether this many more threads can be started, besides those that there are.
    private static func hasRoom(forThreads count: Int) -> Bool {
      pthread_mutex_lock(threadGate)
      #if canImport(Darwin)
        var threads: [pthread_t?] = []
        var thread: pthread_t?
      #else
        var threads: [pthread_t] = []
        var thread = pthread_t()
      #endif
      while threads.count < count, pthread_create(&thread, nil, waitAtGate, nil) == 0 { threads.append(thread) }
      pthread_mutex_unlock(threadGate)
      #if canImport(Darwin)
        for case let thread? in threads { pthread_join(thread, nil) }
      #else
        for thread in threads { pthread_join(thread, nil) }
      #endif
      return threads.count == count
    }

    private static let waitAtGate: @convention(c) (ThreadArgument) -> UnsafeMutableRawPointer? = { _ in
      pthread_mutex_lock(threadGate)
      pthread_mutex_unlock(threadGate)
      return nil
    }

    #if canImport(Darwin)
      private typealias ThreadArgument = UnsafeMutableRawPointer
    #else
      private typealias ThreadArgument = UnsafeMutableRawPointer?
    #endif

    /// A mutex is made to be used by many threads, and its place never changes. A function of C gets it only from here.
    nonisolated(unsafe) private static let threadGate = {
      let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
      pthread_mutex_init(mutex, nil)
      return mutex
    }()

    /// Of files that are the user's own, and not the store's.
    package static var permissionsOfFiles: Int { Int(0o666 & ~umaskAtStart) }
  }
#endif
