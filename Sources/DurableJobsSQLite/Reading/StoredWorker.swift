import DurableJobs
import Foundation

/// A worker as its store knows it, and whether it lives.
package struct StoredWorker: Sendable {
  package enum Standing: String, Sendable {
    case alive
    /// Its process is there, and its lease has lapsed: it was stopped, or hangs.
    case silent
    /// Its process has ended. Whoever recovers next gives its jobs back.
    case dead
  }

  package var process: Int64
  package var since: Date
  package var queues: Set<String>
  package var kinds: Set<String>
  /// What it provides: conditions that hold for it, and such as do not.
  package var satisfied: Set<JobConstraint> = []
  package var absent: Set<JobConstraint> = []
  /// The jobs that run under its claims.
  package var jobs: Set<JobID>
  package var standing: Standing
}

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
    // A worker has more than one row when its claims were counted through.
    var names: [[String]] = []
    var workers: [StoredWorker] = []
    for known in rows {
      let row = known.row
      var worker = StoredWorker(
        process: known.process, since: Date(milliseconds: known.startedAt), queues: row.queues, kinds: row.kinds,
        satisfied: row.satisfied, absent: row.absent, jobs: claims[row.id ?? 0] ?? [],
        standing: row.isAlive(at: now) ? .alive : .silent)
      if !row.stands { worker.standing = .dead }
      if case .dead = engine.folder.standing(of: known.session) { worker.standing = .dead }
      if let index = names.firstIndex(of: [known.session, row.worker.name]) {
        worker.since = workers[index].since
        worker.jobs.formUnion(workers[index].jobs)
        workers[index] = worker
      } else {
        names.append([known.session, row.worker.name])
        workers.append(worker)
      }
    }
    return workers
  }
}
