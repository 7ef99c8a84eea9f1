import Foundation

/// All data of an ``InMemoryStore``: the rows of its ledger. Its parts are in the files beside this one.
final class JobTable {
  /// A job: its terms, its course, and what remains of its attempts.
  struct Record: Codable {
    let id: JobID
    var job: NewJob
    let createdAt: Int64
    var course: JobCourse
    var enteredAt: Int64
    var startedAt: Date?
    var claim = ClaimNumber.nobody
    var progress: JobProgress?
    var highestFraction = 0.0
    var output: Data?
    var failures: [AttemptFailure] = []
    var steps: [String: Data] = [:]
    var isTimed = false
    var batch: BatchID?
    var waits = 0
    var seat: Bool?
    var hasChildren = false

    /// When its wait was set, by the clock of then.
    var waitSetAt: Int64? { course.state == .scheduled && !course.isDated ? enteredAt : nil }

    mutating func rebase(by setBack: Int64, at now: Int64) {
      if enteredAt > now, waitSetAt != nil { enteredAt -= setBack }
      course.rebase(by: setBack)
    }

    var unique: KeyHold? { job.terms.unique.map { KeyHold($0, storedAt: createdAt) } }
    /// There is one number for all: each job is looked at anyway.
    var route: Route { Route(id: 0, queue: job.queue, kind: job.kind, requires: job.terms.requires, isPaused: false) }
  }

  struct Batch: Codable, Equatable {
    var snapshot: BatchSnapshot
    let whenDone: NewJob?
    /// Jobs of the batch that exist.
    var jobs: Int64 = 0
    /// When it was done, if it had no jobs then.
    var emptyAt: Int64?
  }

  /// What belongs to no single job, and outlives the process with a ``SnapshotProvider``.
  struct Kept: Codable, Equatable {
    var lastJob: Int64 = 0
    /// Chosen so that no claim is ``ClaimNumber/nobody``.
    var lastWorker: Int64 = ClaimNumber.nobody.worker
    var pausedQueues: Set<String> = []
    var limits: [String: JobLimits] = [:]
    /// ``QueueLimit/tat`` of queues that have or had a rate.
    var tats: [String: Int64] = [:]
    var laneWidths: [String: Int] = [:]
    var lanePaces: [String: LanePace] = [:]
    var setByHand: [JobConstraint: Bool] = [:]
    var batches: [BatchID: Batch] = [:]
    var lastBatch: Int64 = 0
  }

  let policy: StorePolicy
  var kept = Kept()
  /// By id, ascending.
  var records: [Record] = []
  /// By row, ascending.
  var workers: [WorkerRow] = []
  var childrenOf: [JobID: [Edge]] = [:]
  var parentsOf: [JobID: [Edge]] = [:]
  /// By key: edges that wait for a job that brings it.
  var keyEdges: [String: [Edge]] = [:]
  var doubts = Doubts()
  /// The time of the current transaction.
  private(set) var now: Int64 = 0
  var seen = SeenTime(latest: 0)
  var news = LedgerNews(isHeard: true)
  /// Jobs that may have changed in more than ``news`` tells.
  var touched: Set<JobID> = []

  init(policy: StorePolicy) { self.policy = policy }

  /// A copy of a table: changes to one are not seen in the other.
  init(_ other: JobTable) {
    (policy, kept, records, workers) = (other.policy, other.kept, other.records, other.workers)
    (childrenOf, parentsOf, keyEdges) = (other.childrenOf, other.parentsOf, other.keyEdges)
    (doubts, seen) = (other.doubts, other.seen)
  }

  func index(of id: JobID) -> Int? {
    var range = records.indices
    while let middle = range.isEmpty ? nil : range.lowerBound + range.count / 2 {
      if records[middle].id == id { return middle }
      range = records[middle].id < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }

  func begin(at now: Int64, uptime: Duration) {
    self.now = now
    news = LedgerNews(isHeard: true)
    touched = []
    let setBack = seen.setBack(at: now, uptime)
    if setBack > 0 {
      for index in records.indices { records[index].rebase(by: setBack, at: now) }
      for lane in kept.lanePaces.keys { kept.lanePaces[lane]?.rebase(by: setBack) }
      news.tell(.work)
      touched = Set(records.map(\.id))
    }
    seen.saw(now, uptime)
  }
}
