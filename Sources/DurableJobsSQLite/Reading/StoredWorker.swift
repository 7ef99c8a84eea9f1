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
