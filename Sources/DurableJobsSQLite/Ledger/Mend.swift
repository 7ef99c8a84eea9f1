import DurableJobs

/// Handling of rows that no store could have written: damage to one job affects only that job.
extension WriteTransaction {
  /// Suspends jobs that no rule would reach, gives back jobs that run for no worker, and corrects wrong counts.
  func mend(limit: Int) throws {
    let damage = try Damage(limit: limit, on: connection.handle)
    for id in damage.rows where !memory.untouchable.contains(id) {
      try seize(id, because: "its state, its queue or its time is none")
    }
    let strays = damage.strays.filter { !memory.untouchable.contains($0) }
    _ = try change(.reset, strays, limit: limit)
    if damage.isMiscounted || !damage.rows.isEmpty { isMiscounted = true }
    memory.routes.forget()
    if !damage.isNothing { news.tell(.all) }
  }

  /// Suspends a ready job that can't be read, so that it blocks no others, and reports it.
  func setAside(_ id: JobID, because reason: String) throws {
    unreadable.append(id)
    _ = try change(.suspend(reason: Self.note(reason)), [id], limit: 1)
  }

  /// The same, regardless of what the row says. If the row can't even be written, this process skips it from now on.
  func seize(_ id: JobID, because reason: String) throws {
    if !unreadable.contains(id) { unreadable.append(id) }
    do {
      try run(.seize, id, now)
      isMiscounted = true
      try put(note: Self.note(reason), of: id)
    } catch let failure as SQLiteFailure where failure.concernsRow {
      memory.untouchable.insert(id)
    }
  }

  private static func note(_ reason: String) -> String { "its row in the store is damaged: \(reason)" }

  /// Goes through all jobs, so only after damage.
  func recount() throws { try Statement(StoreCheck.recount, on: connection.handle).run() }
}
