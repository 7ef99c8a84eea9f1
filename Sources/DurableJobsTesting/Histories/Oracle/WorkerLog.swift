import DurableJobs
import Foundation

/// A worker from its first claim until it says good-bye or is given up. One that comes back is another.
struct WorkerLog {
  let id: WorkerID
  var leaseUntil: Date
  /// Of its last claim.
  var kinds: Set<String>
  var queues: Set<String>
  var satisfied: Set<JobConstraint>
  /// When its lease was found lapsed since it last gave a sign of life, by a clock that never steps.
  var doubts: [Duration] = []
  var isOver = false

  init(_ request: ClaimRequest, at now: Date) {
    id = request.worker
    leaseUntil = now.later(by: request.lease.milliseconds)
    kinds = request.kinds
    queues = request.queues
    satisfied = request.satisfied
  }

  var reach: WorkerReach { WorkerReach(kinds: kinds, satisfied: satisfied) }

  func isLiving(at now: Date) -> Bool { !isOver && leaseUntil > now }
}
