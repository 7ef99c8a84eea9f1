#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  struct LimitsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "limits",
      abstract: "Say how many jobs of a queue run at once, and how many begin in a time.",
      discussion: """
        A limit holds for all workers on the store together, whatever each has room for.

        durable limits set --queue uploads --running 4
        durable limits set --queue mail --rate 100/1m --burst 10
        """,
      subcommands: [List.self, Set.self, Clear.self], defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the queues that have limits.")

      @OptionGroup var options: StoreOptions

      func run() async throws {
        let limits = try await options.existing()?.limits() ?? []
        if options.json { return Screen.out.json(limits) }
        if limits.isEmpty { return Screen.out.line("no queue has limits") }
        let width = limits.map { $0.queue.withVisibleControls.columns }.max() ?? 0
        for limit in limits {
          let name = limit.queue.withVisibleControls.padded(width)
          Screen.out.line("\(name)  \(limit.words); \(limit.runningNow) running")
        }
      }
    }

    struct Set: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set the limits of a queue, in place of those that it has.")

      @Option(parsing: .unconditional, help: ArgumentHelp("The queue.", valueName: "name")) var queue = "default"
      @Option(
        parsing: .unconditional, help: ArgumentHelp("So many jobs of it run at once at most.", valueName: "number"))
      var running: Int?
      @Option(
        parsing: .unconditional,
        help: ArgumentHelp("So many begin in that time at most, as in 100/1m.", valueName: "number/time"))
      var rate: String?
      @Option(
        parsing: .unconditional,
        help: ArgumentHelp("So many of them begin at once after a rest (default: 1).", valueName: "number"))
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
        try await configure(queue, limits, options)
      }
    }

    struct Clear: AsyncParsableCommand {
      static let configuration = CommandConfiguration(commandName: "clear", abstract: "Lift the limits of a queue.")

      @Option(parsing: .unconditional, help: ArgumentHelp("The queue.", valueName: "name")) var queue = "default"
      @OptionGroup var options: StoreOptions

      func run() async throws { try await configure(queue, nil, options) }
    }

    private static func configure(_ queue: String, _ limits: JobLimits?, _ options: StoreOptions) async throws {
      let setting = StoreSetting.limits(queue: queue, limits)
      try setting.check()
      let store = try await options.open()
      try await store.store.configure([setting])
      let record = try await LimitRecord(queue, limits, store)
      if options.json { return Screen.out.json(record) }
      Screen.out.line("\(queue.withVisibleControls): \(limits == nil ? "no limits" : record.words)")
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

  /// The limits of a queue, and how many of its jobs run.
  struct LimitRecord: Encodable {
    var queue: String
    @OrNull var running: Int?
    /// So many in `period` seconds.
    @OrNull var rate: Int?
    @OrNull var period: Double?
    @OrNull var burst: Int?
    var runningNow: Int

    init(_ queue: String, _ limits: JobLimits?, _ store: OpenStore) async throws {
      self.queue = queue
      running = limits?.running
      rate = limits?.rate?.count
      period = limits?.rate.map { Double($0.period.milliseconds) / 1000 }
      burst = limits?.rate?.burst
      runningNow = try await store.store.counts(where: .queue(queue))[.running]
    }

    var words: String {
      let rate = rate.map { JobRate($0, per: .milliseconds(Int64((period ?? 1) * 1000)), burst: burst ?? 1) }
      return "\(JobLimits(running: running, rate: rate))"
    }
  }

  extension OpenStore {
    /// Of all queues that have any, by name.
    func limits() async throws -> [LimitRecord] {
      var all: [LimitRecord] = []
      for case .limits(let queue, let limits) in try await store.settings() {
        all.append(try await LimitRecord(queue, limits, self))
      }
      return all
    }
  }
#endif
