import DurableJobs

extension Engine {
  static let finishedSQL = """
    SELECT id,state,entered_at,links FROM durable_job WHERE id>?1 ORDER BY id LIMIT ?2
    """
  /// Rows looked at in one bite: some milliseconds of reading.
  private static let rowsInBite = 20_000

  /// What a pass found: at most as many jobs past their retention as were asked for, the oldest first.
  struct Expired: Sendable {
    var jobs: [JobID] = []
    var hasMore = false
    /// Where to go on, once these are deleted.
    var cursor = PruningCursor()
  }

  func findExpired(now: Int64, limit: Int) async throws -> Expired {
    let (policy, setBacks) = (configuration.policy, time.setBacks)
    var cursor = pruning.withLock { $0 }
    if cursor.setBacks != setBacks { cursor = PruningCursor(setBacks: setBacks) }
    guard cursor.id > .min || now >= cursor.nextPass else { return Expired(cursor: cursor) }
    // What ends from now on can't expire earlier than this.
    if cursor.id == .min { cursor.earliest = now + min(policy.retention, policy.failedRetention).milliseconds }
    return try await read { [cursor] connection in
      var found = Expired(cursor: cursor)
      let rows = try Statement(Self.finishedSQL, on: connection)
      let options = try Statement("SELECT options FROM durable_spec WHERE id=?1", on: connection)
      rows.bind(1, cursor.id)
      rows.bind(2, Int64(Self.rowsInBite))
      var count = 0
      while found.jobs.count < limit, try rows.step() {
        count += 1
        found.cursor.id = rows.int(0)
        guard let state = JobState(code: rows.int(1)),
          var expiry = policy.expiry(of: state, enteredAt: rows.int(2))
        else { continue }
        if expiry <= now, state == .succeeded, Links(rawValue: rows.int(3)).contains(.unique) {
          options.bind(1, rows.int(0))
          while try options.step() {
            let hold = try? StoredTerms(text: options.text(0)).keyHold
            if let until = hold?.until, until != KeyHold.stored { expiry = max(expiry, until) }
          }
        }
        if expiry <= now {
          found.jobs.append(JobID(rawValue: rows.int(0)))
        } else {
          found.cursor.earliest = min(found.cursor.earliest, expiry)
        }
      }
      found.hasMore = found.jobs.count == limit
      if !found.hasMore, count < Self.rowsInBite {
        found.cursor = PruningCursor(setBacks: setBacks, nextPass: found.cursor.earliest)
      }
      return found
    }
  }
}
