#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsSQLite
  import Foundation

  struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status",
      abstract: "Show where everything stands.",
      discussion: """
        A line a job, the newest last, and how many there are in each state; then the queues that are paused, what jobs \
        require and does not hold, and who works on what.
        """)

    @Flag(help: "List every job, not only the newest 20.") var all = false
    @Option(parsing: .unconditional, help: ArgumentHelp("Only jobs in this state.", valueName: "state")) var state:
      JobState?
    @Option(parsing: .unconditional, help: ArgumentHelp("Only jobs of this queue.", valueName: "name")) var queue:
      String?
    @Option(parsing: .unconditional, help: ArgumentHelp("Only jobs of this kind.", valueName: "name")) var kind: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("Only jobs with this tag.", valueName: "name")) var tag: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("Only jobs with this key.", valueName: "name")) var key: String?
    @Option(
      parsing: .unconditional, help: ArgumentHelp("List no more than this many, the newest.", valueName: "number"))
    var limit: Int?
    @OptionGroup var options: StoreOptions

    func validate() throws {
      if let limit, limit < 1 { throw ValidationError("--limit is \(limit); it must be at least 1") }
      if all, limit != nil { throw ValidationError("--all and --limit exclude each other") }
    }

    func run() async throws {
      let path = try options.path
      guard let store = try options.existing() else {
        if options.json {
          Screen.out.json(StatusRecord(store: path))
        } else {
          Talk.line("Store: \(path) (not created yet)")
          Screen.out.line("no jobs")
        }
        return
      }
      let counts = try await store.store.counts(where: filter)
      if options.json {
        try await writeJSON(store, counts)
        return
      }
      Talk.line("Store: \(path.withVisibleControls)")
      let jobs = try await listed(store)
      if counts.total > jobs.count, limit == nil {
        Talk.line("The newest \(jobs.count) of \(counts.total); all: --all")
      }
      if !jobs.isEmpty { JobTable(jobs: jobs, workers: try await store.workers(of: jobs)).write(to: .out) }
      Screen.out.line(counts.forPeople)
      let paused = try await store.pausedQueues
      if !paused.isEmpty { Talk.line("Paused: \(paused.sorted().joined(separator: ", ").withVisibleControls)") }
      let absent = try await store.constraints().filter { !$0.holds && $0.jobs > 0 }
      for constraint in absent { Talk.line("\(constraint.name.withVisibleControls): \(constraint.words)") }
      let workers = WorkerSummary(try await workers(store))
      Talk.line(
        "Workers: \(workers.text ?? "none. Start one with: \(store.command("work", queue: queue ?? "default"))")")
    }

    private var filter: JobFilter {
      var filter = JobFilter.all
      if let state { filter = filter && .state(state) }
      if let queue { filter = filter && .queue(queue) }
      if let kind { filter = filter && .kind(kind) }
      if let tag { filter = filter && .tag(tag) }
      if let key { filter = filter && .key(key) }
      return filter
    }

    /// The newest, the newest last.
    private func listed(_ store: OpenStore) async throws -> [JobSnapshot] {
      let detail: JobQuery.Detail = [.payload, .failures, .edges]
      if all { return try await store.pages(filter, detail: detail) { $0 } }
      let newest = try await store.store.jobs(
        JobQuery(filter, detail: detail, order: .newestFirst, limit: limit ?? 20))
      return newest.reversed()
    }

    private func writeJSON(_ store: OpenStore, _ counts: JobCounts) async throws {
      let jobs =
        all
        ? try await store.pages(filter, detail: .all) { $0 }
        : try await store.store.jobs(
          JobQuery(filter, detail: .all, order: .newestFirst, limit: limit ?? 20)
        ).reversed()
      let holders = try await store.workers(of: jobs)
      Screen.out.json(
        StatusRecord(
          store: store.path, jobs: jobs.map { JobRecord($0, worker: holders[$0.id]) },
          counts: CountsRecord(counts: counts), paused: try await store.pausedQueues.sorted(),
          constraints: try await store.constraints(), workers: try await workers(store).map { WorkerRecord($0) }))
    }

    /// Of the queue that is asked about.
    private func workers(_ store: OpenStore) async throws -> [StoredWorker] {
      try await store.store.workers().filter { worker in queue.map { worker.queues.contains($0) } ?? true }
    }
  }

  private struct StatusRecord: Encodable {
    var store: String
    var jobs: [JobRecord] = []
    var counts = CountsRecord()
    var paused: [String] = []
    var constraints: [ConstraintRecord] = []
    var workers: [WorkerRecord] = []
  }

  private struct WorkerRecord: Encodable {
    var process: Int64
    var state: String
    var queues: [String]
    var kinds: [String]
    /// What it provides, and whether that holds.
    var constraints: [String: Bool]
    var since: Date

    init(_ worker: StoredWorker) {
      process = worker.process
      state = worker.standing.rawValue
      queues = worker.queues.sorted()
      kinds = worker.kinds.sorted()
      constraints = Dictionary(
        (worker.satisfied.map { ($0.rawValue, true) } + worker.absent.map { ($0.rawValue, false) })
      ) { $1 }
      since = worker.since
    }
  }

  extension OpenStore {
    /// All jobs that match, the oldest first, read a page at a time.
    func pages<T>(_ filter: JobFilter, detail: JobQuery.Detail, _ make: (JobSnapshot) -> T) async throws -> [T] {
      var all: [T] = []
      var after: JobID?
      repeat {
        let page = try await store.jobs(JobQuery(filter, detail: detail, after: after, limit: 500))
        all += page.map(make)
        after = page.count < 500 ? nil : page.last?.id
      } while after != nil
      return all
    }
  }
#endif
