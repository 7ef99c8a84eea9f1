/// A request for one round of maintenance.
public struct RecoveryRequest: Sendable {
  /// The requesting worker, whose own claims are left alone.
  public var worker: WorkerID?
  /// The worker is leaving and claims no more. Jobs that it still holds become ready again, as interrupted.
  public var isRetiring: Bool
  /// The most jobs of each sort to handle in this round.
  public var limit: Int

  public init(worker: WorkerID? = nil, isRetiring: Bool = false, limit: Int = 1000) {
    (self.worker, self.isRetiring, self.limit) = (worker, isRetiring, limit)
  }
}

public struct RecoveryReport: Hashable, Sendable {
  /// How many jobs were taken from dead workers.
  public var recovered: Int
  /// How many jobs were past their deadline: they failed, or were asked to stop.
  public var overdue: Int
  /// How many finished jobs were deleted.
  public var pruned: Int
  /// Jobs whose rows are damaged. Each was suspended with the reason, or left alone if its row can't be written.
  public var unreadable: [JobID]
  /// There is more to do than `limit`: ask again at once.
  public var hasMore: Bool
  /// Jobs to be deleted that were left alone, since somebody had them, or what needed them, locked.
  package var passedOver: [JobID] = []
  /// Ask again after this time: a worker in doubt was asked to renew, or the next deadline passes.
  public var comeAgain: Duration?

  public init(
    recovered: Int = 0, overdue: Int = 0, pruned: Int = 0, unreadable: [JobID] = [], hasMore: Bool = false,
    comeAgain: Duration? = nil
  ) {
    (self.recovered, self.overdue, self.pruned, self.unreadable) = (recovered, overdue, pruned, unreadable)
    (self.hasMore, self.comeAgain) = (hasMore, comeAgain)
  }
}
