#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "wait",
      abstract: "Wait until jobs have ended, or until nothing is left to do.",
      discussion: """
        With ids, until these jobs have ended; exits with 1 if one of them did not succeed. Without, until a queue is idle: \
        no worker that lives can do anything more now.
        """)

    @Argument(help: ArgumentHelp("The jobs.", valueName: "id")) var ids: [JobID] = []
    @Option(help: ArgumentHelp("Give up after this time: 90, 90s, 5m, 2h, 1d. Exits with 4.", valueName: "time"))
    var timeout: String?
    @Option(help: ArgumentHelp("Without ids: the queue.", valueName: "name")) var queue = "default"
    @OptionGroup var options: StoreOptions

    func run() async throws {
      let limit = try timeout.map { try DurationArgument.parse($0).duration }
      guard let store = ids.isEmpty ? try options.existing() : try options.existing(for: ids) else { return }
      for id in ids { _ = try await store.store.job(id, detail: []) }
      let didEnd = try await Self.within(limit) { [ids, queue] in
        for id in ids { _ = try await store.store.whenFinished(id) }
        if ids.isEmpty {
          let left = try await store.queue(queue).waitUntilIdle()
          if left.unfinished > 0 { Talk.line("Idle, with \(left.unfinishedForPeople) left") }
        }
      }
      guard didEnd else {
        Talk.line("Still not done after \(timeout ?? "")")
        throw ExitCode(.timedOut)
      }
      try await report(store)
    }

    private func report(_ store: OpenStore) async throws {
      var jobs: [JobSnapshot] = []
      for id in ids { jobs.append(try await store.store.job(id)) }
      if options.json {
        Screen.out.line(JSONText.array(jobs.map { JSONText($0) }).text)
      } else {
        JobTable(jobs: jobs).write(to: .out)
      }
      if jobs.contains(where: { $0.state != .succeeded }) { throw ExitCode(.jobFailed) }
    }

    /// Answers whether `work` ended before `limit`.
    private static func within(_ limit: Duration?, _ work: @escaping @Sendable () async throws -> Void) async throws
      -> Bool
    {
      try await withThrowingTaskGroup(of: Bool.self) { group in
        group.addTask {
          try await work()
          return true
        }
        if let limit {
          group.addTask {
            try await Task.sleep(for: limit)
            return false
          }
        }
        defer { group.cancelAll() }
        return try await group.next()!
      }
    }
  }

  extension JobCounts {
    fileprivate var unfinishedForPeople: String {
      JobCounts(
        Dictionary(uniqueKeysWithValues: JobState.allCases.filter { !$0.isFinished }.map { ($0, self[$0]) })
      ).forPeople
    }
  }
#endif
