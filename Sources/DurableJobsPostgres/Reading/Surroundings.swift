#if Postgres
  import DurableJobs

  extension PostgresStore {
    /// How many unfinished jobs require each condition.
    package func required() async throws -> [JobConstraint: Int] {
      try await engine.read { reader in
        try reader.routes().reduce(into: [:]) { all, route in
          guard route.counts.unfinished > 0 else { return }
          for constraint in route.route.requires { all[constraint, default: 0] += route.counts.unfinished }
        }
      }
    }

    /// The workers of this store, on any machine, the oldest first.
    package func workers() async throws -> [StoredWorker] {
      let now = engine.time.now
      return try await engine.read { try $0.storedWorkers(now: now) }
    }

    /// The jobs that wait for this one, or waited for it, by id.
    package func children(of id: JobID) async throws -> [JobID] {
      try await engine.read { reader in
        var ids: [JobID] = []
        reader.connection.send("SELECT DISTINCT child FROM §edge WHERE parent=$1 ORDER BY child", [.int(id.rawValue)]) {
          rows in ids = (0..<rows.count).map { rows.id($0, 0) }
        }
        try reader.connection.sync()
        return ids
      }
    }
  }
#endif
