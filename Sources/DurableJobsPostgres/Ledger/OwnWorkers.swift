#if Postgres
  import DurableJobs

  /// The rows of this process's workers, and how many claims each has made.
  final class OwnWorkers: Sendable {
    struct State {
      var rows: [WorkerID: [WorkerRow]] = [:]
      var claims: [Int64: Int64] = [:]
    }

    let state = Lock(State())

    /// The newest is last.
    func rows(of worker: WorkerID) -> [WorkerRow] { counted(state.withLock { $0.rows[worker] ?? [] }) }

    /// With the claims that each has made by now, also in a transaction that is under way.
    func counted(_ rows: [WorkerRow]) -> [WorkerRow] {
      state.withLock { state in
        rows.map { row in
          var row = row
          row.claims = state.claims[row.id ?? 0] ?? 0
          return row
        }
      }
    }

    var allIDs: [Int64] { state.withLock { $0.rows.values.joined().compactMap(\.id) } }
    var isEmpty: Bool { state.withLock { $0.rows.isEmpty } }

    /// Records what a transaction knows of a worker: the rows that it has read or made, and those that it looked for in
    /// vain. A row of which it did not know stays: another one made it meanwhile.
    func set(_ rows: [WorkerRow], of worker: WorkerID, missed: Set<Int64> = []) {
      state.withLock { state in
        var all = state.rows[worker] ?? []
        all.removeAll { missed.contains($0.id ?? 0) }
        for row in rows {
          if let place = all.firstIndex(where: { $0.id == row.id }) { all[place] = row } else { all.append(row) }
        }
        state.rows[worker] = all.isEmpty ? nil : all
      }
    }

    /// These rows are gone.
    func forget(_ ids: Set<Int64>) {
      state.withLock { state in
        for (worker, rows) in state.rows {
          let rest = rows.filter { !ids.contains($0.id ?? 0) }
          state.rows[worker] = rest.isEmpty ? nil : rest
        }
        for id in ids { state.claims[id] = nil }
      }
    }

    /// A number that no claim ever had, whether the transaction is committed or not. Those of a row begin anywhere in the
    /// lower half: a server that was restored may give the row's number to another process, which counts by itself.
    func nextClaim(ofRow id: Int64) -> ClaimNumber {
      state.withLock { state in
        let count = (state.claims[id] ?? .random(in: 0..<ClaimNumber.limit / 2)) + 1
        state.claims[id] = count
        return ClaimNumber(worker: id, count: count)
      }
    }
  }
#endif
