#if Shell
  import DurableJobs
  import Foundation
  import Subprocess
  import Testing

  /// A program that runs, and what it has said on stderr so far.
  actor RunningProgram {
    nonisolated let process: pid_t
    private var said = ""
    private var isOver = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    fileprivate init(process: pid_t) { self.process = process }

    /// Waits until it has said these words.
    func says(_ words: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
      while !said.contains(words) {
        try #require(
          !isOver, "the program has ended without saying '\(words)', but: \(said)", sourceLocation: sourceLocation)
        await withCheckedContinuation { waiting.append($0) }
      }
    }

    fileprivate func hear(_ line: String) { change { said += line + "\n" } }
    fileprivate func hasEnded() -> String {
      change { isOver = true }
      return said
    }

    private func change(_ body: () -> Void) {
      body()
      for continuation in waiting { continuation.resume() }
      waiting = []
    }
  }

  extension Durable {
    /// Runs the program to its end, with `body` beside it; kills it if `body` throws.
    func run(
      _ arguments: String..., body: @escaping @Sendable (RunningProgram) async throws -> Void
    ) async throws -> Ended {
      try await run(arguments, body: body)
    }

    func run(
      _ arguments: [String], body: @escaping @Sendable (RunningProgram) async throws -> Void
    ) async throws -> Ended {
      let said = Lock("")
      let result = try await Subprocess.run(
        .path(.init(program)), arguments: Arguments(arguments), environment: environment([:]),
        workingDirectory: .init(folder), input: .none, output: .string(limit: 1 << 20), error: .sequence
      ) { execution in
        let running = RunningProgram(process: execution.processIdentifier.value)
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            for try await line in execution.standardError.strings() { await running.hear(line) }
            let all = await running.hasEnded()
            said.withLock { $0 = all }
          }
          do {
            try await body(running)
          } catch {
            kill(execution.processIdentifier.value, SIGKILL)
            throw error
          }
          try await group.waitForAll()
        }
      }
      return Ended(status: result.terminationStatus, stderr: said.withLock { $0 })
    }
  }
#endif
