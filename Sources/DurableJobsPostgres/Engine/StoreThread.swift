#if Postgres
  import DurableJobs
  import DurableJobsSystem
  import Foundation

  /// The threads of a store, which may block.
  enum StoreThread {
    /// Runs `body` on a thread of its own. Throws `JobError.Code.storeFailed` if the system allows no more threads.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws {
      let code = SystemThread.start {
        Thread.current.name = name
        body()
      }
      guard code != 0 else { return }
      throw JobError(
        .storeFailed,
        "the store can't have another thread (\(SystemError.words(code))). Raise the limit of processes, or end some"
      )
    }
  }
#endif
