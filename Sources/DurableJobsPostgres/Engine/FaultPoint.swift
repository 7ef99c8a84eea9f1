#if Postgres
  #if FaultPoints
    import DurableJobs
    import Foundation
  #endif

  /// Places where a test can kill the process, as in `DurableJobsSQLite`: `DURABLE_FAULT=claimMarked:3` kills it with SIGKILL
  /// when it reaches that place for the third time. Only compiled with the trait `FaultPoints`.
  enum FaultPoint: String, CaseIterable {
    /// The server has it, and nothing is committed.
    case insertJob, claimMarked, settleMarked
    /// COMMIT is sent next; is sent, and not answered; is answered, and nobody was told.
    case commitBefore, commitSent, commitAfter

    #if FaultPoints
      private static let chosen: (name: String, countdown: Lock<Int>)? = {
        guard let text = ProcessInfo.processInfo.environment["DURABLE_FAULT"] else { return nil }
        let parts = text.split(separator: ":")
        return (String(parts.first ?? ""), Lock(parts.count > 1 ? Int(parts[1]) ?? 1 : 1))
      }()

      func reach() {
        guard let chosen = Self.chosen, chosen.name == rawValue else { return }
        let isIt = chosen.countdown.withLock { count in
          count -= 1
          return count == 0
        }
        if isIt { kill(getpid(), SIGKILL) }
      }
    #else
      @inline(__always) func reach() {}
    #endif
  }
#endif
