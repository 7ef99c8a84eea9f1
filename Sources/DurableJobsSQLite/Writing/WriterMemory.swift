import DurableJobs

/// What the writer remembers between transactions. Only used on the writer's thread. Except for the numbers of this
/// process's own workers, it only serves speed and not correctness.
final class WriterMemory {
  /// A claim of this process that has not been settled.
  struct Held {
    let claim: ClaimNumber
    let route: Int64
    let unique: KeyHold?
    /// The job's deadline, if that is in the future.
    let deadline: Int64?
    let batch: BatchID?
    /// Whether the job was ``Links/slow`` when it was claimed.
    let isSlow: Bool
    /// It may wait again while it runs, if what it needed is retried.
    let hasParents: Bool
  }

  let routes = RouteCache()
  /// The last value read of `durable_meta.epoch`: how often the clock was set back.
  @exclusivity(unchecked) var epoch: Int64
  /// The time that the file is known to tell of.
  @exclusivity(unchecked) var notedAt: Int64
  /// Rows by worker, newest last.
  @exclusivity(unchecked) var workers: [WorkerID: [WorkerRow]] = [:]
  @exclusivity(unchecked) var held: [JobID: Held] = [:]
  /// Damaged jobs that could not even be suspended.
  @exclusivity(unchecked) var untouchable: Set<JobID> = []
  /// The last terms decoded, since consecutive jobs often have the same text.
  @exclusivity(unchecked) var lastTerms: (text: String, terms: StoredTerms)?

  init(epoch: Int64, notedAt: Int64) { (self.epoch, self.notedAt) = (epoch, notedAt) }

  /// A copy for a transaction that must not change the original.
  init(copying other: WriterMemory) {
    (epoch, notedAt) = (other.epoch, other.notedAt)
    (workers, held, untouchable) = (other.workers, other.held, other.untouchable)
  }
}
