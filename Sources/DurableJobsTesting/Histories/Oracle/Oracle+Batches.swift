import DurableJobs
import Foundation

/// Jobs that are counted together.
struct BatchLog {
  let name: String
  let whenDone: NewJob?
  /// More may come, or none.
  var isOpen = false
  /// Jobs that came into it.
  var total = 0
  /// Those that were deleted.
  var succeededAndGone = 0
  var isDone = false
  /// When it was done, if it had no jobs then.
  var emptyAt: Date?
  /// The last of its jobs was deleted.
  var isGone = false
  var follower: JobID?
}

extension Oracle {
  func batch(_ id: BatchID) -> BatchSnapshot? {
    guard let batch = batches[id] else { return nil }
    let members = jobs.filter { $0.batch == id }.map { state($0) }
    return BatchSnapshot(
      id: id, name: batch.name, total: batch.total, unfinished: members.count { !$0.isFinished },
      succeeded: members.count { $0 == .succeeded } + batch.succeededAndGone,
      isDone: batch.isDone && !(wrong == .retryOpensBatch && members.contains { !$0.isFinished }),
      isOpen: batch.isOpen, whenDone: batch.follower)
  }

  func batch(named name: String) -> BatchSnapshot? {
    batches.filter { $0.value.name == name }.keys.max { $0.rawValue < $1.rawValue }.flatMap { batch($0) }
  }

  /// Why no store takes these jobs.
  func refusal(of new: [NewJob], in batch: BatchMembership?) -> JobError.Code? {
    switch batch {
    case .join(let id), .close(let id):
      guard let batch = batches[id] else { return .notFound }
      if batch.isDone, !new.isEmpty { return .wrongState }
    default: break
    }
    guard wrong != .circleIsStored, new.contains(where: { $0.terms.key != nil }) else { return nil }
    var copy = self
    let last = jobs.last?.id.rawValue ?? 0
    var ids = (1...Int64(new.count)).map { JobID(rawValue: last + $0) }[...]
    _ = copy.insert(new, &ids)
    return copy.hasCircle || copy.isBehindItsDependents(since: JobID(rawValue: last + 1)) ? .invalidArgument : nil
  }

  /// A transaction is over: what follows those batches is stored of which all jobs have ended.
  mutating func settleBatches() throws {
    let done = batches.filter { id, batch in
      !batch.isDone && (!batch.isOpen || wrong == .openBatchIsDone)
        && !jobs.contains { $0.batch == id && !hasEndedForBatch($0) }
    }
    for id in done.keys {
      batches[id]?.isDone = true
      batches[id]?.emptyAt = jobs.contains { $0.batch == id } ? nil : now
    }
    let following = try done.compactMap { id, batch in
      try batch.whenDone.map { (try present(followers[$0.payload], "a job that follows the batch \(id)"), id, $0) }
    }
    for (follower, id, job) in following.sorted(by: { $0.0 < $1.0 }) {
      batches[id]?.follower = follower
      var ids = [follower][...]
      _ = insert([job], &ids)
    }
    for id in batches.filter({ $0.value.isGone }).keys { batches[id] = nil }
  }

  private func hasEndedForBatch(_ job: JobLog) -> Bool {
    let state = state(job)
    return wrong == .failureKeepsBatchOpen ? state == .succeeded || state == .cancelled : state.isFinished
  }
}
