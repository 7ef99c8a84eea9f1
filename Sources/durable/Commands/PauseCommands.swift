#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "pause", abstract: "Start no more jobs of a queue, in any worker. Those that run go on.")

    @OptionGroup var queues: PausedArguments
    @Flag(help: "All queues that have jobs left to run, or a worker.") var all = false
    @OptionGroup var options: StoreOptions

    func run() async throws {
      try await queues.set(isPaused: true, options, all: all ? { Array(try await $0.queues) } : nil)
    }
  }

  struct UnpauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "unpause", abstract: "Start jobs of a queue again.")

    @OptionGroup var queues: PausedArguments
    @Flag(help: "All queues that are paused.") var all = false
    @OptionGroup var options: StoreOptions

    func run() async throws {
      try await queues.set(isPaused: false, options, all: all ? { Array(try await $0.pausedQueues) } : nil)
    }
  }

  /// The queues that are to be paused, or to go on.
  struct PausedArguments: ParsableArguments {
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("The queue (default: default); may be repeated.", valueName: "name"))
    var queue: [String] = []

    fileprivate func set(
      isPaused: Bool, _ options: StoreOptions, all: ((OpenStore) async throws -> [String])?
    ) async throws {
      if all != nil, !queue.isEmpty { throw ValidationError("--all and --queue exclude each other") }
      for name in queue { try NewJob.check(queue: name) }
      guard let store = try await all == nil ? options.open() : options.existing() else {
        return Talk.line("No queue is there yet")
      }
      let names = try await all?(store).sorted() ?? (queue.isEmpty ? ["default"] : queue)
      let before = all == nil ? try await store.pausedQueues : []
      try await store.store.configure(names.map { .queue($0, isPaused: isPaused) })
      for name in names {
        if options.json {
          Screen.out.json(PauseRecord(queue: name, paused: isPaused))
        } else {
          Screen.out.line("\(name.withVisibleControls) \(isPaused ? "paused" : "goes on")")
        }
      }
      guard all != nil else {
        for name in names where !isPaused && !before.contains(name) {
          Talk.line("The queue '\(name)' was not paused".withVisibleControls)
        }
        // Its name may have been mistyped; or its first job is still to come.
        for name in isPaused ? names : []
        where try await store.store.jobs(JobQuery(.queue(name), limit: 1)).isEmpty {
          Talk.line("No job is in the queue '\(name)' yet; those that come will wait".withVisibleControls)
        }
        return
      }
      let (count, isOne) = (names.count, names.count == 1)
      let done = isPaused ? "paused" : isOne ? "goes on" : "go on"
      Talk.line(
        count == 0 ? "No queue \(isPaused ? "has jobs" : "is paused")" : "\(count) queue\(isOne ? "" : "s") \(done)")
    }
  }

  private struct PauseRecord: Encodable {
    var queue: String
    var paused: Bool
  }

  extension OpenStore {
    /// Those that have jobs which have not ended, or a worker.
    fileprivate var queues: Set<String> {
      get async throws {
        var found = Set(try await store.workers().flatMap(\.queues))
        var last: JobID?
        // Each look finds others, and goes on where the one before has found the last.
        repeat {
          let others = JobFilter.states(Deed.unfinished) && !.queues(found)
          let jobs = try await store.jobs(JobQuery(others, detail: [], after: last, limit: 100))
          found.formUnion(jobs.map(\.queue))
          last = jobs.last?.id
        } while last != nil
        return found
      }
    }
  }
#endif
