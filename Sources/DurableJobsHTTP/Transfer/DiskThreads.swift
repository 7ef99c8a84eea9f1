#if HTTP
  import DurableJobs
  import DurableJobsSystem
  import Foundation

  /// Threads that may block in one folder, for the tasks that write what arrives: neither Swift's pool nor the
  /// connections wait for a disk, and a folder that hangs does not hold up another.
  ///
  /// There are as many as are needed at once, up to 16. They wait without polling, and end when idle for a while.
  final class DiskThreads: TaskExecutor {
    private struct State {
      var waiting: [UnownedJob] = []
      var count = 0
      /// Threads that wait to be woken, and have not been signalled yet.
      var idle = 0
    }

    private struct Weak {
      weak let threads: DiskThreads?
    }

    private static let most = 16
    private static let patience = 1.0
    private static let all = Lock<[String: Weak]>([:])

    private let state = Lock(State())
    private let bell = DispatchSemaphore(value: 0)

    /// Shared by all who name the folder alike, as long as one of them holds it. The folder itself is not accessed.
    static func of(folder: String) -> DiskThreads {
      all.withLock { all in
        if let threads = all[folder]?.threads { return threads }
        all = all.filter { $0.value.threads != nil }
        let threads = DiskThreads()
        all[folder] = Weak(threads: threads)
        return threads
      }
    }

    /// Of the folder that a file is in.
    static func of(file path: String) -> DiskThreads { of(folder: (path as NSString).deletingLastPathComponent) }

    private enum Next { case ring, begin, wait }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let next = state.withLock { state -> Next in
        state.waiting.append(job)
        if state.idle > 0 {
          state.idle -= 1
          return .ring
        }
        guard state.count < Self.most else { return .wait }
        state.count += 1
        return .begin
      }
      switch next {
      case .ring: bell.signal()
      case .begin: begin()
      case .wait: break
      }
    }

    /// If the system has no thread to give, Dispatch's threads do the work: there are fewer, but they exist.
    private func begin() {
      if SystemThread.start({ self.work() }) != 0 { DispatchQueue.global().async { self.work() } }
    }

    private func work() {
      while true {
        let job = state.withLock { state -> UnownedJob? in
          guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
          state.idle += 1
          return nil
        }
        if let job {
          run(job)
        } else if bell.wait(timeout: .now() + Self.patience) == .timedOut {
          let isOver = state.withLock { state in
            guard state.idle > 0 else { return false }
            state.idle -= 1
            state.count -= 1
            return true
          }
          if isOver { return }
          bell.wait()  // it was rung just now
        }
      }
    }

    private func run(_ job: UnownedJob) {
      #if canImport(Darwin)
        autoreleasepool { job.runSynchronously(on: asUnownedTaskExecutor()) }
      #else
        job.runSynchronously(on: asUnownedTaskExecutor())
      #endif
    }
  }
#endif
