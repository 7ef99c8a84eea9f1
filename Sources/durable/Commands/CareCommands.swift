#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsSQLite
  import Foundation

  struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check", abstract: "Check a store for damage and contradictions, and mend these if asked to.",
      discussion: """
        Exits with 0 if the store is whole or all was put right, and else with 5. A job that lost what it does, or what it waits \
        for, can't be put right: mending suspends it, and 'durable show' says why. Of a store on a server, only the contents \
        are checked, not its files: pg_amcheck does that.
        """)

    @Flag(help: "Mend what contradicts the jobs. Others wait meanwhile.") var mend = false
    @OptionGroup var options: StoreOptions

    func run() async throws {
      guard let store = try await options.existing() else {
        throw JobError(.unusableFile, "nothing to check: \(try options.missing)")
      }
      let findings = try await store.store.check(mending: mend)
      if options.json {
        Screen.out.json(
          findings.map {
            FindingRecord(subject: "\($0.subject)", count: $0.count, details: $0.details, mended: $0.isMended)
          })
      } else {
        for finding in findings {
          Screen.out.line("\(finding)\(mend ? ": \(outcome(of: finding))" : "")".withVisibleControls)
        }
        if findings.isEmpty { Screen.out.line(try await verdict(on: store).withVisibleControls) }
      }
      if !findings.allSatisfy(\.isMended) { throw ExitCode(.storeNotUsable) }
    }

    /// What was looked at, where nothing is wrong.
    private func verdict(on store: OpenStore) async throws -> String {
      let jobs = try await store.store.counts(where: .all).total.jobs
      let beside = "what is kept beside jobs (waits, lanes, batches, keys, tags, deadlines, counts)"
      return
        "\(store.name) is whole. Checked: its \(jobs), \(beside)\(store.isOnServer ? "" : ", and the file's pages and indices")"
    }

    private func outcome(of finding: StoreFinding) -> String {
      switch finding.subject {
      case _ where finding.isMended: "put right"
      case .damaged: "suspended, as a part of each is lost"
      case .file: "not put right; 'durable repair' saves what can be read into a new file"
      default: "not put right"
      }
    }
  }

  struct RepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "repair", abstract: "Save what can be read of a damaged store into a new file.",
      discussion: """
        The old file stays as it is. First end all programs that use it; commands that have outlived their worker are \
        ended. The logs of commands and the bodies of requests, which are in files beside it, are copied too. What can't be \
        known is held: a job that lost a part is suspended, a queue whose settings are lost is paused, a batch that lost jobs \
        is open. Exits with 0 if all was saved, and else with 5.
        """)

    @Argument(help: ArgumentHelp("The new file.", valueName: "path"), completion: .file()) var path: String
    @OptionGroup var options: StoreOptions

    func run() async throws {
      let damaged = try options.place.file(
        instead:
          "There `durable check --mend` puts right what contradicts the jobs; a damaged database is put back from a backup, with pg_restore"
      )
      let (source, target) = (try StorePlace.resolved(damaged), try StorePlace.resolved(path))
      if let folder = BesideStore.folders(of: target).first {
        throw JobError(
          .unusableFile,
          "there is something at \(folder) already, where the logs or bodies of the new store would be; name another file"
        )
      }
      // All in the new file runs at once: nothing of it may be left of the old one.
      try BesideStore.checkThatNobodyIsAt(source, "Nothing was saved yet")
      try await BesideStore.endCommands(beside: source, "Nothing was saved yet")
      let salvage = try await Self.salvage(damaged, path)
      var refusal: JobError?
      do {
        try BesideStore.copy(from: source, to: target)
      } catch let error as JobError {
        refusal = error
      }
      if options.json {
        Screen.out.json(
          SalvageRecord(
            jobs: salvage.jobs, damaged: salvage.damaged.map(\.rawValue), lost: salvage.lost.map(\.rawValue),
            cutTables: salvage.cutTables, paused: salvage.paused, opened: salvage.opened.map(\.rawValue)))
      } else {
        Screen.out.line("\(salvage.jobs.jobs) whole in \(path.withVisibleControls)")
        if !salvage.damaged.isEmpty {
          Talk.line(
            "\(salvage.damaged.count.jobs) saved in part, and suspended if unfinished; 'durable show' has what is left: "
              + some(salvage.damaged))
        }
        if !salvage.lost.isEmpty {
          Talk.line("\(salvage.lost.count.jobs) lost, whose rows can't be read: \(some(salvage.lost))")
        }
        if !salvage.cutTables.isEmpty {
          let tables = salvage.cutTables.map { table in "\(table)\(Self.contents[table].map { " (\($0))" } ?? "")" }
          Talk.line("These tables could not be read to their end: \(tables.joined(separator: ", "))")
        }
        if !salvage.paused.isEmpty {
          let names = salvage.paused.joined(separator: ", ").withVisibleControls
          Talk.line(
            "Queues whose settings are lost are paused, and without limits: \(names). See 'durable limits' and 'durable unpause'"
          )
        }
        if !salvage.opened.isEmpty {
          let batches = salvage.opened.map { "\($0.rawValue)" }.joined(separator: ", ")
          Talk.line(
            "Batches that lost jobs are open, and nothing follows them before 'durable batch close': \(batches)")
        }
      }
      if let refusal {
        Talk.error(refusal.message)
        let folders = BesideStore.folders(of: source).joined(separator: " and ")
        Talk.line("Copy \(folders) yourself before a worker begins: logs and bodies of requests are there")
        throw ExitCode(.storeNotUsable)
      }
      if !(salvage.damaged.isEmpty && salvage.lost.isEmpty && salvage.cutTables.isEmpty && salvage.opened.isEmpty) {
        throw ExitCode(.storeNotUsable)
      }
    }

    /// The damaged file stays as it is: first bytes that it has lost are put back in a copy, which is there meanwhile.
    private static func salvage(_ damaged: String, _ path: String) async throws -> StoreSalvage {
      guard StoreMark.hasLostBeginning(damaged) else { return try await SQLiteStore.repair(from: damaged, to: path) }
      let (source, copy) = (try StorePlace.resolved(damaged), path + "-beginning")
      do {
        let files = FileManager.default
        try files.copyItem(atPath: source, toPath: copy)
        defer { for end in ["", "-wal", "-shm"] { unlink(copy + end) } }
        if files.fileExists(atPath: source + "-wal") {
          try files.copyItem(atPath: source + "-wal", toPath: copy + "-wal")
        }
        try FileHandle(forUpdating: URL(fileURLWithPath: copy)).write(contentsOf: Data("SQLite format 3\0".utf8))
        let salvage = try await SQLiteStore.repair(from: copy, to: path)
        Talk.line("Its first 16 bytes, by which SQLite knows its files, were lost; the new file has them")
        return salvage
      } catch let error as JobError {
        throw error
      } catch {
        throw JobError(.unusableFile, "\(copy), with its first bytes, can't be made: \(error.briefly)", cause: error)
      }
    }

    /// What people know of a table.
    private static let contents = [
      "durable_job": "jobs", "durable_spec": "what jobs do", "durable_queue": "queues, their pauses and limits",
      "durable_route": "kinds of jobs", "durable_edge": "what waits for what",
      "durable_edge_key": "what waits for keys",
      "durable_lane_width": "limits of lanes", "durable_constraint": "conditions that were set",
      "durable_batch": "batches, and what follows them", "durable_step": "results of steps",
      "durable_output": "results",
      "durable_failure": "errors", "durable_note": "reasons", "durable_progress": "progress",
      "durable_crash": "counts of crashes", "durable_uniq": "unique keys of jobs that have ended",
    ].merging(
      ["batch_job", "lane", "wait", "job_key", "tag", "deadline"].map { ("durable_\($0)", "put right from the jobs") }
    ) { $1 }

    private func some(_ ids: [JobID]) -> String {
      ids.prefix(20).list + (ids.count > 20 ? " …" : "")
    }
  }

  private struct FindingRecord: Encodable {
    var subject: String
    var count: Int
    var details: [String]
    var mended: Bool
  }

  private struct SalvageRecord: Encodable {
    var jobs: Int
    var damaged: [Int64]
    var lost: [Int64]
    var cutTables: [String]
    var paused: [String]
    var opened: [Int64]
  }
#endif
