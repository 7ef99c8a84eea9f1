#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  struct RetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "retry", abstract: "Run jobs again; without any, all that failed.",
      discussion: "One that waits for a time, or is suspended, runs at once if it is named.")

    @OptionGroup var selection: JobSelection
    @OptionGroup(visibility: .hidden) var consent: Consent
    @OptionGroup var options: StoreOptions

    func run() async throws {
      var selection = selection
      selection.all = selection.all || selection.isEmpty
      try await Deed(
        change: .retry, verb: "Retry", done: "will run again", states: [.failed], wanted: "failed job", asks: false
      ).run(selection, consent, options)
    }
  }

  struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "cancel", abstract: "End jobs; those that run are interrupted.",
      discussion: "durable cancel 3-7, durable cancel --tag photos, durable cancel --all --queue nightly")

    @OptionGroup var selection: JobSelection
    @OptionGroup var consent: Consent
    @Option(parsing: .unconditional, help: ArgumentHelp("Why; kept with the job.", valueName: "text")) var reason:
      String?
    @OptionGroup var options: StoreOptions

    func validate() throws { try selection.check() }

    func run() async throws {
      try await Deed(
        change: .cancel(reason: reason?.cutToMessage), verb: "Cancel", done: "cancelled", states: Deed.unfinished
      ).run(selection, consent, options)
    }
  }

  struct SuspendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "suspend", abstract: "Hold jobs until they are resumed; those that run are interrupted.")

    @OptionGroup var selection: JobSelection
    @OptionGroup var consent: Consent
    @Option(parsing: .unconditional, help: ArgumentHelp("Why; kept with the job.", valueName: "text")) var reason:
      String?
    @OptionGroup var options: StoreOptions

    func validate() throws { try selection.check() }

    func run() async throws {
      try await Deed(
        change: .suspend(reason: reason?.cutToMessage), verb: "Suspend", done: "suspended",
        states: Deed.unfinished, spares: { $0.state == .suspended && $0.heldBy != .handler },
        wanted: "running or waiting job"
      ).run(selection, consent, options)
    }
  }

  struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Let suspended jobs run again.")

    @OptionGroup var selection: JobSelection
    @OptionGroup(visibility: .hidden) var consent: Consent
    @OptionGroup var options: StoreOptions

    func validate() throws { try selection.check() }

    func run() async throws {
      try await Deed(
        change: .resume, verb: "Resume", done: "resumed", states: [.suspended], wanted: "suspended job", asks: false
      ).run(selection, consent, options)
    }
  }

  struct CompleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "complete", abstract: "End unfinished jobs with success, from outside.")

    @OptionGroup var selection: JobSelection
    @OptionGroup var consent: Consent
    @Option(parsing: .unconditional, help: ArgumentHelp("What it is to have put out.", valueName: "json")) var output:
      String?
    @OptionGroup var options: StoreOptions

    func validate() throws {
      try selection.check()
      guard let output else { return }
      guard JSONGrammar(output.utf8) != nil else {
        throw ValidationError("--output is no JSON. Text needs quotes: --output '\"done\"'")
      }
    }

    func run() async throws {
      let change = JobChange.complete(output: output.map { Data($0.utf8) })
      try await Deed(change: change, verb: "Complete", done: "succeeded", states: Deed.unfinished)
        .run(selection, consent, options)
    }
  }

  struct FailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "fail", abstract: "End unfinished jobs with failure, from outside.")

    @OptionGroup var selection: JobSelection
    @OptionGroup var consent: Consent
    @Option(parsing: .unconditional, help: ArgumentHelp("What went wrong; kept with the job.", valueName: "text"))
    var message = "failed by hand"
    @OptionGroup var options: StoreOptions

    func validate() throws { try selection.check() }

    func run() async throws {
      try await Deed(
        change: .fail(message: message.cutToMessage), verb: "Fail", done: "failed", states: Deed.unfinished
      ).run(selection, consent, options)
    }
  }

  struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Delete jobs that do not run, with their logs.",
      discussion: "What has ended is deleted by itself later; 'durable prune' does that now.")

    @OptionGroup var selection: JobSelection
    @OptionGroup var consent: Consent
    @OptionGroup var options: StoreOptions

    func validate() throws { try selection.check() }

    func run() async throws {
      let states = Set(JobState.allCases).subtracting([.running])
      try await Deed(
        change: .remove, verb: "Delete", done: "removed", states: states, wanted: "job that does not run"
      ).run(selection, consent, options)
    }
  }
#endif
