#if FaultPoints
  import DurableJobs
  import Foundation
#endif

/// Places where a test can kill the process: between statements that belong together.
///
/// `DURABLE_FAULT=claimMarked:3` in the environment kills the process with SIGKILL when it reaches that place for the
/// third time; without a number, the first. `claimMarked:3:stop` stops it there with SIGSTOP. Only with the trait
/// `FaultPoints`.
enum FaultPoint: String, CaseIterable {
  case migrateBegun, migrateEnded
  case insertBegun, insertJob, insertSpec
  case claimPromoted, claimPicked, claimWorker, claimMarked
  case settleBegun, settleMarked, settleResult
  case recoverTaken, recoverJob, recoverBuried
  case countsWritten, commitBefore, commitAfter

  #if FaultPoints
    private static let chosen: (name: String, countdown: Lock<Int>, signal: Int32)? = {
      guard let text = ProcessInfo.processInfo.environment["DURABLE_FAULT"] else { return nil }
      let parts = text.split(separator: ":")
      let countdown = Lock(parts.count > 1 ? Int(parts[1]) ?? 1 : 1)
      return (String(parts.first ?? ""), countdown, parts.last == "stop" ? SIGSTOP : SIGKILL)
    }()

    func reach() {
      guard let chosen = Self.chosen, chosen.name == rawValue else { return }
      let isIt = chosen.countdown.withLock { count in
        count -= 1
        return count == 0
      }
      if isIt { raise(chosen.signal) }  // of this thread, which does not go on before it; kill(2) may let it
    }
  #else
    @inline(__always) func reach() {}
  #endif
}
