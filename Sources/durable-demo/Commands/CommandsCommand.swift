#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation

  struct CommandsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "commands", abstract: "Real commands over real files, and two workers killed with SIGKILL.")

    func run() async throws {
      let material = try DemoMaterial()
      let worker = Lock<pid_t?>(nil)
      let cleanUp = CleanUp(material.folder, worker)
      defer { cleanUp.run() }
      guard material.files >= 3 else {
        throw JobError(
          .unusableFile, "the demo found no files to work on; it looks in /usr/share, /usr/lib and the like")
      }
      let store = try SQLiteStore(path: material.store)
      let ids = try await enqueue(material, store)
      let stage = DemoStage(total: ids.count)
      stage.tell(
        "\(ids.count) real commands over \(material.files) files, \(material.bytes.megabytes), in a scratch folder.",
        .bold)
      let demo = CommandsDemo(
        material: material, store: store, ids: ids, stage: stage,
        worker: DemoWorker(store: material.store, stage: stage, current: worker))
      let isRight = try await demo.run()
      await store.close()
      if !isRight { throw ExitCode(.jobFailed) }
    }

    private func enqueue(_ material: DemoMaterial, _ store: SQLiteStore) async throws -> [JobID] {
      var env: [String: SystemText] = [:]
      for name in SystemText.environmentNames where ShellCommand.isInherited(name) {
        env[name] = SystemText.environment(name)
      }
      var ids: [JobID] = []
      for piece in material.pieces {
        let command = ShellCommand(
          arguments: piece.arguments.map { SystemText($0) }, cwd: SystemText(material.folder), umask: "022", env: env,
          shell: false)
        ids.append(
          try await JobQueue(store: store).enqueue(
            kind: ShellCommand.kind, payload: try JSONEncoder().encode(command), options: JobOptions(maxAttempts: 1)))
      }
      return ids
    }
  }

  /// Leaves nothing behind, however the demo ends.
  private final class CleanUp: Sendable {
    private let folder: String
    private let worker: Lock<pid_t?>
    private let sources: Lock<[any DispatchSourceSignal]>

    init(_ folder: String, _ worker: Lock<pid_t?>) {
      self.folder = folder
      self.worker = worker
      sources = Lock([])
      let made = [SIGINT, SIGTERM, SIGHUP].map { number in
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler { [weak self] in
          self?.run()
          exit(ExitStatus.interrupted.rawValue)
        }
        source.activate()
        return source
      }
      sources.withLock { $0 = made }
      Screen.onClosed.withLock {
        $0 = { [weak self] in
          self?.run()
          exit(0)
        }
      }
    }

    func run() {
      worker.withLock { worker in
        if let worker { kill(worker, SIGKILL) }
        worker = nil
      }
      ScratchFolder.remove(folder)
    }
  }

  extension Int {
    /// As in "11.8 MB".
    var megabytes: String { "\(self / 1_000_000).\(self / 100_000 % 10) MB" }
  }
#endif
