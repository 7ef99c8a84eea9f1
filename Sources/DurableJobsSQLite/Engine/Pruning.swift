import DurableJobs

/// How far a process has looked for jobs past their retention. A pass goes over all ids, in bites; when it is through,
/// the next need not begin before the first of those that it left behind expires.
struct PruningCursor: Sendable {
  /// How often the clock had been set back when this was reckoned.
  var setBacks = 0
  /// The next pass begins then.
  var nextPass: Int64 = .min
  /// Ids up to here were looked at.
  var id: Int64 = .min
  /// The earliest expiry of a job that this pass left, or that may have ended behind it.
  var earliest: Int64 = .max
}

extension Engine {
  static let finishedSQL = """
    SELECT id,state,entered_at FROM durable_job WHERE id>?1 ORDER BY id LIMIT ?2
    """
  /// Rows looked at in one bite: some milliseconds of reading.
  private static let rowsInBite = 20_000

  /// At most `limit` jobs past their retention, the oldest first.
  func findExpired(now: Int64, limit: Int) async throws -> (jobs: [JobID], hasMore: Bool) {
    let setBacks = time.setBacks
    var cursor = pruning.withLock { cursor in
      if cursor.setBacks != setBacks { cursor = PruningCursor(setBacks: setBacks) }
      return cursor
    }
    guard cursor.id > .min || now >= cursor.nextPass else { return ([], false) }
    let policy = configuration.policy
    if cursor.id == .min {
      // What ends from now on can't expire earlier than this.
      cursor.earliest = now + min(policy.retention, policy.failedRetention).milliseconds
    }
    let (found, moved, isThrough) = try await read { [cursor] connection in
      var cursor = cursor
      var found: [JobID] = []
      let rows = try Statement(Self.finishedSQL, on: connection)
      rows.bind(1, cursor.id)
      rows.bind(2, Int64(Self.rowsInBite))
      var count = 0
      while found.count < limit, try rows.step() {
        count += 1
        cursor.id = rows.int(0)
        guard let state = JobState(code: rows.int(1)),
          let expiry = policy.expiry(of: state, enteredAt: rows.int(2))
        else { continue }
        if expiry <= now {
          found.append(JobID(rawValue: cursor.id))
        } else {
          cursor.earliest = min(cursor.earliest, expiry)
        }
      }
      return (found, cursor, found.count < limit && count < Self.rowsInBite)
    }
    let hasMore = !isThrough && found.count == limit
    pruning.withLock { pruning in
      pruning = isThrough ? PruningCursor(setBacks: setBacks, nextPass: moved.earliest) : moved
    }
    return (found, hasMore)
  }
}
