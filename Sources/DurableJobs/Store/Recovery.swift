/// Somebody looks after what time demands.
public struct RecoveryRequest: Sendable {
  /// Who asks. Its own claims are left alone.
  public var worker: WorkerID?
  /// The worker says good-bye: it claims no more. Jobs that it still holds go back as interrupted.
  public var isRetiring: Bool
  /// At most so many jobs of each sort in this bite.
  public var limit: Int

  public init(worker: WorkerID? = nil, isRetiring: Bool = false, limit: Int = 1000) {
    self.worker = worker
    self.isRetiring = isRetiring
    self.limit = limit
  }
}

public struct RecoveryReport: Hashable, Sendable {
  /// Jobs taken from dead workers.
  public var recovered: Int
  /// Jobs whose deadline has passed: they failed, or were asked to stop.
  public var overdue: Int
  /// Finished jobs deleted.
  public var pruned: Int
  /// Jobs whose rows are damaged. Each was suspended with the reason; or left alone, if its row can't be written.
  public var unreadable: [JobID]
  /// More was found than `limit`: come again at once.
  public var hasMore: Bool
  /// Come again after this: a worker in doubt was asked for a sign of life, or the next deadline passes.
  public var comeAgain: Duration?

  public init(
    recovered: Int = 0, overdue: Int = 0, pruned: Int = 0, unreadable: [JobID] = [], hasMore: Bool = false,
    comeAgain: Duration? = nil
  ) {
    self.recovered = recovered
    self.overdue = overdue
    self.pruned = pruned
    self.unreadable = unreadable
    self.hasMore = hasMore
    self.comeAgain = comeAgain
  }
}
