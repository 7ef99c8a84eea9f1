#if Shell
  import DurableJobs
  import DurableJobsProcess
  import Foundation
  import Subprocess

  /// A worker process of the demo: started, watched, and killed with SIGKILL when told so.
  struct DemoWorker: Sendable {
    struct Death: Sendable {
      var killed: pid_t
      var at: Date
      /// What ran when it was killed.
      var running: [JobID: String]
    }

    let store: String
    let stage: DemoStage
    /// The one that runs now, so that it can be ended with the demo.
    let current: Lock<pid_t?>

    /// Runs a worker until nothing is left, or until `mayKill` says so while commands run. `done` counts over all workers.
    func run(_ done: inout Set<JobID>, started: (pid_t) -> Void, mayKill: (Int) -> Bool) async throws -> Death? {
      var succeeded = done
      let lifeLine = try Descriptors.pipe()
      defer { close(lifeLine.write) }
      let result = try await Subprocess.run(
        Program.itself, arguments: Arguments(WorkerCommand.arguments(store: store, concurrency: 4)),
        input: .fileDescriptor(.init(rawValue: lifeLine.read), closeAfterSpawningProcess: true), output: .sequence,
        error: .discarded
      ) { execution -> Death? in
        let process = execution.processIdentifier.value
        current.withLock { $0 = process }
        defer { current.withLock { $0 = nil } }
        started(process)
        var running: [JobID: String] = [:]
        var death: Death?
        for try await line in execution.standardOutput.strings() {
          guard let event = try? JSONDecoder().decode(WorkerCommand.Event.self, from: Data(line.utf8)) else { continue }
          if event.event == "started" {
            running[event.id] = event.command
          } else {
            running[event.id] = nil
            // A set, since one that ended just as its worker was killed runs again.
            if event.result == "succeeded" { succeeded.insert(event.id) }
          }
          stage.show(
            "\(event.result ?? event.event) \(event.id)  \(event.command)", done: succeeded.count,
            running: running.values.sorted())
          if death == nil, event.event == "started", running.count >= 2, mayKill(succeeded.count) {
            // Give the youngest a moment, so that its work is really cut in two.
            try await Task.sleep(for: .milliseconds(150))
            kill(process, SIGKILL)
            death = Death(killed: process, at: Date(), running: running)
          }
        }
        // What was reported after the decision had ended in time.
        death?.running = running
        return death
      }
      done = succeeded
      return result.closureResult
    }
  }
#endif
