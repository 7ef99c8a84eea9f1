#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "edit",
      abstract:
        "Change a job that does not run now: when and before whom it starts; a command's words, folder, variables.",
      usage: "durable edit ID [options] [-- CMD ARG…]",
      discussion: """
        What is not named stays as it was added. A job keeps its id, its place, and what waits for it. One that runs, or has \
        ended, is left as it is.

        durable edit 7 -- rsync -a photos/ backup:photos
        durable edit 7 --cwd ../site --env TOKEN
        durable edit 7 --priority 10 --delay 0
        """)

    @Argument(help: ArgumentHelp("The job.", valueName: "id")) var id: JobID
    @OptionGroup var place: CommandArguments
    @Option(parsing: .unconditional, help: ArgumentHelp("Higher goes first.", valueName: "number")) var priority: Int?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Start it so long from now: 90s, 5m, 2h; 0 for at once.", valueName: "time"))
    var delay: String?
    @Option(
      parsing: .unconditional, help: ArgumentHelp("Start it at this time: 18:30, 2026-12-24T18:00.", valueName: "date"))
    var at: String?
    @OptionGroup var options: StoreOptions
    @Argument(parsing: .postTerminator, help: ArgumentHelp("What it is to run.", valueName: "cmd"))
    var command: [String] = []

    func validate() throws { _ = try StartArgument.parse(delay: delay, at: at) }

    private func checkSomethingIsGiven() throws {
      guard !changesCommand, priority == nil, delay == nil, at == nil else { return }
      throw ValidationError(
        "what is to be changed? As in: durable edit \(id) -- sleep 10, or: durable edit \(id) --cwd FOLDER")
    }

    private var changesCommand: Bool {
      !command.isEmpty || place.cwd != nil || !place.env.isEmpty || place.envAll || place.shell
    }

    func run() async throws {
      let start = try StartArgument.parse(delay: delay, at: at)
      try checkSomethingIsGiven()
      let store = try await options.existing(for: [id])
      if changesCommand { try await editCommand(in: store) }
      if let priority { try await store.store.change(.setPriority(JobPriority(rawValue: priority)), id) }
      if let start { try await store.store.change(.setStart(start), id) }
      let job = try await store.store.job(id)
      if options.json { return Screen.out.json(JobRecord(job)) }
      Screen.out.line("\(id) \(ShellCommand(job.withoutSecrets)?.typed ?? job.kind)".withVisibleControls)
    }

    private func editCommand(in store: OpenStore) async throws {
      let words = SystemText.lastArguments(command.count)
      let (named, given) = (try place.named(), command.isEmpty ? nil : try place.command(words))
      let folder = place.cwd == nil ? nil : try place.folder()
      let job = try await store.store.job(id)
      guard var edited = ShellCommand(job) else {
        throw JobError(.wrongState, "job \(id) is no command; only commands can be edited")
      }
      if let given {
        edited.arguments = given.arguments
        edited.shell = place.shell
      } else if place.shell {
        throw ValidationError("--shell is of a command; give it with one")
      }
      if let folder { edited.cwd = folder }
      if place.envAll { edited.env = SystemText.wholeEnvironment }
      edited.env.merge(named) { $1 }
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      try await store.store.change(.replacePayload(try encoder.encode(edited)), id)
    }
  }
#endif
