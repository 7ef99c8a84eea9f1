import Foundation

/// Who works on a store, and what is due: one cheap read, which decides whether there is anything to write.
package struct Census: Sendable {
  package struct Worker: Sendable {
    package let row: WorkerRow
    package let session: String
    package let process: Int64

    package init(row: WorkerRow, session: String, process: Int64) {
      (self.row, self.session, self.process) = (row, session, process)
    }
  }

  /// The oldest first.
  package var workers: [Worker] = []
  /// Workers that hold jobs. Looked up only if a lease has expired.
  package var running: Set<Int64> = []
  /// A scheduled job's time has come.
  package var hasDue = false
  /// It may have passed.
  package var nextDeadline: Int64?

  package init() {}
}

extension StoredWorker {
  /// A single entry for all rows of a worker: it has more than one if claim numbers of a row were used up. `claims`:
  /// the running jobs, by the rows of their workers. `isDead`: whether a session is known to have ended.
  package static func all(
    of rows: [Census.Worker], running claims: [Int64: Set<JobID>], at now: Int64, isDead: (String) -> Bool
  ) -> [StoredWorker] {
    var names: [[String]] = []
    var workers: [StoredWorker] = []
    for known in rows {
      let row = known.row
      let isOver = !row.stands || isDead(known.session)
      var worker = StoredWorker(
        process: known.process, since: Date(milliseconds: row.since), queues: row.queues, kinds: row.kinds,
        satisfied: row.satisfied, absent: row.absent, jobs: claims[row.id ?? 0] ?? [],
        standing: isOver ? .dead : row.isAlive(at: now) ? .alive : .silent)
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
