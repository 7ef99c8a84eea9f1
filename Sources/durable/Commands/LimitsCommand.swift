#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  struct LimitsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "limits",
      abstract: "Limit how many jobs of a queue run at once, and how many begin in a given time.",
      discussion: """
        A limit holds for all workers on the store together, whatever each has room for.

        durable limits set --queue uploads --running 4
        durable limits set --queue mail --rate 100/1m --burst 10
        durable limits set --lane customer-7 --rate 10/1m
        """,
      subcommands: [List.self, Set.self, Clear.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the queues and lanes that have limits.")

      @OptionGroup var options: StoreOptions

      func run() async throws {
        let limits = try await options.existing()?.limits() ?? []
        if options.json { return Screen.out.json(limits) }
        if limits.isEmpty { return Screen.out.line("no queue has limits") }
        let width = limits.map(\.name.columns).max() ?? 0
        for limit in limits {
          Screen.out.line("\(limit.name.padded(width))  \(limit.words); \(limit.runningNow) running")
        }
      }
    }

    struct Set: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set the limits of a queue or a lane, in place of those that it has.")

      @OptionGroup var limited: LimitedArguments
      @Option(
        parsing: .unconditional, help: ArgumentHelp("At most so many of its jobs run at once.", valueName: "number"))
      var running: Int?
      @Option(
        parsing: .unconditional,
        help: ArgumentHelp("At most so many begin in a time, as in 100/1m.", valueName: "number/time"))
      var rate: String?
      @Option(
        parsing: .unconditional,
        help: ArgumentHelp("How many of them may begin at once after a rest (default: 1).", valueName: "number"))
      var burst: Int?
      @OptionGroup var options: StoreOptions

      func run() async throws {
        if burst != nil, rate == nil { throw ValidationError("--burst belongs to --rate, which is not given") }
        if running == nil, rate == nil {
          throw ValidationError("name a limit: --running N, --rate N/TIME, or both. 'limits clear' lifts them")
        }
        if let running, running < 1 { throw ValidationError("--running is \(running); it must be at least 1") }
        if let burst, burst < 1 { throw ValidationError("--burst is \(burst); it must be at least 1") }
        let limits = JobLimits(running: running, rate: try rate.map { try RateArgument.parse($0, burst: burst ?? 1) })
        if limited.lane != nil, running != nil, rate != nil {
          throw ValidationError("a lane has a width, --running, or a rate, and not both")
        }
        try await limited.configure(limits, options)
      }
    }

    struct Clear: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "clear", abstract: "Lift the limits of a queue or a lane.")

      @OptionGroup var limited: LimitedArguments
      @OptionGroup var options: StoreOptions

      func run() async throws { try await limited.configure(nil, options) }
    }
  }

  /// What is limited.
  struct LimitedArguments: ParsableArguments {
    @Option(parsing: .unconditional, help: ArgumentHelp("The queue (default: default).", valueName: "name"))
    var queue: String?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("The lane, whose jobs run one at a time unless --running says otherwise.", valueName: "name"))
    var lane: String?

    func validate() throws {
      if queue != nil, lane != nil { throw ValidationError("--queue and --lane exclude each other") }
    }

    func configure(_ limits: JobLimits?, _ options: StoreOptions) async throws {
      let settings: [StoreSetting] =
        if let lane {
          // A width and a rate exclude each other. A rate that is replaced goes on where it was.
          limits?.rate.map { [.lane(lane, width: 1), .laneRate(lane, $0)] }
            ?? [.laneRate(lane, nil), .lane(lane, width: limits?.running ?? 1)]
        } else {
          [.limits(queue: queue ?? "default", limits)]
        }
      for setting in settings { try setting.check() }
      let store = try await options.open()
      let replaced = try await replaced(by: limits, in: store)
      try await store.store.configure(settings)
      let record = try await LimitRecord(lane.map { .lane($0) } ?? .queue(queue ?? "default"), limits, store)
      if options.json { return Screen.out.json(record) }
      Screen.out.line("\(record.name): \(limits == nil ? "no limits" : record.words)\(replaced)")
    }

    /// What goes of a lane though nobody said so: its width or its rate, as it has one of them.
    private func replaced(by limits: JobLimits?, in store: OpenStore) async throws -> String {
      guard let limits, let lane else { return "" }
      for setting in try await store.store.settings() {
        switch setting {
        case .lane(let name, let width) where name == lane && limits.rate != nil:
          return ", instead of \(JobLimits(running: width))"
        case .laneRate(let name, let rate) where name == lane && limits.rate == nil:
          return ", instead of \(JobLimits(rate: rate))"
        default: break
        }
      }
      return ""
    }
  }

  /// A rate as one types it: `100/1m`.
  enum RateArgument {
    static func parse(_ text: String, burst: Int) throws -> JobRate {
      let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, let count = Int(parts[0]) else {
        throw ValidationError("'\(text)' is no rate. Write how many in what time, as in 100/1m or 5/1s")
      }
      guard count >= 1 else { throw ValidationError("--rate is \(text); the number must be at least 1") }
      // As a time, `m` is a minute.
      let unit = parts[1].first?.isLetter ?? false ? "1" + parts[1] : parts[1]
      let period = try DurationArgument.parse(unit).duration
      guard period > .zero else { throw ValidationError("--rate is \(text); the time must be more than 0") }
      return JobRate(count, per: period, burst: burst)
    }
  }

  /// The limits of a queue or a lane, and how many of its jobs run.
  struct LimitRecord: Encodable {
    enum Subject { case queue(String), lane(String) }

    @OrNull var queue: String?
    @OrNull var lane: String?
    @OrNull var running: Int?
    /// So many in `period` seconds.
    @OrNull var rate: Int?
    @OrNull var period: Double?
    @OrNull var burst: Int?
    var runningNow: Int

    init(_ subject: Subject, _ limits: JobLimits?, _ store: OpenStore) async throws {
      let filter: JobFilter
      switch subject {
      case .queue(let name): (queue, lane, filter) = (name, nil, .queue(name))
      case .lane(let name): (queue, lane, filter) = (nil, name, .lane(name) && .state(.running))
      }
      running = limits?.running
      rate = limits?.rate?.count
      period = limits?.rate.map { Double($0.period.milliseconds) / 1000 }
      burst = limits?.rate?.burst
      runningNow = try await store.store.counts(where: filter)[.running]
    }

    /// For people.
    var name: String { (queue ?? "lane \(lane ?? "")").withVisibleControls }

    var words: String {
      let rate = rate.map { JobRate($0, per: .milliseconds(Int64((period ?? 1) * 1000)), burst: burst ?? 1) }
      return "\(JobLimits(running: running, rate: rate))"
    }
  }

  extension OpenStore {
    /// Of all queues that have any, by name, and of lanes.
    func limits() async throws -> [LimitRecord] {
      var all: [LimitRecord] = []
      for setting in try await store.settings() {
        switch setting {
        case .limits(let queue, let limits): all.append(try await LimitRecord(.queue(queue), limits, self))
        case .lane(let lane, let width):
          all.append(try await LimitRecord(.lane(lane), JobLimits(running: width), self))
        case .laneRate(let lane, let rate): all.append(try await LimitRecord(.lane(lane), JobLimits(rate: rate), self))
        default: break
        }
      }
      return all
    }
  }
#endif
