import Foundation

/// Where an ``InMemoryStore`` keeps its jobs beyond its process: a few lines on top of whatever an app has, such as a
/// property list, user defaults or a keychain. It keeps bytes by name, and need not know what they mean.
///
/// It is called by one thread at a time. Everything is in memory all the time, and each change is found by comparing
/// all of it, so this is for some hundreds of jobs of one process: no other may use the same entries meanwhile.
public protocol SnapshotProvider {
  /// Everything that was saved and not removed since. Called once, before the store is used.
  mutating func load() throws -> [String: Data]

  /// Keeps these entries, each replacing the one with its name. When it returns, the jobs in them are as durable as
  /// what the provider writes to; if it throws, nothing of the call that led to it takes effect in this process.
  ///
  /// Each entry is stored as a whole or not at all. Several of one call need no common step: the store first saves them
  /// together as an entry `pending`, and completes that when it is next created. So what an earlier call stored must be
  /// there whenever something of a later one is.
  mutating func save(_ entries: [String: Data]) throws

  /// Removes these entries, some of which may not exist.
  mutating func remove(_ names: [String]) throws
}

/// What a table gives to a ``SnapshotProvider``, and takes from one.
extension JobTable {
  private struct SavedJob: Codable {
    var record: Record
    var parents: [Edge]
    /// By key: edges that wait for a job that brings it.
    var awaited: [String: [Edge]]
  }

  /// Entries that change together.
  private struct Step: Codable {
    var saved: [String: Data] = [:]
    var removed: [String] = []

    func carryOut(_ provider: inout any SnapshotProvider) throws {
      if !saved.isEmpty { try provider.save(saved) }
      if !removed.isEmpty { try provider.remove(removed) }
    }
  }

  private static let storeName = "store"
  private static let pendingName = "pending"
  private static func name(of job: JobID) -> String { "job-\(job)" }

  var changed: Set<JobID> { touched.union(news.transitions.map(\.id)) }

  func differs(from before: JobTable) -> Bool { !changed.isEmpty || kept != before.kept }

  /// Saves these jobs as they are here, and what is no job's own: all of it or, for who is interrupted, nothing.
  /// `mayBePending`: a step that failed may be there, and must not be completed after this one.
  func save(_ changed: Set<JobID>, andRest: Bool, to provider: inout any SnapshotProvider, mayBePending: Bool) throws {
    var step = Step()
    let encoder = JSONEncoder()
    for id in changed {
      guard let index = index(of: id) else {
        step.removed.append(Self.name(of: id))
        continue
      }
      let awaited = keyEdges.mapValues { $0.filter { $0.child == id } }.filter { !$0.value.isEmpty }
      step.saved[Self.name(of: id)] = try encoder.encode(
        SavedJob(record: records[index], parents: parentsOf[id] ?? [], awaited: awaited))
    }
    if andRest { step.saved[Self.storeName] = try encoder.encode(kept) }
    let isPending = mayBePending || step.saved.count + step.removed.count > 1
    if isPending { try provider.save([Self.pendingName: encoder.encode(step)]) }
    try step.carryOut(&provider)
    if isPending { try provider.remove([Self.pendingName]) }
  }

  /// What was saved, once the step that the previous process was at is completed.
  static func entries(of provider: inout any SnapshotProvider) throws -> [String: Data] {
    var entries = try provider.load()
    guard let pending = entries.removeValue(forKey: pendingName) else { return entries }
    // One that can't be read was interrupted itself, and then nothing of the step was done.
    if let step = try? JSONDecoder().decode(Step.self, from: pending) {
      try step.carryOut(&provider)
      entries = entries.merging(step.saved) { $1 }.filter { !step.removed.contains($0.key) }
    }
    try provider.remove([pendingName])
    return entries
  }

  /// Loads what was saved, with the claims of workers that ended with their process. Returns unreadable jobs, which
  /// stay with the provider as they are. Throws ``JobError/Code/notDecodable`` if what is no job's own can't be read.
  func load(_ entries: [String: Data]) throws -> [JobID] {
    var unreadable: [JobID] = []
    var saved: [SavedJob] = []
    let decoder = JSONDecoder()
    if let data = entries[Self.storeName] {
      do { kept = try decoder.decode(Kept.self, from: data) } catch {
        throw JobError(
          .notDecodable,
          "the provider's entry '\(Self.storeName)' can't be read: \(error.briefly). It has the batches, and what is paused and "
            + "limited: put back what it was, or open it with the version that wrote it. Without it, jobs begin in unpaused queues",
          cause: error)
      }
    }
    for (name, data) in entries where name.hasPrefix("job-") {
      if let job = try? decoder.decode(SavedJob.self, from: data) {
        saved.append(job)
      } else if let id = JobID(String(name.dropFirst("job-".count))) {
        unreadable.append(id)
        kept.lastJob = max(kept.lastJob, id.rawValue)
      }
    }
    for job in saved.sorted(by: { $0.record.id < $1.record.id }) { take(job) }
    seen = SeenTime(latest: records.compactMap(\.waitSetAt).max() ?? 0)
    for worker in Set(records.lazy.filter { $0.course.state == .running }.map(\.claim.worker)).sorted() {
      workers.append(WorkerRow(id: worker, worker: WorkerID("\(worker)"), leaseUntil: 0, kinds: [], queues: []))
    }
    return unreadable.sorted()
  }

  private func take(_ saved: SavedJob) {
    let record = saved.record
    records.append(record)
    kept.lastJob = max(kept.lastJob, record.id.rawValue)
    kept.lastWorker = max(kept.lastWorker, record.claim.worker)
    parentsOf[record.id] = saved.parents.isEmpty ? nil : saved.parents
    for edge in saved.parents where !edge.isNever { childrenOf[edge.parent, default: []].append(edge) }
    for (key, edges) in saved.awaited { keyEdges[key, default: []] += edges }
  }
}
