/// How a transaction changed the counts of a batch.
package struct BatchTally: Sendable {
  package var total: Int64 = 0
  package var live: Int64 = 0
  package var succeeded: Int64 = 0
  /// The batch's jobs that exist.
  package var jobs: Int64 = 0

  /// A job of the batch entered a state, or left one because it was removed.
  mutating func move(from old: JobState?, to new: JobState?) {
    func live(_ state: JobState?) -> Int64 { state.map { $0.isFinished ? 0 : 1 } ?? 0 }
    self.live += live(new) - live(old)
    if old == nil { (total, jobs) = (total + 1, jobs + 1) }
    if new == nil { jobs -= 1 } else { succeeded += (new == .succeeded ? 1 : 0) - (old == .succeeded ? 1 : 0) }
  }
}

package struct BatchRow: Sendable {
  package let id: BatchID
  package let live: Int64
  package let isDone: Bool
  package let isOpen: Bool
  package let whenDone: NewJob?

  /// Whether it is deleted with the last of its jobs: not while it is open, or has yet to be completed.
  package var goesWithItsJobs: Bool { isDone || !isOpen && whenDone == nil }

  package init(id: BatchID, live: Int64, isDone: Bool, isOpen: Bool, whenDone: NewJob?) {
    (self.id, self.live, self.isDone, self.isOpen, self.whenDone) = (id, live, isDone, isOpen, whenDone)
  }
}

extension JobLedger {
  /// Applies the transaction's changes to the counts of batches, and stores the jobs that follow the batches that are now
  /// done. Such a job may affect others.
  package func settleBatches() throws {
    while case let tallies = news.takeBatches(), !tallies.isEmpty {
      let batches = try exchange(LedgerRequest(tally: tallies)).batches.sorted { $0.id.rawValue < $1.id.rawValue }
      for batch in batches where batch.live <= 0 && !batch.isDone && !batch.isOpen {
        var follower = batch.whenDone
        follower?.terms.follows = batch.id
        var job = try follower.map { try insert(JobInsertion([$0])).jobs[0] }
        // Each batch is followed by a job of its own, whoever has its unique key.
        if job?.disposition == .kept {
          follower?.terms.unique = nil
          job = try follower.map { try insert(JobInsertion([$0])).jobs[0] }
        }
        _ = try exchange(LedgerRequest(complete: (batch.id, job?.id)))
      }
    }
  }
}
