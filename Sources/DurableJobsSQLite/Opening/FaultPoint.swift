#if FaultPoints
  import DurableJobs
  import Foundation
#endif

/// Places where a test can kill the process: between statements that belong together.
///
/// `DURABLE_FAULT=claim.marked:3` in the environment kills the process with SIGKILL when it reaches that place for the
/// third time; without a number, the first time. `claim.marked:3:stop` stops it there with SIGSTOP. Only compiled with
/// the trait `FaultPoints`.
enum FaultPoint: String, CaseIterable {
  case migrateBegun = "migrate.begun"
  case migrateEnded = "migrate.ended"
  case insertBegun = "insert.begun"
  case insertJob = "insert.job"
  case insertSpec = "insert.spec"
  case claimPromoted = "claim.promoted"
  case claimPicked = "claim.picked"
  case claimWorker = "claim.worker"
  case claimMarked = "claim.marked"
  case settleBegun = "settle.begun"
  case settleMarked = "settle.marked"
  case settleResult = "settle.result"
  case recoverTaken = "recover.taken"
  case recoverJob = "recover.job"
  case recoverBuried = "recover.buried"
  case countsWritten = "counts.written"
  case commitBefore = "commit.before"
  case commitAfter = "commit.after"

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
      if isIt { kill(getpid(), chosen.signal) }
    }
  #else
    @inline(__always) func reach() {}
  #endif
}
