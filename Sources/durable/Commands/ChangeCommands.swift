#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  /// Does `change` to each of `ids`, says what became of it, and goes on where one is refused.
  private func apply(_ change: JobChange, to ids: [JobID], _ options: StoreOptions, done: String) async throws {
    let store = try options.existing(for: ids)
    var changed: [JobID] = []
    var words: [JobID: String] = [:]
    var worst: ExitStatus?
    for id in ids {
      do {
        try await store.store.change(change, id)
        switch change {
        case .cancel, .suspend: try await store.endRemains(of: id)
        case .remove:
          try await store.endRemains(of: id, letting: ObstacleReport.lastWords)
          // A command that can't be ended keeps it, until a worker finds that it has.
          if !store.folder(id).removeIfFree() { Talk.line("Job \(id): its logs go when its command has ended") }
        default: break
        }
        changed.append(id)
        guard let (job, why) = try await store.explain(id) else { continue }
        if job.stopAsked != nil { words[id] = "runs; it is asked to stop" }
        // What was resumed or retried may have others before it still.
        if job.state == .blocked, let first = why.reasons.first(where: { $0.awaited != nil }) {
          words[id] = first.cause(in: store)
        }
      } catch let error as JobError where error.code == .notFound || error.code == .wrongState {
        Talk.error(error.message)
        worst = error.code == .notFound ? .noSuchJob : worst ?? .usage
      }
    }
    report(changed, options) { words[$0] ?? done }
    if let worst { throw ExitCode(worst) }
  }

  private func report(_ changed: [JobID], _ options: StoreOptions, done: (JobID) -> String) {
    if options.json {
      Screen.out.json(ChangeRecord(changed: changed))
    } else {
      for id in changed { Screen.out.line("\(id) \(done(id))") }
    }
  }

  private struct ChangeRecord: Encodable {
    var changed: [JobID]
  }

  struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "retry", abstract: "Run jobs again; without ids, all that failed.",
      discussion: "One that waits for a time, or is suspended, runs at once.")

    @Argument(help: ArgumentHelp("The jobs.", valueName: "id")) var ids: [JobID] = []
    @OptionGroup var options: StoreOptions

    func run() async throws {
      guard ids.isEmpty else {
        try await apply(.retry, to: ids, options, done: "will run again")
        return
      }
      let store = try options.existing()
      let changed = try await store?.store.changeAll(.retry, where: .state(.failed)) ?? []
      let left = try await store?.store.jobs(JobQuery(.state(.failed), limit: 1)).first
      let blocked =
        try await store?.store.jobs(JobQuery(.ids(changed) && .state(.blocked), limit: .max)).map(\.id) ?? []
      if let left {
        Talk.line("Not all of them can run again; 'durable retry \(left.id)' says why for one")
      } else if changed.isEmpty {
        Talk.line("No job has failed")
      }
      report(changed, options) {
        blocked.contains($0) ? "waits for others; 'durable explain \($0)' says for which" : "will run again"
      }
    }
  }

  struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "cancel", abstract: "End jobs; those that run are interrupted.")

    @Argument(help: ArgumentHelp("The jobs.", valueName: "id")) var ids: [JobID]
    @Option(parsing: .unconditional, help: ArgumentHelp("Why; kept with the job.", valueName: "text")) var reason:
      String?
    @OptionGroup var options: StoreOptions

    func run() async throws {
      try await apply(.cancel(reason: reason?.cutToMessage), to: ids, options, done: "cancelled")
    }
  }

  struct SuspendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "suspend", abstract: "Hold jobs until they are resumed; those that run are interrupted.")

    @Argument(help: ArgumentHelp("The jobs.", valueName: "id")) var ids: [JobID]
    @Option(parsing: .unconditional, help: ArgumentHelp("Why; kept with the job.", valueName: "text")) var reason:
      String?
    @OptionGroup var options: StoreOptions

    func run() async throws {
      try await apply(.suspend(reason: reason?.cutToMessage), to: ids, options, done: "suspended")
    }
  }

  struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Let suspended jobs run again.")

    @Argument(help: ArgumentHelp("The jobs.", valueName: "id")) var ids: [JobID]
    @OptionGroup var options: StoreOptions

    func run() async throws { try await apply(.resume, to: ids, options, done: "resumed") }
  }

  struct CompleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "complete", abstract: "End an unfinished job with success, from outside.")

    @Argument(help: ArgumentHelp("The jobs.", valueName: "id")) var ids: [JobID]
    @Option(parsing: .unconditional, help: ArgumentHelp("What it is to have put out.", valueName: "json")) var output:
      String?
    @OptionGroup var options: StoreOptions

    func validate() throws {
      guard let output, !StoredJSON.isJSON(Data(output.utf8)) else { return }
      throw ValidationError("--output is no JSON. Text needs quotes: --output '\"done\"'")
    }

    func run() async throws {
      try await apply(.complete(output: output.map { Data($0.utf8) }), to: ids, options, done: "succeeded")
    }
  }

  struct FailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "fail", abstract: "End an unfinished job with failure, from outside.")

    @Argument(help: ArgumentHelp("The jobs.", valueName: "id")) var ids: [JobID]
    @Option(parsing: .unconditional, help: ArgumentHelp("What went wrong; kept with the job.", valueName: "text"))
    var message = "failed by hand"
    @OptionGroup var options: StoreOptions

    func run() async throws {
      try await apply(.fail(message: message.cutToMessage), to: ids, options, done: "failed")
    }
  }

  struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Delete jobs that do not run, with their logs.")

    @Argument(help: ArgumentHelp("The jobs.", valueName: "id")) var ids: [JobID]
    @OptionGroup var options: StoreOptions

    func run() async throws { try await apply(.remove, to: ids, options, done: "removed") }
  }
#endif
