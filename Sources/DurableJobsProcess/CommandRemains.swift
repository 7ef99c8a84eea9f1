#if Process
  import DurableJobs
  import Foundation

  /// Commands that are alive although their jobs do not run: a stopped or dead worker lost them, and then they were
  /// cancelled, or ended by somebody else. No claim ends what a job that has ended left behind, so workers that run
  /// commands, and callers that are told that such a job is over, end it.
  package final class CommandRemains: Sendable {
    private let store: any JobStore
    /// A file for each job whose command may live, and whose worker has not seen its end. It says what the job shares
    /// with others, as its row may go before its command does.
    private let notes: String
    /// The store's file when this object was created.
    private let file: [UInt64]?
    /// The commands that could not be ended, and are not waited for again.
    private let hopeless = Lock<[JobID: CommandHolder]>([:])

    package init(_ store: any JobStore) {
      self.store = store
      notes = Self.notes(in: JobFolder.all(of: store))
      file = Self.file(of: store)
    }

    private static func notes(in folder: String) -> String { folder + "/at-work" }

    /// The jobs of a store on which nobody works of whose commands something may live, whatever their rows say.
    package static func living(beside store: String) -> [JobID] {
      JobFolder.ids(in: notes(in: JobFolder.all(of: store))).sorted().filter {
        (try? JobFolder(store: store, id: $0).lock.isFree()) != true
      }
    }

    /// Whether the file at the store's path is still the store's. If it was moved or removed, what is stored beside it,
    /// and runs, belongs to another store.
    var isStoresOwn: Bool { file == Self.file(of: store) }

    /// Whether another store is at its path.
    var isStoreReplaced: Bool { !isStoresOwn && Self.file(of: store) != nil }

    private static func file(of store: any JobStore) -> [UInt64]? {
      var status = stat()
      guard let path = store.path, stat(path, &status) == 0 else { return nil }
      return [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
    }

    /// Notes that the command of a job is about to begin, and what the job shares with others.
    func note(_ id: JobID, _ ties: CommandTies = CommandTies()) throws {
      guard mkdir(notes, 0o700) == 0 || errno == EEXIST else { throw Refusal("can't make the folder \(notes)") }
      let file = open(path(id), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw Refusal("can't write into \(notes)") }
      defer { close(file) }
      let text = try JSONEncoder().encode(ties)
      guard text.withUnsafeBytes({ Descriptors.write($0, to: file) }) == text.count else {
        throw Refusal("can't write into \(notes)")
      }
    }

    /// Those whose commands may live, and beside which this one must not run: also if their rows are gone. The job needs
    /// its edges; `batch` is that of its claim, which it follows if it is not in it.
    func inTheWay(of job: JobSnapshot, _ batch: BatchID?) async throws -> Set<JobID> {
      let batch = job.batch == nil ? batch : nil
      let noted = noted.subtracting([job.id])
      guard !noted.isEmpty else { return [] }
      // Notes of older versions say nothing, and in a store put back from a copy a row may be another job's.
      let rows = try await store.jobs(JobQuery(.ids(noted), limit: noted.count))
      let byRow = rows.filter { job.comesAfter($0.id, CommandTies($0), following: batch) }.map(\.id)
      return noted.filter { id in
        let data = FileManager.default.contents(atPath: path(id)) ?? Data()
        let ties = try? JSONDecoder().decode(CommandTies.self, from: data)
        return job.comesAfter(id, ties ?? CommandTies(), following: batch)
      }.union(byRow)
    }

    /// Notes that it has ended, as far as its worker could ensure that.
    func forget(_ id: JobID) { unlink(path(id)) }

    /// Notes that it could not be ended here, and blocks others.
    func giveUp(_ id: JobID) {
      let holder = JobFolder(id, in: store).lock.holder
      hopeless.withLock { $0[id] = holder }
    }

    /// The jobs whose commands may live.
    var noted: Set<JobID> { Set(JobFolder.ids(in: notes)) }

    /// Whether something of it may live, and its worker has not seen its end.
    package func isNoted(_ id: JobID) -> Bool { access(path(id), F_OK) == 0 }

    private func path(_ id: JobID) -> String { "\(notes)/\(id)" }

    /// Ends these jobs' commands except `own`, which their handlers end and this waits for. Returns which still live.
    func end(_ ids: Set<JobID>, except own: Set<JobID>) async -> [JobID] {
      let query = JobQuery(.ids(ids) && .state(.running), limit: ids.count)
      guard !ids.isEmpty, isStoresOwn else { return [] }
      guard let running = try? await store.jobs(query) else { return Array(ids) }
      return await withTaskGroup(of: JobID?.self) { group in
        for id in ids.subtracting(running.map(\.id)) {
          group.addTask { [self] in await end(id, isOwn: own.contains(id)) ? nil : id }
        }
        return await group.reduce(into: []) { left, id in if let id { left.append(id) } }
      }
    }

    /// Ends what lives of one command, if its job does not run. Returns whether nothing does. If its worker is `own`,
    /// that is given time to end it.
    package func end(_ id: JobID, isOwn: Bool = false) async -> Bool {
      guard isNoted(id), isStoresOwn else { return true }
      let lock = JobFolder(id, in: store).lock
      if isOwn, await lock.waitUntilFree(for: SupervisionCourse.longest) { return true }
      while true {
        // Read before the store is asked: a later holder may run it legitimately.
        let holder = lock.holder
        guard let jobs = try? await store.jobs(JobQuery(.id(id), limit: 1)) else { return false }
        if jobs.first?.state == .running { return true }
        if (try? lock.isFree()) == true {
          if jobs.first?.state.isFinished ?? true { forget(id) }
          return true
        }
        if let holder {
          guard hopeless.withLock({ $0[id] }) != holder else { return false }
          if await lock.end(holder) { continue }
          hopeless.withLock { $0[id] = holder }
          return false
        }
        // It has not written yet that it holds the lock, unless what is written there can't be read.
        guard await CommandLock.wait(for: .seconds(1), until: { lock.holder != nil }) else { return false }
      }
    }

    /// Ends what is left now and later, and resumes what was `held` because of it, until the task is cancelled.
    func watch(_ held: HeldCommands, own: @Sendable () -> Set<JobID>) async {
      let gate = Gate()
      let subscription = store.signals.listen { signal in
        if case .committed(let changes) = signal,
          !changes.contains(where: { $0.kind == ShellCommand.kind && $0.state != .running })
        {
          return
        }
        gate.open()
      }
      while true {
        let isLast = Task.isCancelled
        // The last look is taken although the task is cancelled, and stores refuse cancelled tasks.
        let ids = own()
        _ = await Task { [self] in await end(noted, except: ids) }.value
        if isLast { break }
        let areHeld = await held.letGo()
        let timer = areHeld ? store.clock.schedule(after: HeldCommands.interval) { gate.open() } : nil
        await gate.pass()
        timer?.cancel()
        // Frequent changes are checked only now and then.
        try? await Task.sleep(for: .milliseconds(500))
      }
      withExtendedLifetime(subscription) {}
    }
  }

  /// What a job shares with others that must not run beside its command.
  struct CommandTies: Codable {
    var lane: String?
    var uniqueKey: String?
    var batch: BatchID?
  }

  extension CommandTies {
    init(_ job: JobSnapshot) { self.init(lane: job.lane?.name, uniqueKey: job.uniqueKey, batch: job.batch) }
  }

  extension JobSnapshot {
    /// Whether this job must not run at once with `other`, which has these ties, and it is this one's turn now: they share
    /// a lane or a unique key, or this one waited for the other, by an edge or as what follows that batch. This job needs
    /// its edges.
    func comesAfter(_ other: JobID, _ ties: CommandTies, following batch: BatchID?) -> Bool {
      if let lane, lane.name == ties.lane { return true }
      if let uniqueKey, uniqueKey == ties.uniqueKey { return true }
      if let batch, batch == ties.batch { return true }
      return edges.contains { $0.target == .job(other) }
    }
  }
#endif
