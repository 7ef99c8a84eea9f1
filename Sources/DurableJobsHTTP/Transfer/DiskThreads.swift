#if HTTP
  import NIOPosix

  /// Threads that may block in the file system, for the tasks that write what arrives: neither Swift's pool nor the
  /// connections wait for a disk. One set for the process; it waits without polling and never ends.
  final class DiskThreads: TaskExecutor {
    static let shared = DiskThreads()

    private let pool = NIOThreadPool(numberOfThreads: 16)

    private init() { pool.start() }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      pool.submit { _ in job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }
#endif
