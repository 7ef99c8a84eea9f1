#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsPostgres
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation

  struct MoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "move", abstract: "Move all that is in a store's file to a server.",
      discussion: """
        Every job with its number, state, errors, output, edges, lane, keys, batch, steps and tags, what is paused and set, and \
        the logs. The new store must be empty, and nobody may work on either; commands that have outlived their worker are \
        ended. All of it comes or nothing does. What has arrived is counted before it takes effect. The file keeps all of \
        it, and its queues are paused, from before the server has it: if it is interrupted, do it again.

        durable move --from jobs.sqlite --to postgres://jobs@db.example.com/app
        """)

    @Option(
      parsing: .unconditional, help: ArgumentHelp("The store's file.", valueName: "path"), completion: .file())
    var from: String
    @Option(
      parsing: .unconditional, help: ArgumentHelp("The server, as postgres://user@host/database.", valueName: "store"))
    var to: String
    @Flag(help: "Print JSON.") var json = false

    #if Postgres
      func run() async throws {
        guard case .file(let given) = try StorePlace(from) else {
          throw ValidationError("--from is a server; a store is moved from a file")
        }
        guard case .server(let place) = try StorePlace(to) else {
          throw ValidationError("--to is a file; a store is moved to a server: postgres://user@host/database")
        }
        if StoreOptions.isGone(given) { throw JobError(.notFound, "there is no store: \(given) does not exist") }
        let source = try SQLiteStore(path: given)
        let path = source.path ?? given
        try BesideStore.checkThatNobodyIsAt(path, Self.undone)
        try await askTheSilent(in: source)
        try await checkThatNobodyWorks(on: source)
        let store = try await OpenStore.open(place, isMade: true, callLimit: .seconds(30 * 24 * 3600))
        let name = try place.name
        let file = try MovedFile(path: path)
        // From here on nobody can begin to: who tries waits for the file, and finds its queues paused.
        try BesideStore.checkThatNobodyIsAt(path, Self.undone)
        try await checkThatNobodyWorks(on: source)
        let target = store.path ?? ""
        let isOnItsWay = Lock(false)
        let sums: StoreSums
        let last: Int64
        let before: JobID?
        do {
          try file.pause()
          try BesideStore.checkThatNobodyIsAt(path, Self.undone)
          try await checkThatNobodyWorks(on: source)
          await source.close()
          try await BesideStore.endCommands(beside: path, Self.undone)
          sums = try file.sums()
          let numbers = try file.numbers()
          last = numbers.job
          // What a move that was interrupted has left beside it is made anew.
          before = try await store.takeOver(from: Self.source(path), numbers: numbers, sums: sums) {
            try BesideStore.copy(from: path, to: target)
            try BesideStore.checkThatNobodyIsAt(path, Self.undone)
            isOnItsWay.withLock { $0 = true }
          } rows: {
            try file.read($0, $1)
          }
        } catch {
          await store.close()
          throw Self.refusal(error, file, path, isSure: !isOnItsWay.withLock(\.self))
        }
        await store.close()
        // They are paused already: who repeats this finds out the rest.
        try? file.close()
        BesideStore.note(move: path, to: name)
        if let before, before.rawValue < last {
          throw JobError(
            .wrongState,
            "it was moved to \(name) before, and jobs \(before.rawValue + 1) to \(last) came to the file since: they are "
              + "there, and not on the server. Its queues are paused: the jobs up to \(before) would run here a second time. "
              + Self.undone)
        }
        let isNew = before == nil
        let jobs = sums.numbers["job"] ?? 0
        if json { return Screen.out.json(MoveRecord(moved: isNew, jobs: jobs, to: name)) }
        Screen.out.line(
          isNew
            ? "\(jobs.jobs) moved to \(name)" : "it was moved to \(name) before: nothing was done"
        )
        Talk.line(
          "Use it with: export DURABLE_STORE=…, or --store. \(path) keeps all of it, and its queues are paused, so that "
            + "nobody goes on with it there"
        )
        if (try? FileManager.default.contentsOfDirectory(atPath: target + "-outbox"))?.isEmpty == false {
          Talk.line("Bodies of requests are files of this machine: have a worker here until those have been sent")
        }
      }

      static let undone = "Nothing was moved"

      /// The same error, which says what became of the file's queues if they do not go on as before. They do where it `isSure`
      /// that the server has nothing of it.
      private static func refusal(_ error: any Error, _ file: MovedFile, _ path: String, isSure: Bool) -> any Error {
        if isSure, (try? file.unpause()) == true { return error }
        let why =
          isSure ? "as an earlier move left them, or since that can't be written" : "as the server may have all of it"
        let words = "The queues of \(path) stay paused, \(why): move it again, which finds out"
        guard let error = error as? JobError else { return JobError(.storeFailed, "\(error.briefly). \(words)") }
        return JobError(error.code, "\(error.message). \(words)", cause: error.cause)
      }

      /// Who does not answer now, and has no lock here by which its process is known, is gone.
      private func askTheSilent(in source: SQLiteStore) async throws {
        while true {
          let workers = try await source.workers().filter { $0.standing != .dead }
          guard !workers.isEmpty, workers.allSatisfy({ $0.standing == .silent }),
            let wait = try await source.recover(RecoveryRequest()).comeAgain
          else { return }
          try await Task.sleep(for: wait)
        }
      }

      private func checkThatNobodyWorks(on source: SQLiteStore) async throws {
        let workers = try await source.workers().filter { $0.standing != .dead }
        guard !workers.isEmpty else { return }
        let numbers = Set(workers.map(\.process)).sorted().map { "\($0)" }.joined(separator: ", ")
        throw JobError(.alreadyRunning, "process \(numbers) works on \(from): end it first. \(Self.undone)")
      }

      /// The same file, wherever it is seen from.
      private static func source(_ path: String) -> String {
        var status = stat()
        stat(path, &status)
        return "\(ProcessInfo.processInfo.hostName):\(path):\(status.st_ino)"
      }
    #else
      func run() async throws { throw StorePlace.notBuilt }
    #endif
  }

  private struct MoveRecord: Encodable {
    /// False where that was done before.
    var moved: Bool
    var jobs: Int64
    var to: String
  }
#endif
