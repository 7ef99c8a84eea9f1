import DurableJobs

extension SQLiteStore {
  /// The number of unfinished jobs that require each condition.
  package func required() async throws -> [JobConstraint: Int] {
    try await engine.read { connection in
      try RouteTotals.read(on: connection).reduce(into: [:]) { all, route in
        guard route.counts.unfinished > 0 else { return }
        for constraint in route.requires { all[constraint, default: 0] += route.counts.unfinished }
      }
    }
  }

  /// The jobs that wait or waited for this one, by id.
  package func children(of id: JobID) async throws -> [JobID] {
    try await engine.read { connection in
      Set(try Statement(WriterStatement.children.sql, on: connection).with(id).map { $0.id(0) }).sorted()
    }
  }

  /// The workers on this file, oldest first. Changes nothing: cleaning up after dead ones is left to ``recover(_:)``.
  package func workers() async throws -> [StoredWorker] {
    let now = engine.time.now
    let (rows, claims) = try await engine.read { (try Census.readWorkers(on: $0), try Census.readClaims(on: $0)) }
    return workers(rows, claims, now)
  }

  func workers(_ rows: [Census.Worker], _ claims: [Int64: Set<JobID>], _ now: Int64) -> [StoredWorker] {
    StoredWorker.all(of: rows, running: claims, at: now) { session in
      if case .dead = engine.folder.standing(of: session) { true } else { false }
    }
  }
}
