#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  struct EditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "edit",
      abstract: "Change jobs that do not run now: their priority and start; a command's words, folder and variables.",
      usage: "durable edit ID… [options] [-- CMD ARG…]",
      discussion: """
        What is not named stays as it was added. A job keeps its id, its place, and what waits for it. One that runs, or has \
        ended, is left as it is. --queue, --tag and so on say which jobs are meant; they are not changed.

        durable edit 7 -- rsync -a photos/ backup:photos
        durable edit 7 --cwd ../site --env TOKEN
        durable edit 3-7 --priority 10 --delay 0
        durable edit --tag photos --at 18:30
        """)

    @OptionGroup var selection: JobSelection
    @OptionGroup var consent: Consent
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

    func run() async throws {
      try selection.check()
      let start = try StartArgument.parse(delay: delay, at: at)
      let edit = try CommandEdit(CommandWords.typed ?? [], place)
      let changes = [priority.map { JobChange.setPriority(JobPriority(rawValue: $0)) }, start.map { .setStart($0) }]
        .compactMap(\.self)
      guard edit != nil || !changes.isEmpty else {
        throw ValidationError(
          "what is to be changed? As in: durable edit 7 -- sleep 10, or: durable edit 7 --cwd FOLDER")
      }
      let named = selection.ids.map(\.ids.lowerBound)
      guard let store = try await selection.isByName ? options.existing(for: named) : options.existing() else {
        return report([], [:], Refusals(), none: JobSelection.noneMatches)
      }
      let states = Deed.unfinished.subtracting([.running])
      let ids = try await selection.jobs(in: store, states: states)
      try selection.ask("Change", ids.count, consent)
      let filter = selection.isByName ? JobFilter.all : try await selection.filter(in: store, states: states)
      var changed: [JobID] = []
      var jobs: [JobID: JobSnapshot] = [:]
      var refusals = Refusals()
      for page in ids.pages(of: 400) {
        var left = Array(page)
        if let edit { left = try await edit.apply(to: left, filter, in: store, &refusals) }
        for change in changes {
          var answer = try await store.store.change(change, left, where: filter && !.state(.running))
          if selection.isByName {
            answer.refused += try await Self.running(among: left, besides: answer, in: store)
            refusals.noteMissing(left, answer)
          }
          refusals.refused += answer.refused
          left = answer.changed
        }
        changed += left
        jobs.merge(try await store.store.jobs(left, detail: .all)) { $1 }
      }
      var none = JobSelection.noneMatches
      if ids.isEmpty { none = try await selection.wordsForNone("waiting job", Refusals.waysBack, in: store) }
      report(changed, jobs, refusals, none: none)
      if let code = refusals.exitCode { throw code }
    }

    /// Of the named jobs of which there is no answer, those that run.
    private static func running(
      among ids: [JobID], besides answer: ChangeReport, in store: OpenStore
    ) async throws -> [ChangeReport.Refusal] {
      let left = Set(ids).subtracting(answer.changed + answer.refused.map(\.job))
      guard !left.isEmpty else { return [] }
      return try await store.store.jobs(JobQuery(.ids(left), detail: [], limit: left.count)).map {
        ChangeReport.Refusal(job: $0.id, message: "is running; what runs is left as it is")
      }
    }

    private func report(_ changed: [JobID], _ jobs: [JobID: JobSnapshot], _ refusals: Refusals, none: String) {
      let isOne = selection.isByName && selection.ids.count == 1
      refusals.tell()
      for job in changed.compactMap({ jobs[$0] }) {
        if options.json {
          Screen.out.json(JobRecord(job, inStream: !isOne))
        } else {
          Screen.out.line("\(job.id) \(ShellCommand(job.withoutSecrets)?.typed ?? job.kind)".withVisibleControls)
        }
      }
      guard !selection.isByName else { return }
      Refusals.tellCounts([(changed.count, "changed"), (refusals.refused.count, "refused")], none: none)
    }
  }

  /// What of a command becomes another.
  private struct CommandEdit {
    private let given: ShellCommand?
    private let folder: SystemText?
    private let variables: [String: SystemText]
    private let hasAllVariables: Bool

    /// Nil if nothing does.
    init?(_ words: [SystemText], _ place: CommandArguments) throws {
      if words.isEmpty, place.shell { throw ValidationError("--shell goes with a command, which stands after '--'") }
      given = words.isEmpty ? nil : try place.command(words)
      folder = place.cwd == nil ? nil : try place.folder()
      variables = try place.environment(with: [:])
      hasAllVariables = place.envAll
      guard given != nil || folder != nil || !variables.isEmpty else { return nil }
    }

    /// Answers which have changed.
    func apply(
      to ids: [JobID], _ filter: JobFilter, in store: OpenStore, _ refusals: inout Refusals
    ) async throws -> [JobID] {
      // Another that reads now would write over what this writes.
      let lock = Self.lockEdits(beside: store.path)
      defer { close(lock) }
      let jobs = try await store.store.jobs(ids, detail: .payload)
      var changed: [JobID] = []
      for id in ids {
        guard let job = jobs[id] else {
          refusals.missing.append(id)
          continue
        }
        guard let command = ShellCommand(job) else {
          refusals.refused.append(
            .init(job: id, message: "is no command: only its priority and its start can be changed"))
          continue
        }
        let payload = try JSONEncoder.ofPayloads.encode(edited(command))
        let answer = try await store.store.change(.replacePayload(payload), [id], where: filter)
        changed += answer.changed
        refusals.refused += answer.refused
        refusals.noteMissing([id], answer)  // it may have been removed since it was read
      }
      return changed
    }

    /// Waits until this process alone on this machine edits commands of the store, until it closes what this returns. Where
    /// nothing can be written beside the store, it returns -1, and others may edit at the same time.
    private static func lockEdits(beside store: String) -> Int32 {
      let folder = JobFolder.all(of: store)
      mkdir(folder, 0o700)
      let file = open(folder + "/edits", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard file >= 0, flock(file, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR else { return file }
      let why = "Another 'durable edit' of this store is at work; it is waited for"
      Talk.whileWaiting(longerThan: .seconds(1), why) { while flock(file, LOCK_EX) != 0, errno == EINTR {} }
      return file
    }

    private func edited(_ command: ShellCommand) -> ShellCommand {
      var command = command
      if let given { (command.arguments, command.shell) = (given.arguments, given.shell) }
      if let folder { command.cwd = folder }
      command.env = hasAllVariables ? variables : command.env.merging(variables) { $1 }
      return command
    }
  }
#endif
