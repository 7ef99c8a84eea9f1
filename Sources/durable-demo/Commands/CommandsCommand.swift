#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation

  struct CommandsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "commands", abstract: "Real commands over real files, and two workers killed with SIGKILL.")

    func run() async throws {
      let scratch = try ScratchFolder()
      let worker = Lock<pid_t?>(nil)
      let cleanUp = await CleanUp(scratch.path, worker)
      defer { cleanUp.run() }
      let material = DemoMaterial(in: scratch.path)
      guard material.files >= 3 else {
        throw JobError(
          .unusableFile, "the demo found no files to work on; it looks in /usr/share, /usr/lib and the like")
      }
      let store = try SQLiteStore(path: material.store)
      let ids = try await enqueue(material, store)
      let stage = DemoStage(total: ids.count)
      stage.tell(
        "\(ids.count) real commands over \(material.files) files, \(Int64(material.bytes).asBytes), in a scratch folder.",
        .bold)
      let demo = CommandsDemo(
        material: material, store: store, ids: ids, stage: stage,
        worker: DemoWorker(store: material.store, stage: stage, current: worker))
      let isRight = try await demo.run()
      await store.close()
      if !isRight { throw ExitCode(.jobFailed) }
    }

    private func enqueue(_ material: DemoMaterial, _ store: SQLiteStore) async throws -> [JobID] {
      var ids: [JobID] = []
      for piece in material.pieces {
        ids.append(
          try await JobQueue(store: store).enqueue(ShellCommand(piece.arguments, in: material.folder)).id)
      }
      return ids
    }
  }

  /// Leaves nothing behind, however the demo ends.
  private final class CleanUp: Sendable {
    private let folder: String
    private let worker: Lock<pid_t?>
    private let watch = Lock<SignalWatch?>(nil)

    init(_ folder: String, _ worker: Lock<pid_t?>) async {
      self.folder = folder
      self.worker = worker
      let made = await SignalWatch([SIGINT, SIGTERM, SIGHUP]) { [weak self] _ in
        self?.run()
        exit(ExitStatus.interrupted.rawValue)
      }
      watch.withLock { $0 = made }
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
#endif
