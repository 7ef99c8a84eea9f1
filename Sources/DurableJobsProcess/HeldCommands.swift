#if Process
  import DurableJobs
  import Foundation

  /// Jobs that this machine has suspended because something is alive beside which they must not run. Each is resumed
  /// once that has ended, by itself or by a person.
  struct HeldCommands: Sendable {
    private let store: any JobStore
    private let remains: CommandRemains
    /// A file for each, with the reason that its job was given: a job that a person suspends has another reason.
    private let notes: String

    /// How often to check whether one can be resumed: nothing reports such an end.
    static let interval = Duration.seconds(5)

    init(_ store: any JobStore, _ remains: CommandRemains) {
      self.store = store
      self.remains = remains
      notes = JobFolder.all(of: store) + "/held"
    }

    /// Ends the attempt of a job that is blocked by this: the job is suspended until that has ended.
    func hold(_ id: JobID, because words: String) -> JobExit {
      let reason = "\(words), and the job goes on".cutToMessage
      mkdir(notes, 0o700)
      // If it can't be noted, a person has to resume it.
      try? Data(reason.utf8).write(to: URL(fileURLWithPath: path(id)), options: .atomic)
      return .suspend(because: reason)
    }

    private func path(_ id: JobID) -> String { "\(notes)/\(id)" }

    /// Resumes the jobs that nothing blocks any more. Returns whether some are left.
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
          guard remains.isStoresOwn, isClear(id), await othersAreClear(of: found[0]),
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

    private func isClear(_ id: JobID) -> Bool {
      let lock = JobFolder(id, in: store).lock
      return lock.holder?.isOfOtherSpace != true && (try? lock.isFree()) ?? false
    }

    private func othersAreClear(of job: JobSnapshot) async -> Bool {
      (try? await remains.inTheWay(of: job))?.allSatisfy { isClear($0) } ?? false
    }
  }

  extension JobSnapshot {
    /// Whether this job must not run at once with `other`, which has that lane and unique key, and it is this one's turn
    /// now. This job needs its edges.
    func comesAfter(_ other: JobID, lane name: String?, uniqueKey key: String?) -> Bool {
      if let lane, lane.name == name { return true }
      if let uniqueKey, uniqueKey == key { return true }
      return edges.contains { $0.target == .job(other) }
    }
  }
#endif
