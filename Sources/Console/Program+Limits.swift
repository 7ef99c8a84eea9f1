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
      guard hasRoom(forThreads: threads) else {
        throw ValidationError(
          "too few threads may run at once: \(threads) more are needed. Raise that with: ulimit -u, or the limit of "
            + "processes (pids) of the container")
      }
    }

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
