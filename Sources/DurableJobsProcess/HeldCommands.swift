#if Process
  import DurableJobs
  import Foundation

  /// Jobs that this machine has suspended because something lives beside which they must not run. Each goes on once that has
  /// ended, by itself or by somebody's hand.
  struct HeldCommands: Sendable {
    private let store: any JobStore
    private let remains: CommandRemains
    /// A file for each, with the reason that its job was given: one that a person suspends has another.
    private let notes: String

    /// How often it is looked whether one can go on: nobody tells of such an end.
    static let interval = Duration.seconds(5)

    init(_ store: any JobStore, _ remains: CommandRemains) {
      self.store = store
      self.remains = remains
      notes = JobFolder.all(of: store) + "/held"
    }

    /// How a job is to end because that is in its way: by being suspended, until that has ended.
    func hold(_ id: JobID, because words: String) -> JobExit {
      let reason = "\(words), and the job goes on".cutToMessage
      mkdir(notes, 0o700)
      // Where it can't be noted, a person resumes it.
      try? Data(reason.utf8).write(to: URL(fileURLWithPath: path(id)), options: .atomic)
      return .suspend(because: reason)
    }

    private func path(_ id: JobID) -> String { "\(notes)/\(id)" }

    /// Resumes those that nothing is in the way of any more. Answers whether some are left.
    func letGo() async -> Bool {
      var areLeft = false
      for id in JobFolder.ids(in: notes) {
        guard let found = try? await store.jobs(JobQuery(.id(id), detail: .edges, limit: 1)) else {
          areLeft = true
          continue
        }
        switch found.first?.state {
        case .running:
          // It may be about to be suspended.
          areLeft = true
        case .suspended where found[0].reason.map { Data($0.utf8) } == FileManager.default.contents(atPath: path(id)):
          guard remains.isStoresOwn, isClear(found[0]), await othersAreClear(of: found[0]),
            (try? await store.change(.resume, where: .id(id) && .state(.suspended), after: nil, limit: 1)) != nil
          else {
            areLeft = true
            continue
          }
          unlink(path(id))
        default: unlink(path(id))
        }
      }
      return areLeft
    }

    private func isClear(_ job: JobSnapshot) -> Bool {
      let lock = JobFolder(job.id, in: store).lock
      return lock.holder?.isOfOtherSpace != true && (try? lock.isFree()) ?? false
    }

    private func othersAreClear(of job: JobSnapshot) async -> Bool {
      let noted = remains.noted.subtracting([job.id])
      guard !noted.isEmpty else { return true }
      let others = try? await store.jobs(JobQuery(.ids(noted), limit: noted.count))
      return others?.allSatisfy { !job.comesAfter($0) || isClear($0) } ?? false
    }
  }

  extension JobSnapshot {
    /// Both were not to run at once, and it is this one's turn now. This one with its edges.
    func comesAfter(_ other: JobSnapshot) -> Bool {
      if let lane, lane.name == other.lane?.name { return true }
      if let uniqueKey, uniqueKey == other.uniqueKey { return true }
      return edges.contains { $0.target == .job(other.id) }
    }
  }
#endif
