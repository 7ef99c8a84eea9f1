import Foundation

/// The rows of one transaction of a store: what every rule stands on.
///
/// One exchange is one round trip, whose parts are done in the order of ``LedgerRequest``: a read sees what was written
/// before it. A ledger says what it says about a set in as few statements as its database allows. It decides nothing, and
/// begins and ends nothing: the transaction is its owner's.
package protocol JobLedger: AnyObject {
  func exchange(_ request: LedgerRequest) throws -> LedgerReply
}

/// A verb of ``JobStore`` as a value, which alternates between asking for rows and deciding.
///
/// It does no I/O and reads no clock. It writes in its last exchange, the fast paths apart: so one that refuses has written
/// nothing, and after a deadlock or a lost connection a store may run it again from its start.
package protocol Verb {
  associatedtype Reply
  /// Takes what came of its last request, and says what it wants next; nil once all that it decided is saved.
  mutating func next(_ answer: LedgerReply) throws -> LedgerRequest?
  var reply: Reply { get }
}

extension JobLedger {
  package func run<V: Verb>(_ verb: consuming V) throws -> V.Reply {
    var answer = LedgerReply()
    while let request = try verb.next(answer) { answer = try exchange(request) }
    return verb.reply
  }
}

package struct LedgerRequest {
  /// All that was decided.
  package var save: Changes?
  /// A worker gives a sign of life: its rows that stand have this lease from now on, and are in the reply.
  package var renew: (worker: WorkerID, leaseUntil: Int64)?
  /// Fast path: of these, those that are known to be held with nothing asked of them. The reply has their indices, and what
  /// the worker holds beside them.
  package var hold: [ClaimToken]?
  /// Fast path: ends those with success that are held and were asked nothing. The reply has the indices of those that were.
  package var finish: [Finish] = []
  /// The batch that ``add`` come into. The reply has its id.
  package var batch: BatchMembership?
  /// New jobs. The ledger gives the ids, ascending.
  package var add: [NewRow] = []
  /// Adds to the numbers of batches. The reply has them as they are then.
  package var tally: [BatchID: BatchTally] = [:]
  /// This batch is done, and that job follows it.
  package var complete: (batch: BatchID, job: JobID?)?
  /// These batches go if they have no jobs.
  package var forget: [BatchID] = []
  /// Each that still has the lease that it was seen with loses it for good; if it moved since, the worker lives. The reply
  /// has those that lost it.
  package var dispossess: [WorkerRow] = []
  /// Makes due jobs ready, at most so many of a route.
  package var promote: Int?
  /// Takes ready jobs, those of them too that are due, under the newest row of its worker.
  package var take: ClaimRequest?
  package var load = Needs()
}

/// Rows that a rule wants to see. What it reads it may change, so a ledger with other writers locks it.
package struct Needs {
  package var jobs: [JobID] = []
  /// Their edges, with the rows of the children.
  package var childrenOf: [JobID] = []
  /// Their edges, with the states of the parents.
  package var parentsOf: [JobID] = []
  /// Seats, and the rows of so many of the lowest that wait for one.
  package var lanes: [String: Int] = [:]
  /// Of each unique key the newest job that has it, and the newest unfinished one.
  package var keys: [String] = []
  /// Of these keys all.
  package var allOwnersOf: Set<String> = []
  /// Of each ``JobTerms/key``: the newest unfinished job, else the newest that succeeded.
  package var named: [String] = []
  /// These are passed over in that, as they end in this transaction.
  package var namedBesides: [JobID] = []
  /// Who waits for somebody with such a key to come.
  package var waitersOf: [String] = []
  /// What runs under claims of these rows of workers, at most so many in all.
  package var heldBy: [Int64] = []
  package var heldLimit = Int.max
  package var batch: BatchID?
  /// So many jobs whose deadline has passed, the longest ago first.
  package var overdue = 0
  /// The rows of a worker of this process that stand, the newest last.
  package var worker: WorkerID?
  /// Those queues of a claim that are limited, if it has room for them.
  package var limitsOf: [String: Int] = [:]

  package var isEmpty: Bool {
    jobs.isEmpty && childrenOf.isEmpty && parentsOf.isEmpty && lanes.isEmpty && keys.isEmpty && named.isEmpty
      && waitersOf.isEmpty && heldBy.isEmpty
      && overdue == 0 && batch == nil && worker == nil
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
  /// By ``Needs/heldBy``, as they were asked for; their rows are in ``jobs``.
  package var held: [JobID] = []
  /// By ``Needs/overdue``, their rows in ``jobs``; or jobs that ``LedgerRequest/take`` passed over, as their deadline has passed.
  package var overdue: [JobID] = []
  package var workers: [WorkerRow] = []
  package var limits: [QueueLimit] = []
  package var certain: [Int] = []
  /// Held by the worker that renews, and not on its list.
  package var unlisted: [JobID] = []
  package var finished: [Int] = []
  package var added: [JobID] = []
  package var batch: BatchID?
  /// By ``LedgerRequest/tally``, or ``Needs/batch``.
  package var batches: [BatchRow] = []
  package var dispossessed: [Int64] = []
  package var hasMoreDue = false
  package var taken = ClaimBatch()

  package init() {}
}

/// An attempt that ended with success, and with no news of its progress.
package struct Finish {
  package let index: Int
  package let token: ClaimToken
  package let output: Data?
}

/// A job to be stored.
package struct NewRow {
  /// Its deadline is a date.
  package var job: NewJob
  package var course: JobCourse
  package var edges: [NewEdge] = []
  package var seat: Bool?
  package var waits = 0
  package var hasChildren = false
}

/// A lane as a transaction sees it.
package struct LaneRow: Sendable {
  package var width: Int
  package var taken: Int
  /// The lowest that wait, as many as were asked for.
  package var waiting: [JobID]
  package var pace: LanePace?

  package init(width: Int, taken: Int, waiting: [JobID], pace: LanePace?) {
    (self.width, self.taken, self.waiting, self.pace) = (width, taken, waiting, pace)
  }
}

/// An edge of a job that has no id yet.
package struct NewEdge: Hashable {
  /// The oldest first.
  package enum Parent: Hashable, Comparable {
    case known(JobID)
    /// By its place in ``LedgerRequest/add``, which is before the child's.
    case added(Int)
    /// The first that comes with this ``JobTerms/key``. Every job that is added is bound to those that wait for its key.
    case key(String)
  }

  package let parent: Parent
  package let condition: JobEdge.Condition
  package var slot: Int?

  var known: JobID? { if case .known(let id) = parent { id } else { nil } }
}

/// What a verb decided. What follows from a pair of rows is not in it: counts, transitions, the rows beside a job.
package struct Changes {
  /// In the order in which they were decided.
  package var jobs: [RowChange] = []
  package var removed: [JobRow] = []
  /// Of those that were removed: they are kept, and never met.
  package var neverMet: [Edge] = []
  /// Rows of workers, to be made or to be written.
  package var workers: [WorkerRow] = []
  package var goneWorkers: [Int64] = []
  /// Workers of whose jobs something was asked.
  package var asked: Set<Int64> = []
  /// ``QueueLimit/tat`` of queues.
  package var tats: [String: Int64] = [:]
  /// Of lanes; nil for none any more.
  package var paces: [String: LanePace?] = [:]

  package var isEmpty: Bool {
    jobs.isEmpty && removed.isEmpty && workers.isEmpty && goneWorkers.isEmpty && paces.isEmpty
  }
}
