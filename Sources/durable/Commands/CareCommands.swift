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
        Exits with 0 if nothing was found or all was put right, and else with 5. Of a store on a server, only the contents are \
        checked, not its files: pg_amcheck does that.
        """)

    @Flag(help: "Mend what contradicts the jobs. Others wait meanwhile.") var mend = false
    @OptionGroup var options: StoreOptions

    func run() async throws {
      Screen.goOnWithoutReader()
      let findings = try await options.existing()?.store.check(mending: mend) ?? []
      if options.json {
        Screen.out.json(
          findings.map {
            FindingRecord(subject: "\($0.subject)", count: $0.count, details: $0.details, mended: isMended($0))
          })
      } else {
        for finding in findings {
          Screen.out.line("\(finding)\(isMended(finding) ? ": put right" : "")".withVisibleControls)
        }
        if findings.isEmpty { Screen.out.line("nothing was found") }
      }
      if findings.contains(where: { !isMended($0) }) { throw ExitCode(.storeNotUsable) }
    }

    private func isMended(_ finding: StoreFinding) -> Bool { mend && finding.subject != .file }
  }

  struct RepairCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "repair", abstract: "Save what can be read of a damaged store into a new file.",
      discussion: """
        The old file stays as it is. First end all programs that use it. The logs of commands and the bodies of requests, which \
        are in files beside it, are copied too.
        """)

    @Argument(help: ArgumentHelp("The new file.", valueName: "path")) var path: String
    @OptionGroup var options: StoreOptions

    func run() async throws {
      let damaged = try options.place.file(instead: "Put it back from a backup of the database, with pg_restore")
      let (source, target) = (StorePlace.resolved(damaged), StorePlace.resolved(path))
      if let folder = BesideStore.folders(of: target).first {
        throw JobError(
          .unusableFile,
          "there is something at \(folder) already, where the logs or bodies of the new store would be; name another file"
        )
      }
      let salvage = try await SQLiteStore.repair(from: damaged, to: path)
      var refusal: JobError?
      do {
        try BesideStore.copy(from: source, to: target)
      } catch let error as JobError {
        refusal = error
      }
      if options.json {
        Screen.out.json(
          SalvageRecord(jobs: salvage.jobs, damaged: salvage.damaged.map(\.rawValue), cutTables: salvage.cutTables))
      } else {
        Screen.out.line("\(salvage.jobs) job\(salvage.jobs == 1 ? "" : "s") whole in \(path.withVisibleControls)")
        if !salvage.damaged.isEmpty {
          let count = salvage.damaged.count == 1 ? "1 job is" : "\(salvage.damaged.count) jobs are"
          Talk.line("\(count) damaged; what is left of it is suspended once a worker comes to it")
        }
        if !salvage.cutTables.isEmpty {
          Talk.line("These tables could not be read to their end: \(salvage.cutTables.joined(separator: ", "))")
        }
      }
      if let refusal {
        Talk.error(refusal.message)
        let folders = BesideStore.folders(of: source).joined(separator: " and ")
        Talk.line("Copy \(folders) yourself before a worker begins: logs and bodies of requests are there")
        throw ExitCode(.storeNotUsable)
      }
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
    var cutTables: [String]
  }
#endif
