#if Process
  import DurableJobs
  import Foundation

  /// Jobs that this machine has suspended because something is alive beside which they must not run. Each is resumed
  /// once that has ended, by itself or by a person.
  struct HeldCommands: Sendable {
    private let store: any JobStore
    private let remains: CommandRemains
    /// A file for each.
    private let notes: String

    private struct Note: Codable {
      /// What its job was given.
      var reason: String
      /// That of its claim: no row tells which one a job follows.
      var batch: BatchID?
    }

    /// How often to check whether one can be resumed: nothing reports such an end.
    static let interval = Duration.seconds(5)

    init(_ store: any JobStore, _ remains: CommandRemains) {
      self.store = store
      self.remains = remains
      notes = JobFolder.all(of: store) + "/held"
    }

    /// Ends the attempt of a job that is blocked by this: the job is suspended until that has ended, or if a person has
    /// suspended it and has not taken that back, for longer.
    func hold(_ context: JobContext, because words: String) -> JobExit {
      let reason = (context.stopReason == .suspended ? words : "\(words), and the job goes on").cutToMessage
      // The note is of who has the job now.
      guard context.stopReason != .claimLost else { return .suspend(because: reason) }
      mkdir(notes, 0o700)
      // If it can't be noted, a person has to resume it.
      try? JSONEncoder().encode(Note(reason: reason, batch: context.batch?.id))
        .write(to: URL(fileURLWithPath: path(context.id)), options: .atomic)
      return .suspend(because: reason)
    }

    private func path(_ id: JobID) -> String { "\(notes)/\(id)" }

    private func note(_ id: JobID) -> Note? {
      guard let data = FileManager.default.contents(atPath: path(id)) else { return nil }
      // Versions before this one wrote the reason alone.
      return (try? JSONDecoder().decode(Note.self, from: data)) ?? Note(reason: String(decoding: data, as: UTF8.self))
    }

    /// Resumes the jobs that nothing blocks any more. Returns whether some are left.
    func letGo() async -> Bool {
      var areLeft = false
      for id in JobFolder.ids(in: notes) {
        guard let found = try? await store.jobs(JobQuery(.id(id), detail: .edges, limit: 1)) else {
          areLeft = true
          continue
        }
        let note = note(id)
        switch found.first?.state {
        case .running:
          // It may be about to be suspended.
          areLeft = true
        // Another handler may have suspended it since.
        case .suspended where Self.isHeld(found[0], by: note):
          // Asked again, as what is in the way may have taken long to answer.
          guard remains.isStoresOwn, isClear(id), await othersAreClear(of: found[0], note?.batch),
            let now = try? await store.jobs(JobQuery(.id(id), limit: 1)).first, Self.isHeld(now, by: note),
            (try? await store.change(.resume, where: .id(id) && .heldBy(.handler), after: nil, limit: 1)) != nil
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

    private static func isHeld(_ job: JobSnapshot, by note: Note?) -> Bool {
      job.state == .suspended && job.heldBy == .handler && job.reason == note?.reason
    }

    private func isClear(_ id: JobID) -> Bool {
      let lock = JobFolder(id, in: store).lock
      return lock.holder?.isOfOtherSpace != true && (try? lock.isFree()) ?? false
    }

    private func othersAreClear(of job: JobSnapshot, _ batch: BatchID?) async -> Bool {
      (try? await remains.inTheWay(of: job, batch))?.allSatisfy { isClear($0) } ?? false
    }
  }
#endif
