import DurableJobs
import Foundation

extension SQLiteStore {
  /// How many unfinished jobs require each condition.
  package func required() async throws -> [JobConstraint: Int] {
    try await engine.read { connection in
      try RouteTotals.read(on: connection).reduce(into: [:]) { all, route in
        guard route.counts.unfinished > 0 else { return }
        for constraint in route.requires { all[constraint, default: 0] += route.counts.unfinished }
      }
    }
  }

  /// Who works on this file, the oldest first. Nothing is changed by looking: who is found dead is left to ``recover(_:)``.
  package func workers() async throws -> [StoredWorker] {
    let now = engine.time.now
    let (rows, claims) = try await engine.read {
      (try Census.readWorkers(on: $0), try Census.readClaims(on: $0))
    }
    return workers(rows, claims, now)
  }

  func workers(_ rows: [Census.Worker], _ claims: [Int64: Set<JobID>], _ now: Int64) -> [StoredWorker] {
    StoredWorker.all(of: rows, running: claims, at: now) { session in
      if case .dead = engine.folder.standing(of: session) { true } else { false }
    }
  }
}
