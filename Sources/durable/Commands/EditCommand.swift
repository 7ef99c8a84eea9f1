#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "edit",
      abstract: "Change a command that does not run now: its words, its folder, its variables.",
      usage: "durable edit ID [options] [-- CMD ARG…]",
      discussion: """
        What is not named stays as it was added. A job keeps its id, its place, and what waits for it. One that runs, or has \
        ended, is left as it is.

        durable edit 7 -- rsync -a photos/ backup:photos
        durable edit 7 --cwd ../site --env TOKEN
        """)

    @Argument(help: ArgumentHelp("The job.", valueName: "id")) var id: JobID
    @OptionGroup var place: CommandArguments
    @OptionGroup var options: StoreOptions
    @Argument(parsing: .postTerminator, help: ArgumentHelp("What it is to run.", valueName: "cmd"))
    var command: [String] = []

    func validate() throws {
      guard command.isEmpty, place.cwd == nil, place.env.isEmpty, !place.envAll, !place.shell else { return }
      throw ValidationError(
        "what is to be changed? As in: durable edit \(id) -- sleep 10, or: durable edit \(id) --cwd FOLDER")
    }

    func run() async throws {
      let words = SystemText.lastArguments(command.count)
      let (named, given) = (try place.named(), command.isEmpty ? nil : try place.command(words))
      let folder = place.cwd == nil ? nil : try place.folder()
      let store = try options.existing(for: [id])
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
      if options.json {
        Screen.out.json(JobRecord(try await store.store.job(id)))
      } else {
        Screen.out.line("\(id) \(edited.withoutSecrets.typed)".withVisibleControls)
      }
    }
  }
#endif
