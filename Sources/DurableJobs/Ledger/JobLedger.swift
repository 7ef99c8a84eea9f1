import Foundation

/// The rows of one transaction of a store: the basis of every rule.
///
/// One exchange is one round trip, and its parts are done in the order of ``LedgerRequest``: a read sees what was
/// written before it. A ledger handles a set in as few statements as its database allows. It decides nothing, and
/// neither begins nor ends a transaction: that belongs to its owner.
///
/// The verbs of ``JobStore`` are functions of a ledger, in the files beside this one: they request rows, decide, and
/// have them saved. Except in the fast paths, a verb writes only in its last exchange: one that refuses has written
/// nothing, and after a deadlock or a lost connection a store may run it again from the start.
package protocol JobLedger: AnyObject {
  /// The store's time, the same for the whole transaction, in milliseconds since 1970.
  var now: Int64 { get }
  var policy: StorePolicy { get }
  var news: LedgerNews { get set }

  func exchange(_ request: LedgerRequest) throws -> LedgerReply

  /// Fast path: an exchange that asks for no more than ``LedgerRequest/add``.
  func add(_ new: [NewRow]) throws -> [JobID]
}

package struct LedgerRequest {
  package var save: Changes?
  /// A worker gives a sign of life: those of its rows that stand get this lease, and are in the reply.
  package var renew: (worker: WorkerID, leaseUntil: Int64)?
  /// Fast path: which of these are held, with nothing asked. The reply has their indices, and what else is held.
  package var hold: [ClaimToken]?
  /// Fast path: ends with success those that are held and were asked nothing. The reply has their indices.
  package var finish: [Finish] = []
  /// The batch that the jobs of ``add`` enter. The reply has its id.
  package var batch: BatchMembership?
  /// New jobs. The ledger assigns the ids, ascending.
  package var add: [NewRow] = []
  /// Adds to the counts of batches. The reply has the resulting counts.
  package var tally: [BatchID: BatchTally] = [:]
  /// This batch is done, and that job follows it.
  package var complete: (batch: BatchID, job: JobID?)?
  /// Deletes those of these batches that have no jobs.
  package var forget: [BatchID] = []
  /// Rows whose lease is as it was read lose it for good, and are in the reply; of others, the worker lives.
  package var dispossess: [WorkerRow] = []
  /// Makes due jobs ready, at most this many of a route.
  package var promote: Int?
  /// Takes ready jobs, including due ones, under the newest row of the worker.
  package var take: ClaimRequest?
  package var load = Needs()
}

/// Rows that a rule wants to see. It may change what it reads, so a ledger with other writers locks it.
package struct Needs {
  package var jobs: [JobID] = []
  /// Their edges, with the rows of the children.
  package var childrenOf: [JobID] = []
  /// Their edges, with the states of the parents.
  package var parentsOf: [JobID] = []
  /// Seats, and the rows of this many of the lowest that wait for one.
  package var lanes: [String: Int] = [:]
  /// For each unique key, the newest job that has it, and the newest unfinished one.
  package var keys: [String] = []
  /// All unfinished jobs that have these keys, and the newest of the others.
  package var allOwnersOf: Set<String> = []
  /// For each ``JobTerms/key``: the newest unfinished job, else the newest that succeeded.
  package var named: [String] = []
  /// These are ignored there, because they end in this transaction.
  package var namedBesides: [JobID] = []
  /// The jobs that wait for one with such a key.
  package var waitersOf: [String] = []
  /// What runs under claims of these rows of workers, at most ``heldLimit`` jobs.
  package var heldBy: [Int64] = []
  package var heldLimit = Int.max
  /// Jobs, children and what is held are passed over if others keep them locked.
  package var passesOverLocked = false
  package var batch: BatchID?
  /// This many jobs whose deadline has passed, the longest ago first.
  package var overdue = 0
  /// The standing rows of a worker of this process, newest last.
  package var worker: WorkerID?
  /// The limited queues of a claim, if it has room for them.
  package var limitsOf: [String: Int] = [:]

  package var isEmpty: Bool {
    jobs.isEmpty && childrenOf.isEmpty && parentsOf.isEmpty && lanes.isEmpty && keys.isEmpty && named.isEmpty
      && waitersOf.isEmpty && heldBy.isEmpty && overdue == 0 && batch == nil && worker == nil
  }
}

package struct LedgerReply {
  package var jobs: [JobRow] = []
  package var children: [Edge] = []
  package var parents: [Edge] = []
  package var lanes: [String: LaneRow] = [:]
  /// Ascending.
  package var owners: [String: [JobID]] = [:]
  /// Their rows are in ``jobs``.
  package var named: [String: JobID] = [:]
  package var waiters: [String: [JobID]] = [:]
  /// By ``Needs/heldBy``; their rows are in ``jobs``.
  package var held: [JobID] = []
  /// Those of ``Needs/heldBy`` under which more runs.
  package var unread: Set<Int64> = []
  /// Those of ``Needs/jobs`` that were passed over, and of ``Needs/childrenOf`` that have a child which was.
  package var passedOver: Set<JobID> = []
  /// By ``Needs/overdue``, with rows in ``jobs``; or jobs that ``LedgerRequest/take`` passed over, past their deadline.
  package var overdue: [JobID] = []
  package var workers: [WorkerRow] = []
  package var limits: [QueueLimit] = []
  package var certain: [Int] = []
  /// Held by the worker that renews, but not on its list.
  package var unlisted: [JobID] = []
  package var finished: [Int] = []
  package var added: [JobID] = []
  package var batch: BatchID?
  /// From ``LedgerRequest/tally`` or ``Needs/batch``.
  package var batches: [BatchRow] = []
  package var dispossessed: [Int64] = []
  package var hasMoreDue = false
  package var taken = ClaimBatch()

  package init() {}
}

/// An attempt that ended with success, without new progress.
package struct Finish {
  package let index: Int
  package let token: ClaimToken
  package let output: Data?
}

/// A job to be added. Not a struct, since copies of jobs are dear; and only one function at a time has it.
package final class NewRow {
  /// Its deadline is a date.
  package let job: NewJob
  @exclusivity(unchecked) package var course: JobCourse
  @exclusivity(unchecked) package var edges: [NewEdge] = []
  @exclusivity(unchecked) package var seat: Bool?
  @exclusivity(unchecked) package var waits = 0
  @exclusivity(unchecked) package var hasChildren = false

  init(_ job: consuming NewJob, at now: Date) {
    if let deadline = job.terms.deadline { job.terms.deadline = deadline.dated(at: now) }
    course = JobCourse(inserting: job.terms, now: now)
    self.job = job
  }

  /// Its deadline, unless it has already ended, and the links that it begins with.
  package func links(_ unique: KeyHold?) -> (deadline: Int64?, links: Links) {
    let deadline = course.state.isFinished ? nil : job.terms.deadline?.date.milliseconds
    var links = Links(
      course, unique: unique, isInLane: job.terms.lane != nil, seat: seat, hasParents: !edges.isEmpty,
      hasChildren: hasChildren)
    if deadline != nil { links.insert(.deadline) }
    return (deadline, links)
  }
}

package struct LaneRow: Sendable {
  package var width: Int
  package var taken: Int
  /// The lowest that wait, as many as were requested.
  package var waiting: [JobID]
  package var pace: LanePace?

  package init(width: Int, taken: Int, waiting: [JobID], pace: LanePace?) {
    (self.width, self.taken, self.waiting, self.pace) = (width, taken, waiting, pace)
  }
}

/// An edge of a job that has no id yet.
package struct NewEdge: Hashable {
  /// Ordered from the oldest.
  package enum Parent: Hashable, Comparable {
    case known(JobID)
    /// By its index in ``LedgerRequest/add``, which is before the child's.
    case added(Int)
    /// The first job that arrives with this ``JobTerms/key``. Each added job is bound to those that wait for its key.
    case key(String)
  }

  package let parent: Parent
  package let condition: JobEdge.Condition
  package var slot: Int?
}

/// What a verb decided. It leaves out what follows from a pair of rows: counts, transitions, the rows beside a job.
package struct Changes {
  /// In the order of the decisions.
  package var jobs: [RowChange] = []
  package var removed: [JobRow] = []
  /// Edges of removed jobs: they are kept, and will never be met.
  package var neverMet: [Edge] = []
  /// Rows of workers, to be created or updated.
  package var workers: [WorkerRow] = []
  package var goneWorkers: [Int64] = []
  /// ``QueueLimit/tat``, by queue.
  package var tats: [String: Int64] = [:]
  /// By lane; nil removes it.
  package var paces: [String: LanePace?] = [:]

  package var isEmpty: Bool {
    jobs.isEmpty && removed.isEmpty && workers.isEmpty && goneWorkers.isEmpty && paces.isEmpty
  }
}
