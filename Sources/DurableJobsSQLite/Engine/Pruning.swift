import DurableJobs

extension Engine {
  /// Without those that others keep.
  static let finishedSQL = """
    SELECT id,state,entered_at,links,route FROM durable_job j WHERE id>?1
      AND NOT(links&\(Links.children.rawValue) AND state>6 AND EXISTS(
        SELECT 1 FROM durable_edge e CROSS JOIN durable_job c ON c.id=e.child
        WHERE e.parent=j.id AND (c.state<7 OR e.slot>=0 AND c.state<>7)))
    ORDER BY id LIMIT ?2
    """

  static let emptySQL =
    "SELECT id,empty_at FROM durable_batch WHERE empty_at NOT NULL AND jobs<=0 AND done<>2 ORDER BY empty_at LIMIT ?1"

  func findExpired(now: Int64, limit: Int) async throws -> PruningPass {
    let pass = PruningPass(
      from: pruning.withLock { $0 }, setBacks: time.setBacks, policy: configuration.policy, now: now, limit: limit)
    guard pass.isDue else { return pass }
    return try await read { connection in
      var pass = pass
      let rows = try Statement(Self.finishedSQL, on: connection).with(pass.cursor.id, pass.rows)
      let options = try Statement("SELECT options FROM durable_spec WHERE id=?1", on: connection)
      let routes = pass.asksForKinds ? try RouteTotals.read(isCounting: false, on: connection) : []
      let kinds = Dictionary(routes.map { ($0.id, $0.kind) }) { $1 }
      while !pass.isFull, try rows.step() {
        try pass.look(at: rows.int(0), state: rows.int(1), kind: kinds[rows.int(4)], enteredAt: rows.int(2)) {
          guard Links(rawValue: rows.int(3)).contains(.unique) else { return nil }
          return try options.with(rows.int(0)).first { (try? StoredTerms(text: $0.text(0)))?.keyHold }
        }
      }
      let empty = try Statement(Self.emptySQL, on: connection).with(pass.limit)
      while try empty.step() { pass.look(at: BatchID(rawValue: empty.int(0)), emptyAt: empty.int(1)) }
      pass.end()
      return pass
    }
  }
}
