#if Postgres
  import DurableJobs
  import Foundation

  /// What changes seldom, and concerns all workers.
  struct Outlook {
    /// `meta.changes`
    var changes: Int64 = 0
    var deadline: Int64?
  }

  extension Reader {
    static let workersSQL = """
      SELECT id,name,session,lease_until,kinds,queues,satisfied,absent,pid,started_at,machine,process_start
      FROM §worker ORDER BY id
      """
    static let runningSQL = "SELECT DISTINCT h.claim>>\(ClaimNumber.bits) FROM \(Transaction.whatRuns)"
    /// What runs under claims of no worker: a version that lost jobs of dead workers left them so.
    static let straysSQL = """
      SELECT h.id FROM \(Transaction.whatRuns) WHERE NOT EXISTS(SELECT 1 FROM §worker WHERE id=h.claim>>\(ClaimNumber.bits))
      LIMIT $1
      """
    static let hasDueSQL =
      "SELECT EXISTS(SELECT 1 FROM §route r WHERE EXISTS(SELECT 1 FROM §job WHERE route=r.id AND state=3 AND rank<=$1))"
    static let changesSQL = "SELECT changes FROM §meta WHERE id=1"
    static let nextDeadlineSQL = "SELECT at FROM §deadline WHERE at>$1 ORDER BY at LIMIT 1"
    /// Without those that others keep.
    static let finishedSQL = """
      SELECT j.id,j.state,j.entered_at,
        CASE WHEN j.state=7 AND j.links&\(Links.unique.rawValue)<>0 THEN(SELECT options FROM §spec WHERE id=j.id) END,j.route
      FROM §job j WHERE j.id>$1 AND NOT(j.links&\(Links.children.rawValue)<>0 AND j.state>6 AND EXISTS(
        SELECT 1 FROM §edge e JOIN §job c ON c.id=e.child WHERE e.parent=j.id AND (c.state<7 OR e.slot>=0 AND c.state<>7)))
      ORDER BY j.id LIMIT $2
      """

    static let emptySQL = "SELECT id,empty_at FROM §batch WHERE empty_at IS NOT NULL ORDER BY empty_at,id LIMIT $1"

    /// Also returns the processes of the workers, see ``workers()``.
    func census(now: Int64) throws -> (Census, processes: [String: WorkerProcess]) {
      var census = Census()
      connection.send(Self.hasDueSQL, [.int(now)]) { census.hasDue = $0.bool(0, 0) }
      sendForDeadline { census.nextDeadline = $0 }
      let processes: [String: WorkerProcess]
      (census.workers, processes) = try workers()
      if census.workers.contains(where: { !$0.row.isAlive(at: now) }) {
        connection.send(Self.runningSQL) { rows in census.running = Set((0..<rows.count).map { rows.int($0, 0) }) }
        try connection.sync()
      }
      return (census, processes)
    }

    func strays(limit: Int) throws -> [JobID] {
      var strays: [JobID] = []
      connection.send(Self.straysSQL, [.int(Int64(limit))]) { rows in strays = (0..<rows.count).map { rows.id($0, 0) } }
      try connection.sync()
      return strays
    }

    func outlook() throws -> Outlook {
      var outlook = Outlook()
      connection.send(Self.changesSQL) { outlook.changes = $0.int(0, 0) }
      sendForDeadline { outlook.deadline = $0 }
      try connection.sync()
      return outlook
    }

    /// The first that is later than `now`.
    func nextDeadline(after now: Int64) throws -> Int64? {
      var next: Int64?
      sendForDeadline(after: now) { next = $0 }
      try connection.sync()
      return next
    }

    private func sendForDeadline(after time: Int64 = .min, _ read: @escaping (Int64?) -> Void) {
      connection.send(Self.nextDeadlineSQL, [.int(time)]) { rows in if rows.count > 0 { read(rows.int(0, 0)) } }
    }

    /// The oldest first, and by session the processes of those workers that reported theirs.
    func workers() throws -> ([Census.Worker], processes: [String: WorkerProcess]) {
      var workers: [Census.Worker] = []
      var processes: [String: WorkerProcess] = [:]
      connection.send(Self.workersSQL) { rows in
        workers = (0..<rows.count).map { row in
          Census.Worker(
            row: WorkerRow(
              id: rows.int(row, 0), worker: WorkerID(rows.text(row, 1) ?? ""), leaseUntil: rows.int(row, 3),
              kinds: names(rows.text(row, 4)), queues: names(rows.text(row, 5)),
              satisfied: Set(list: rows.text(row, 6)),
              absent: Set(list: rows.text(row, 7)), since: rows.int(row, 9)),
            session: rows.text(row, 2) ?? "", process: rows.int(row, 8))
        }
        for row in 0..<rows.count {
          guard let session = rows.text(row, 2), let machine = rows.text(row, 10) else { continue }
          processes[session] = WorkerProcess(number: rows.int(row, 8), start: rows.int(row, 11), machine: machine)
        }
      }
      try connection.sync()
      return (workers, processes)
    }

    func look(for pass: PruningPass) throws -> PruningPass {
      var pass = pass
      var kinds: [Int64: String] = [:]
      if pass.asksForKinds {
        connection.send("SELECT id,kind FROM §route") { rows in
          for row in 0..<rows.count { kinds[rows.int(row, 0)] = rows.text(row, 1) }
        }
      }
      connection.send(Self.finishedSQL, [.int(pass.cursor.id), .int(Int64(pass.rows))]) { rows in
        for row in 0..<rows.count where !pass.isFull {
          let kind = kinds[rows.int(row, 4)]
          pass.look(at: rows.int(row, 0), state: rows.int(row, 1), kind: kind, enteredAt: rows.int(row, 2)) {
            rows.text(row, 3).flatMap { (try? StoredTerms(text: $0))?.keyHold }
          }
        }
      }
      connection.send(Self.emptySQL, [.int(Int64(pass.limit))]) { rows in
        for row in 0..<rows.count { pass.look(at: BatchID(rawValue: rows.int(row, 0)), emptyAt: rows.int(row, 1)) }
      }
      try connection.sync()
      pass.end()
      return pass
    }
  }
#endif
