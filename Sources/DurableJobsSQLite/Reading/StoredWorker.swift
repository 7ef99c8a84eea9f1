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
  /// The jobs that run under its claims.
  package var jobs: Set<JobID>
  package var standing: Standing
}

extension SQLiteStore {
  /// Who works on this file, the oldest first. Nothing is changed by looking: who is found dead is left to ``recover(_:)``.
  package func workers() async throws -> [StoredWorker] {
    let now = engine.time.now
    return try await engine.read { try KnownWorker.readAll(on: $0) }.map { row in
      var worker = row.worker
      worker.standing = WorkerRow.isAlive(until: row.leaseUntil, at: now) ? .alive : .silent
      if row.leaseUntil == WorkerRow.taken { worker.standing = .dead }
      if case .dead = engine.folder.standing(of: row.session) { worker.standing = .dead }
      return worker
    }
  }
}

/// The rows of one worker, which has more than one when its claims were counted through.
struct KnownWorker {
  static let workersSQL =
    "SELECT id,session,name,lease_until,pid,started_at,queues,kinds FROM durable_worker ORDER BY id"
  static let claimsSQL = """
    SELECT id,claim FROM durable_job WHERE id IN(
      SELECT id FROM durable_job INDEXED BY durable_job_line WHERE route=?1 AND state=5 AND state<>7)
    """

  var worker: StoredWorker
  let session: String
  let name: String
  var leaseUntil: Int64

  static func readAll(on connection: OpaquePointer) throws -> [KnownWorker] {
    let claims = try claims(on: connection)
    let rows = try Statement(workersSQL, on: connection)
    var all: [KnownWorker] = []
    while try rows.step() {
      let (session, name) = (rows.text(1) ?? "", rows.text(2) ?? "")
      var row = KnownWorker(
        worker: StoredWorker(
          process: rows.int(4), since: Date(milliseconds: rows.int(5)), queues: names(rows.text(6)),
          kinds: names(rows.text(7)), jobs: claims[rows.int(0)] ?? [], standing: .silent),
        session: session, name: name, leaseUntil: rows.int(3))
      if let index = all.firstIndex(where: { $0.session == session && $0.name == name }) {
        row.worker.since = all[index].worker.since
        row.worker.jobs.formUnion(all[index].worker.jobs)
        all[index] = row
      } else {
        all.append(row)
      }
    }
    return all
  }

  /// The running jobs, by the rows of their workers.
  private static func claims(on connection: OpaquePointer) throws -> [Int64: Set<JobID>] {
    let routes = try Statement(Census.routesSQL, on: connection)
    let running = try Statement(claimsSQL, on: connection)
    var claims: [Int64: Set<JobID>] = [:]
    while try routes.step() {
      running.bind(1, routes.int(0))
      while try running.step() {
        claims[ClaimNumber(rawValue: running.int(1)).worker, default: []].insert(JobID(rawValue: running.int(0)))
      }
    }
    return claims
  }
}
