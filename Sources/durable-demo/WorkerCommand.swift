#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation
  import Subprocess

  /// A worker process of the demos, which they start and kill: it runs commands and downloads until nothing is left, and
  /// prints what commands do, a line of JSON each.
  struct WorkerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "work", abstract: "Work on a demo's store. For the demo.", shouldDisplay: false)

    static func arguments(store: String, concurrency: Int) -> [String] {
      ["work", store, "\(concurrency)"]
    }

    struct Event: Codable, Sendable {
      var event: String
      var id: JobID
      var command: String
      var result: String?
    }

    @Argument var store: String
    /// No option: one of this name is the demo's own, wherever it stands.
    @Argument var concurrency = Defaults.concurrency

    /// Nothing comes on standard input. It ends with the demo, however that ends, and the worker with it.
    private static func endWithTheDemo() {
      Thread.detachNewThread {
        var byte: UInt8 = 0
        while read(STDIN_FILENO, &byte, 1) < 0, errno == EINTR {}
        kill(getpid(), SIGKILL)
      }
    }

    func run() async throws {
      Self.endWithTheDemo()
      let store = try SQLiteStore(path: store)
      let worker = JobWorker(JobQueue(store: store), maxConcurrentJobs: concurrency)
      worker.register(ShellCommand.self, onEvent: Self.tell)
      Downloader(store: store, limits: Downloader.Limits(perHost: concurrency)).register(with: worker)
      try await worker.runUntilIdle()
      await store.close()
    }

    @Sendable private static func tell(_ context: JobContext, _ event: ShellCommand.Event) {
      switch event {
      case .started(let command):
        print(Event(event: "started", id: context.id, command: command.typed))
      case .ended(let command, let result, took: _):
        print(Event(event: "ended", id: context.id, command: command.typed, result: result.outcome))
      case .couldNotStart(_, let reason), .suspended(_, let reason): Talk.error(reason)
      }
    }

    private static func print(_ event: Event) {
      guard let line = try? JSONEncoder().encode(event) else { return }
      Screen.out.line(String(decoding: line, as: UTF8.self))
    }
  }
#endif
