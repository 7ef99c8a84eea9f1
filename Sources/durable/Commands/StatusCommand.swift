#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status",
      abstract: "Show where everything stands.",
      discussion: """
        What runs, then what failed, what waits and what ended last, each with its time and its reason, and how many there are \
        in each state; then the paused queues, what jobs require that does not hold, and who works on what.
        """)

    @Flag(help: "List every job, and not only a few of each.") var all = false
    @OptionGroup(title: "Which jobs") var filter: FilterArguments
    @Option(parsing: .unconditional, help: ArgumentHelp("List no more than this many.", valueName: "number"))
    var limit: Int?
    @Flag(name: .shortAndLong, help: "Keep showing it as it changes, until Ctrl-C, or q and Enter.") var watch = false
    @OptionGroup var options: StoreOptions

    func validate() throws {
      if let limit, limit < 1 { throw ValidationError("--limit is \(limit); it must be at least 1") }
      if all, limit != nil { throw ValidationError("--all and --limit exclude each other") }
      if watch, !options.json, !Screen.out.canMove {
        throw ValidationError("--watch needs a terminal, or --json, which writes a line for each change")
      }
    }

    func run() async throws {
      Screen.endWithReader()
      let place = try options.place.name
      guard let store = try await options.existing() else {
        if options.json {
          let record = StatusRecord(store: place)
          watch ? Screen.out.json(StatusLine(status: record)) : Screen.out.json(record)
        } else {
          Talk.line("Store: \(place.withVisibleControls) (not created yet)")
          if let command = try options.commandForFolder {
            Talk.line("Its folder does not exist. Make that first: \(command)")
          }
          Screen.out.line("no jobs")
        }
        return
      }
      let filter = try await filter.filter(in: store)
      if watch { return try await watch(store, filter) }
      if options.json { return Screen.out.json(try await record(store, filter)) }
      Talk.line("Store: \(place.withVisibleControls)")
      let (overview, rest) = (try await Overview(store, filter, limits), try await remarks(store))
      for line in overview.lines(for: .out, width: Screen.out.width) { Screen.out.line(line) }
      let width = options.json ? nil : Screen.error.width
      for line in rest.flatMap({ $0.wrapped(to: width ?? .max, lines: .max) }) { Talk.line(line) }
    }

    private var limits: Overview.Limits { all ? .none : limit.map { .total($0) } ?? .few }

    /// What is paused, what does not hold, and who works.
    private func remarks(_ store: OpenStore) async throws -> [String] {
      var lines: [String] = []
      let paused = try await store.pausedQueues
      if !paused.isEmpty { lines.append("Paused: \(paused.sorted().joined(separator: ", ").withVisibleControls)") }
      for limit in try await store.limits() {
        lines.append("Limited: \(limit.name): \(limit.words), \(limit.runningNow) running")
      }
      let absent = try await store.constraints().filter { !$0.holds && $0.jobs > 0 }
      for constraint in absent { lines.append("\(constraint.name.withVisibleControls): \(constraint.words)") }
      let workers = try await workers(store)
      let summary = WorkerSummary(workers).text
      let advice = try await WorkerAdvice(
        store, where: filter.queue.isEmpty ? .all : .queues(filter.queue), paused: paused, besides: workers
      ).text(summary == nil ? "one" : "another")
      let told = "Workers: \(summary ?? "none")" + (advice.map { ". \($0)" } ?? "")
      return lines + told.split(separator: "\n").map(String.init)
    }

    /// Until the process is ended, or somebody who looks on ends it.
    private func watch(_ store: OpenStore, _ filter: JobFilter) async throws {
      let gate = Gate()
      let subscription = store.store.signals.listen { [gate] _ in gate.open() }
      defer { withExtendedLifetime(subscription) {} }
      var block = LiveBlock(isReflowed: Screen.isReflowed)
      let typed = options.json ? nil : TypedLines()
      let resumption = await Resumption { gate.open() }
      var last = ""
      while true {
        if options.json {
          let record = try await store.patiently { try await self.record(store, filter) }
          let line = JSONText.line(StatusLine(status: record))
          if line != last { Screen.out.line(line) }
          last = line
        } else if let size = Screen.out.size {
          var all: [String]
          do {
            all =
              try await Overview(store, filter, limits).lines(for: .out, width: size.columns - 1)
              + remarks(store).flatMap { $0.wrapped(to: size.columns - 1, lines: .max) }
          } catch let error as JobError where error.isPassing {
            all = ["Waiting for the store: \(error.message)".withVisibleControls.cut(to: size.columns - 1)]
          }
          // The end says how many there are, and who works.
          let room = max(size.rows - 1, 1)
          if resumption.take() { block.forget() }
          let entered = typed?.take() ?? []
          if entered.contains(where: { $0.trimmingCharacters(in: .whitespaces) == "q" }) { return }
          block.slide(by: entered.reduce(0) { $0 + max(1, ($1.columns + size.columns - 1) / size.columns) })
          if all.count < room { all.append(Screen.out.coloured("Ctrl-C, or q and Enter, ends this", .dim)) }
          let lines = all.count <= room ? all : Array(all.prefix(max(room - 3, 0)) + all.suffix(min(3, room)))
          Screen.out.write(Data(Screen.out.text(of: &block, lines, size: size).utf8))
        }
        // Times pass on a screen, and a signal may be lost.
        let timer = store.store.clock.schedule(after: .seconds(options.json ? 15 : 1)) { [gate] in gate.open() }
        await gate.pass()
        timer.cancel()
      }
    }

    /// The newest jobs, the newest last.
    private func record(_ store: OpenStore, _ filter: JobFilter) async throws -> StatusRecord {
      let counts = try await store.store.counts(where: filter)
      let jobs =
        all
        ? try await store.pages(filter, detail: .all) { $0 }
        : try await store.store.jobs(
          JobQuery(filter, detail: .all, order: .newestFirst, limit: limit ?? 20)
        ).reversed()
      let holders = try await store.workers(of: jobs)
      return StatusRecord(
        store: store.name, jobs: jobs.map { JobRecord($0, worker: holders[$0.id]) },
        counts: CountsRecord(counts: counts), paused: try await store.pausedQueues.sorted(),
        limits: try await store.limits(),
        constraints: try await store.constraints(), workers: try await workers(store).map { WorkerRecord($0) })
    }

    /// Of the queues that are asked about.
    private func workers(_ store: OpenStore) async throws -> [StoredWorker] {
      let queues = Set(filter.queue)
      return try await store.store.workers().filter { queues.isEmpty || !queues.isDisjoint(with: $0.queues) }
    }
  }

  /// A status in a stream.
  private struct StatusLine: Encodable {
    var event = "status"
    var status: StatusRecord
  }

  private struct StatusRecord: Encodable {
    var store: String
    var jobs: [JobRecord] = []
    var counts = CountsRecord()
    var paused: [String] = []
    var limits: [LimitRecord] = []
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
    /// The jobs that match, the oldest first, read a page at a time.
    func pages<T>(
      _ filter: JobFilter, detail: JobQuery.Detail, atMost most: Int = .max, _ make: (JobSnapshot) -> T
    ) async throws -> [T] {
      var all: [T] = []
      var query = JobQuery(filter, detail: detail, limit: min(500, most))
      repeat {
        let page = try await store.jobs(query)
        all += page.map(make)
        query.after = page.count < query.limit ? nil : page.last?.id
        query.limit = min(500, most - all.count)
      } while query.after != nil && query.limit > 0
      return all
    }
  }
#endif
