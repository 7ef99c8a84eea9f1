import DurableJobs
import Foundation

/// What people do, and what they ask.
extension Oracle {
  /// What a change comes to.
  enum Effect {
    case happens(JobLog.Event)
    /// All is so already.
    case nothing
    case removal
    /// Refused, for a reason in which this is named.
    case refusal(String)
  }

  /// A job that refuses a change, and what the refusal names.
  typealias Refusal = (job: JobID, name: String)

  func effect(of change: JobChange, on job: JobLog, _ going: Set<JobID>) -> Effect {
    let state = state(job)
    let (isRunning, asked) = (state == .running, job.asked?.stop)
    let refusal = Effect.refusal("\(state)")
    switch change {
    case .retry where state == .failed || state == .cancelled:
      if wrong != .retryTakesKey, let owner = rival(of: job) { return .refusal("job \(owner)") }
      if let need = brokenNeed(of: job) { return .refusal("job \(need.parent)") }
      return .happens(.startedAnew)
    case .retry where state == .skipped && brokenNeed(of: job) == nil && rival(of: job) == nil:
      return .happens(.reopened)
    case .retry where state == .suspended || state == .scheduled: return .happens(.hurried)
    case .retry: return state == .ready ? .nothing : refusal

    case .cancel where state == .cancelled: return .nothing
    // From now on its handler is not who holds it.
    case .suspend(let reason) where state == .suspended && job.holder == .handler && wrong != .handlersHoldStays:
      return .happens(.held(reason: reason ?? job.reason))
    case .suspend where state == .suspended: return .nothing
    case .complete where state == .succeeded: return .nothing
    case .fail where state == .failed: return .nothing
    case .cancel where state.isFinished, .suspend where state.isFinished, .complete where state.isFinished,
      .fail where state.isFinished, .progress where state.isFinished:
      return refusal

    case .cancel(let reason):
      return .happens(isRunning ? .asked(.cancelled, reason: reason) : .cancelled(reason: reason))
    case .suspend(let reason):
      if isRunning, asked == .cancelled, wrong != .suspensionBeatsCancel { return .refusal("cancel") }
      if isRunning, asked == .overdue { return .refusal("given up") }
      return .happens(isRunning ? .asked(.suspended, reason: reason) : .held(reason: reason))
    case .resume where state == .suspended: return .happens(.released)
    case .resume: return isRunning && asked == .suspended ? .happens(.asked(nil, reason: nil)) : refusal
    case .setPriority where state.isFinished, .setStart where state.isFinished: return refusal
    case .setPriority(let priority): return .happens(.prioritized(priority))
    case .setStart(let time):
      if isRunning || state == .suspended { return refusal }
      if !job.hasBegunInTime, let deadline = job.openDeadline, time.promise(at: now).date ?? now >= deadline {
        return .refusal("deadline")
      }
      return .happens(.rescheduled(time))
    case .complete(let output): return .happens(.completed(output: output))
    case .fail(let message, _): return .happens(.givenUp(message: message))
    case .progress(let progress): return .happens(.progressed(progress))
    case .remove:
      if !isRunning, wrong != .neededIsRemoved, let child = needer(of: job.id, except: going) {
        return .refusal("job \(child)")
      }
      return isRunning ? refusal : .removal
    case .wake(let window):
      guard state == .scheduled, job.isBackOff, let date = job.due.date else { return .refusal("back-off") }
      let isSoon = date <= now.later(by: Int64(window / .milliseconds(1)))
      return isSoon ? .nothing : .happens(.woken(within: window))
    case .replacePayload(let new): return isRunning || state.isFinished ? refusal : .happens(.rewritten(new))
    case .reset where isRunning && asked == .overdue: return .refusal("given up")
    case .reset where isRunning && asked == .cancelled: return .happens(.reported(.interrupted))
    case .reset: return isRunning || state == .suspended ? .happens(.reset) : refusal
    }
  }

  /// Changes all jobs of the filter, the lowest ids first, each bite of them at once. Returns those that it holds for, and what the others' refusals
  /// name.
  mutating func change(
    _ change: JobChange, _ filter: JobFilter, limit: Int
  ) throws -> (changed: [JobID], refused: [Refusal]) {
    var all: (changed: [JobID], refused: [Refusal]) = ([], [])
    var after: JobID?
    while true {
      let matching = jobs.filter { isOne($0, of: filter) && $0.id > after ?? JobID(rawValue: .min) }.map(\.id)
      let bite = matching.prefix(limit)
      guard let last = bite.last else { return all }
      let (changed, refused) = self.change(change, bite)
      all = (all.changed + changed, all.refused + refused)
      try settleBatches()
      if matching.count == bite.count { return all }
      after = last
    }
  }

  private mutating func change(_ change: JobChange, _ ids: ArraySlice<JobID>) -> ([JobID], [Refusal]) {
    var changed: [JobID] = []
    var reopened: [JobID] = []
    var refused: [Refusal] = []
    let going = change == .remove ? Set(ids).subtracting(staying(of: Set(ids))) : []
    var left = Array(ids)
    while !left.isEmpty {
      let count = changed.count
      refused = []
      for id in left {
        let index = index(of: id)!
        if reopened.contains(id) {
          changed.append(id)
          continue
        }
        switch effect(of: change, on: jobs[index], going) {
        case .refusal(let name):
          refused.append((id, name))
          continue
        case .happens(let event):
          if change == .retry, state(jobs[index]).isFinished { reopened.append(id) }
          note(event, index)
        case .removal: remove(id)
        case .nothing: break
        }
        changed.append(id)
      }
      if change == .retry { reopened = followRetries(of: reopened) }
      left = change == .retry && changed.count > count ? refused.map(\.job) : []
    }
    followEnds(new: reopened)
    return (changed.sorted(), refused)
  }

  /// Those that run, and those that one needs which is not to go, or stays itself.
  private func staying(of ids: Set<JobID>) -> Set<JobID> {
    var staying = ids.filter { id in index(of: id).map { state(jobs[$0]) == .running } ?? false }
    while true {
      let going = ids.subtracting(staying)
      let more = going.filter { needer(of: $0, except: going) != nil }
      if more.isEmpty { break }
      staying.formUnion(more)
    }
    return staying
  }

  // MARK: Questions

  func isOne(_ job: JobLog, of filter: JobFilter) -> Bool {
    switch filter.condition {
    case .ids(let ids): ids.contains(job.id)
    case .queues(let names): names.contains(job.job.queue)
    case .kinds(let names): names.contains(job.job.kind)
    case .states(let states): states.contains(state(job))
    case .tag(let tag): job.job.terms.tags.contains(tag)
    case .key(let key): job.job.terms.key == key
    case .lane(let name): job.job.terms.lane?.name == name
    case .requires(let constraint): job.job.terms.requires.contains(constraint)
    case .batch(let id): job.batch == id
    case .heldBy(let holder): state(job) == .suspended && job.holder == holder
    case .and(let all): all.allSatisfy { isOne(job, of: $0) }
    case .or(let any): any.contains { isOne(job, of: $0) }
    case .not(let a): !isOne(job, of: a)
    case .tooLarge: false
    }
  }

  func jobs(_ query: JobQuery) -> [JobSnapshot] {
    let all = jobs.filter { isOne($0, of: query.filter) }
    let behind = all.filter { job in
      query.after.map { query.order == .oldestFirst ? job.id > $0 : job.id < $0 } ?? true
    }
    let page = query.order == .oldestFirst ? behind.prefix(query.limit) : behind.reversed().prefix(query.limit)
    return page.map { snapshot($0) }
  }

  func counts(_ filter: JobFilter) -> JobCounts {
    JobCounts(Dictionary(grouping: jobs.filter { isOne($0, of: filter) }, by: state).mapValues(\.count))
  }

  func outstanding(_ scope: WorkScope) -> OutstandingWork {
    let inScope: [JobLog]
    let reaches: [WorkerReach]
    switch scope {
    case .worker(let queues, let kinds, let satisfied):
      inScope = jobs.filter { queues.contains($0.job.queue) }
      reaches = [WorkerReach(kinds: kinds, satisfied: satisfied)]
    case .queue(let queue, let more):
      let workers = workers.filter {
        $0.queues.contains(queue) && ($0.isLiving(at: now) || wrong == .silentWorkerServes && !$0.isOver)
      }
      inScope = jobs.filter { $0.job.queue == queue }
      reaches = more + workers.map(\.reach)
    }
    let served = inScope.filter { job in reaches.contains { $0.kinds.contains(job.job.kind) } }
    let startable = served.filter { job in
      guard wrong == .pausedIsActive || !pausedQueues.contains(job.job.queue) else { return false }
      return reaches.contains { $0.kinds.contains(job.job.kind) && hasAll(job, $0.satisfied, at: .absentIsActive) }
    }
    let left = Dictionary(grouping: inScope, by: state).mapValues(\.count).filter { !$0.key.isFinished }
    return OutstandingWork(
      active: served.count { state($0) == .running } + startable.count { state($0) == .ready },
      isReturning: startable.contains { job in
        guard state(job) == .scheduled else { return false }
        return job.wasClaimed || job.isPaced && wrong != .pacedIsIdle || wrong == .firstStartReturns
      },
      left: JobCounts(left))
  }
}
