#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsPostgres
  import DurableJobsProcess
  import DurableJobsSchedules
  import DurableJobsSQLite
  import DurableJobsSystem
  import Foundation

  /// A store that is open, and where it is.
  struct OpenStore: Sendable {
    let store: any ShellStore
    /// What this machine keeps for it has names that begin with this: without symbolic links, so that all who open one file
    /// find the same locks beside it.
    let path: String
    /// What is told of where it is.
    let name: String
    /// Other machines may use it, and do not see what this one keeps beside it.
    var isOnServer: Bool { !(store is SQLiteStore) }
    /// As it was given to `--store`, if it was, but for a password.
    private let named: String?

    /// What 'durable work' runs.
    static let kinds: Set = [ShellCommand.kind, Download.kind, SendRequest.kind, JobSchedule.kind]
    /// The same, where all holds that it knows of.
    static let reach = WorkerReach(kinds: kinds, satisfied: [.network, .externalPower, .diskSpace])

    private static let opened = Lock<[any ShellStore]>([])

    /// Has the process end without letting go of its stores: what was stored is as safe, and who lets go last moves SQLite's log
    /// into the file, with three more waits for the disk. Only for who listens to nothing and runs no worker, or whose store does not
    /// answer.
    static func leaveOpen() { isLeftOpen.withLock { $0 = true } }

    private static let isLeftOpen = Lock(false)

    /// Lets go of all stores, so that other processes need not find out that this one has ended.
    static func closeAll() async {
      guard !isLeftOpen.withLock({ $0 }) else { return }
      let stores = opened.withLock { stores in
        defer { stores = [] }
        return stores
      }
      for store in stores { await store.close() }
    }

    /// Opens the store, and makes it if there is none and it `isMade`.
    init(_ place: StorePlace, isMade: Bool, named: String? = nil, callLimit: Duration? = nil) async throws {
      name = try place.name
      switch place {
      case .file(let path):
        store = try SQLiteStore(path: path)
        self.path = store.path ?? path
        if let place = BesideStore.placeAfterMove(of: self.path) {
          let words = "\(path) was moved to \(place): use that store. What is added here does not get there"
          Talk.line(words.withVisibleControls)
        }
        self.named = named
      case .server(let place):
        store = try await Self.open(place, isMade: isMade, callLimit: callLimit)
        path = store.path ?? ""
        self.named = named == nil ? nil : place.shown
      }
      Self.opened.withLock { [store] in $0.append(store) }
    }

    #if Postgres
      /// What belongs to the machine, as the logs of its commands, is in the data folder of its user.
      static func open(_ place: ServerPlace, isMade: Bool, callLimit: Duration? = nil) async throws -> PostgresStore {
        var configuration = PostgresStore.Configuration()
        configuration.schema = place.schema ?? configuration.schema
        configuration.isPooled = place.isPooled
        configuration.callLimit = callLimit ?? configuration.callLimit
        configuration.makesStore = isMade
        let folder = try StoreOptions.dataFolder
        configuration.folder = folder
        try StoreOptions.make(folder: folder)
        return try await PostgresStore(place.connection, configuration: configuration)
      }
    #else
      private static func open(_ place: ServerPlace, isMade: Bool, callLimit: Duration?) async throws -> SQLiteStore {
        throw StorePlace.notBuilt
      }
    #endif

    func queue(_ name: String) -> JobQueue { JobQueue(name, store: store) }

    func folder(_ id: JobID) -> JobFolder { JobFolder(store: path, id: id) }

    /// Asks the store, and one that is away again and again until it is back: for who waits for something, and would wait for
    /// nothing if this threw. Workers wait for it too. That it is away is said once. A file that is gone does not come back.
    func patiently<R>(_ ask: () async throws -> R) async throws -> R {
      while true {
        do {
          let answer = try await ask()
          Self.isAway.withLock { $0 = false }
          return answer
        } catch let error as JobError where error.isPassing && (isOnServer || error.code != .unusableFile) {
          if Self.isAway.withLock({ wasAway in (!wasAway, wasAway = true).0 }) {
            Talk.line("Waiting for the store: \(error.message)".withVisibleControls)
          }
          try await Task.sleep(for: LogFollower.interval)
        }
      }
    }

    private static let isAway = Lock(false)

    /// Whether it answers within that time, all of which this takes.
    func answers(within time: Duration) async -> Bool {
      let hasAnswered = Lock(false)
      let ask = Task { [store] in  // cancelled below
        if (try? await store.settings()) != nil { hasAnswered.withLock { $0 = true } }
      }
      // In pieces: a process that is stopped meanwhile loses one of them.
      for _ in 0..<10 { try? await Task.sleep(for: time / 10, clock: .suspending) }
      ask.cancel()
      return hasAnswered.value
    }

    /// The job as it is shown to who follows it; nil if it is gone.
    func patientLook(at id: JobID) async throws -> JobSnapshot? {
      try await patiently { try await store.jobs(JobQuery(.id(id), detail: [.failures, .edges], limit: 1)).first }
    }

    /// Waits until nothing lives of the command of a job that does not run, and ends it where nobody else does. Says so if
    /// something still does, and answers what.
    @discardableResult
    func endRemains(of id: JobID, letting worker: Duration = .zero) async throws -> String? {
      let remains = CommandRemains(store)
      guard remains.isNoted(id), try await store.jobs(JobQuery(.id(id), limit: 1)).first?.state != .running,
        await !folder(id).lock.waitUntilFree(for: worker)
      else { return nil }
      Talk.line("Job \(id): its command lives, and no worker ends it; it is ended here")
      guard await !remains.end(id) else { return nil }
      let words = folder(id).lock.livingWords(of: "its command")
      Talk.error("job \(id): \(words)")
      return words
    }

    /// The same of all of these jobs that have ended.
    func endRemains(in filter: JobFilter, letting worker: Duration) async throws -> [JobID: String] {
      var lives: [JobID: String] = [:]
      for page in CommandRemains.living(beside: path).pages(of: 400) {
        let ended = JobQuery(filter && .ids(page) && !.unfinished, limit: page.count)
        let jobs = try await patiently { try await store.jobs(ended) }
        lives.merge(try await ofEach(jobs.map(\.id)) { try await endRemains(of: $0, letting: worker) }) { $1 }
      }
      return lives
    }

    /// Ends what lives of the command of a job that was removed, and deletes what was kept beside the store for it. Says so,
    /// and answers what lives, if something still does.
    func removeFolder(of id: JobID) async throws -> String? {
      let words = try await endRemains(of: id, letting: ObstacleReport.lastWords)
      let folder = folder(id)
      if !folder.removeIfFree(), (try? folder.lock.isFree()) != true {
        // A command that can't be ended keeps it, until a worker finds that it has.
        Talk.line("Job \(id): its logs go when its command has ended")
      } else if access(folder.path, F_OK) == 0 {
        Talk.line("Job \(id): \(folder.path.withVisibleControls) stays, as not all in it is of this program")
      }
      return words
    }

    /// What `body` says of each of these jobs, if it does. It may have to wait for each, and waits for all at once, or for so
    /// many.
    func ofEach(
      _ ids: [JobID], _ body: @escaping @Sendable (JobID) async throws -> String?
    ) async throws -> [JobID: String] {
      try await withThrowingTaskGroup(of: (JobID, String?).self) { group in
        var answers: [JobID: String] = [:]
        for (index, id) in ids.enumerated() {
          if index >= Self.mostAtOnce, let (id, words) = try await group.next() { answers[id] = words }
          group.addTask { (id, try await body(id)) }
        }
        for try await (id, words) in group { answers[id] = words }
        return answers
      }
    }

    private static let mostAtOnce = 100

    /// What lives of the command of a job that has ended, though somebody tried to end it; nil if nothing does.
    func remains(of job: JobSnapshot) -> String? {
      guard job.state.isFinished, CommandRemains(store).isNoted(job.id) else { return nil }
      let lock = folder(job.id).lock
      return (try? lock.isFree()) == false ? lock.livingWords(of: "its command") : nil
    }

    var pausedQueues: Set<String> {
      get async throws {
        var paused: Set<String> = []
        for case .queue(let name, isPaused: true) in try await store.settings() { paused.insert(name) }
        return paused
      }
    }

    /// Has a worker say what holds on this machine, and where this store is.
    func provideSystemConstraints(to worker: JobWorker) {
      worker.provideSystemConstraints(of: URL(fileURLWithPath: path).deletingLastPathComponent())
    }

    /// What to type to do `verb` to a queue of this store, as in "durable work --queue slow".
    func command(_ verb: String, queue: String) -> String { command(verb, queues: [queue]) }

    /// The same of some queues.
    func command(_ verb: String, queues: [String]) -> String {
      command(verb + (queues == ["default"] ? "" : queues.map { " --queue \(SystemText($0).shellQuoted)" }.joined()))
    }

    /// The same of words that are known.
    func command(_ words: String) -> String {
      let place = named.map { " --store \(SystemText($0).shellQuoted)" } ?? ""
      return "durable \(words)\(place)"
    }

    /// The worker that runs each of these jobs.
    func workers(of jobs: [JobSnapshot]) async throws -> [JobID: StoredWorker] {
      guard jobs.contains(where: { $0.state == .running }) else { return [:] }
      var holders: [JobID: StoredWorker] = [:]
      for worker in try await store.workers() {
        for id in worker.jobs { holders[id] = worker }
      }
      return holders
    }

    /// How many of these jobs run only by what is stored: their workers have died.
    func orphans(where filter: JobFilter) async throws -> Int {
      let lost = try await store.workers().filter { $0.standing == .dead }.flatMap(\.jobs)
      return lost.isEmpty ? 0 : try await store.counts(where: filter && .ids(lost) && .state(.running))[.running]
    }

    /// Says of keys that a job waits for, and that no job has yet: one may have been meant otherwise.
    func sayIfUnknown(keys: [String]) async throws {
      for key in keys where try await store.jobs(JobQuery(.key(key), limit: 1)).isEmpty {
        Talk.line("No job has the key '\(key.withVisibleControls)' yet; it waits for one")
      }
    }

    /// The queue of a job that is to be followed. It may be another's, met by its unique key.
    func place(of id: JobID, kind: String) async throws -> String {
      let job = try await store.job(id, detail: [])
      guard job.kind == kind else {
        Talk.error(
          "job \(id) is of the kind '\(job.kind)', and can't be run by this command; '\(command("wait \(id)"))' waits for it"
        )
        throw ExitCode(.jobFailed)
      }
      return job.queue
    }

    /// Says how to start a worker if this job waits for one.
    func sayIfNobodyWorks(on id: JobID) async throws {
      guard let (job, why) = try await explain(id), why.reasons.contains(where: \.isLackOfWorker) else { return }
      Talk.line("No worker is running. Start one with: \(command("work", queue: job.queue))")
    }
  }
#endif
