import DurableJobs

/// What the writer remembers from one transaction to the next. Used on the writer's thread alone; nothing of it is
/// needed to be right, only to be fast, except the numbers of this process's own workers.
final class WriterMemory {
  /// A row of a worker of this process.
  struct OwnWorker {
    var row: WorkerRow
    /// `asked` when all held claims were last looked at.
    var asked: Int64 = 0
  }

  /// A claim of this process, as long as it has not been settled.
  struct Held {
    let claim: ClaimNumber
    let route: Int64
    /// Its unique key.
    let unique: KeyHold?
    /// Its deadline, if that is still to come.
    let deadline: Int64?
    let batch: BatchID?
    /// It was ``Links/slow`` when it was claimed.
    let isSlow: Bool
    /// Something was asked of it, or it was lost: its row must be looked at.
    var isDoubtful = false
  }

  let routes = RouteCache()
  /// `durable_meta.epoch` when it was last read: how often the clock was set back.
  var epoch: Int64
  /// The newest row last.
  var workers: [WorkerID: [OwnWorker]] = [:]
  var held: [JobID: Held] = [:]
  /// Damaged jobs that could not even be set aside.
  var untouchable: Set<JobID> = []
  /// Terms are often the same text for many jobs in a row.
  var lastTerms: (text: String, terms: StoredTerms)?

  init(epoch: Int64) { self.epoch = epoch }

  /// For a transaction that is not to change it.
  init(copying other: WriterMemory) {
    (epoch, workers, held, untouchable) = (other.epoch, other.workers, other.held, other.untouchable)
  }
}
