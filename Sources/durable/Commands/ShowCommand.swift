#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import DurableJobsSchedules
  import Foundation

  struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show",
      abstract: "Show all about a job.",
      discussion: """
        Passwords in URLs, the values of the headers of downloads and requests and those of a command's variables are \
        stored, and shown as \(hiddenSecret), here as everywhere. The secrets that a request names are not stored.
        """)

    @Argument(help: ArgumentHelp("The job; without it, the last one.", valueName: "id")) var job: JobID?
    @Flag(help: "Show passwords and the values of headers and variables, too.") var secrets = false
    @OptionGroup var options: StoreOptions

    func run() async throws {
      let (store, id) = try await options.existing(for: job, else: .all, "job")
      let stored = try await store.store.job(id)
      let worker = try await store.workers(of: [stored])[id]
      let why = try await store.explain(id)
      let head = why?.job.waits?.laneHead
      if options.json {
        Screen.out.json(JobRecord(stored, worker: worker, head: head?.job, showsSecrets: secrets))
        return
      }
      let job = secrets ? stored : stored.withoutSecrets
      let screen = Screen.out
      screen.line(
        (Download(job)?.typed ?? ShellCommand(job)?.typed ?? SendRequest(job)?.typed ?? job.schedule?.title ?? job.kind)
          .withVisibleControls)
      for (name, value) in facts(job, worker, store) + (why.map { reasons($0.reasons, $0.job, store) } ?? []) {
        screen.line("  " + screen.coloured(name.padded(10), .dim) + " " + value.withVisibleControls)
      }
      for failure in job.failures {
        let text =
          "  " + screen.coloured("error".padded(10), .dim)
          + " \(failure.attempt == 0 ? "before its first attempt" : "attempt \(failure.attempt)"), \(failure.at.forPeople)"
          + ": "
        screen.line(text + failure.message.withLocalDeadline.withVisibleControls)
      }
    }

    /// What keeps it, with what helps.
    private func reasons(_ why: JobExplanation, _ job: JobSnapshot, _ store: OpenStore) -> [(String, String)] {
      why.reasons.compactMap { reason in
        let advice = reason.advice(for: job.id, in: store, queue: job.queue).map { "; \($0)" } ?? ""
        if let awaited = reason.awaited { return ("waits for", awaited + advice) }
        switch reason {
        case .running, .ended, .backOff, .putOff: return nil  // its state and its errors tell
        case .held: return ("waits for", "somebody to resume it" + advice)
        default: return ("waits", String(reason.cause(in: store).dropFirst("waits: ".count)) + advice)
        }
      }
    }

    private func facts(_ job: JobSnapshot, _ worker: StoredWorker?, _ store: OpenStore) -> [(String, String)] {
      var facts: [(String, String)] = [("job", "\(job.id)"), ("state", job.state.rawValue)]
      if let asked = job.stopAsked { facts[1].1 += ", being \(asked.rawValue)" }
      if let worker { facts.append(("worker", worker.standing.trouble(with: job) ?? "process \(worker.process)")) }
      if let reason = job.reason { facts.append(("reason", reason.withLocalDeadline)) }
      if let remains = store.remains(of: job) { facts.append(("lives", remains)) }
      let runs = store.folder(job.id).runs(of: job)
      let begun = runs.count { $0.attempt == job.attempt }
      facts.append(("attempt", "\(job.attempt) of \(job.maxAttempts)\(begun > 1 ? ", begun \(begun) times" : "")"))
      if job.crashes > 0 { facts.append(("crashes", "\(job.crashes)")) }
      facts.append(("queue", job.queue))
      if let key = job.key { facts.append(("key", key)) }
      if let lane = job.lane { facts.append(("lane", lane.name)) }
      if !job.requires.isEmpty {
        facts.append(("requires", job.requires.sorted().map(\.rawValue).joined(separator: ", ")))
      }
      if !job.edges.isEmpty { facts.append(("after", job.edges.map(\.forPeople).joined(separator: ", "))) }
      if !job.steps.isEmpty {
        let steps = job.steps.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
        facts.append(("steps", steps.joined(separator: ", ")))
      }
      if !job.tags.isEmpty { facts.append(("tags", job.tags.sorted().joined(separator: ", "))) }
      if job.priority != .normal { facts.append(("priority", "\(job.priority.rawValue)")) }
      if let timeout = job.timeout { facts.append(("timeout", timeout.forPeople)) }
      switch job.deadline {
      case .start(by: .at(let date)): facts.append(("start by", date.forPeople))
      case .end(by: .at(let date)): facts.append(("deadline", date.forPeople))
      default: break
      }
      if let command = ShellCommand(job) {
        facts.append(("folder", command.cwd.display))
        facts.append(("umask", command.umask))
        let variables = command.env.sorted { $0.key < $1.key }
        if secrets {
          for (name, value) in variables { facts.append(("env", "\(name)=\(value.shellQuoted)")) }
        } else if !variables.isEmpty {
          facts.append(("env", variables.map(\.key).joined(separator: ", ")))
        }
      } else if let download = Download(job) {
        facts.append(("url", download.url.absoluteString))
        facts.append(("folder", download.folder))
        if let sha256 = download.sha256 { facts.append(("sha256", sha256)) }
        if let size = download.size { facts.append(("size", size.asBytes)) }
      } else if let request = SendRequest(job) {
        facts += request.facts
      } else if let schedule = job.schedule {
        facts.append(("rule", schedule.recurrence.text))
        facts.append(("runs", schedule.template.title))
        facts.append(("catch-up", schedule.catchUp.rawValue))
        if let last = schedule.last { facts.append(("last", last.forPeople)) }
      } else {
        facts.append(("kind", job.kind))
        if let payload = job.payload { facts.append(("payload", String(decoding: payload, as: UTF8.self))) }
      }
      facts.append(("added", job.createdAt.forPeople))
      if let runAt = job.runAt { facts.append(("due", runAt.forPeople)) }
      if let startedAt = job.startedAt { facts.append(("started", startedAt.forPeople)) }
      if let finishedAt = job.finishedAt { facts.append(("ended", finishedAt.forPeople)) }
      // One that has succeeded shows what came of it.
      if let progress = job.progress, job.state != .succeeded {
        facts.append(("progress", "\(Int(progress.fraction * 100)) %\(progress.message.map { ", \($0)" } ?? "")"))
      }
      if let file = DownloadedFile(job) {
        facts.append(("file", "\(file.path), \(file.size.asBytes)\(file.wasThere ? ", was there already" : "")"))
      } else if let answer = HTTPAnswer(job) {
        facts.append(("answer", answer.title))
        facts += answer.headers.filter { $0.name != "Content-Type" }.map { ("", "\($0.name): \($0.value)") }
        if !answer.body.isEmpty { facts.append(("", answer.body.asExcerpt(1000))) }
      } else if let output = job.output {
        facts.append(("output", String(decoding: output, as: UTF8.self)))
      }
      if !runs.isEmpty { facts.append(("log", store.command("log \(job.id)"))) }
      return facts
    }
  }
#endif
