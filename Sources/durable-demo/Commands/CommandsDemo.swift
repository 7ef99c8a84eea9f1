#if Shell
  import Console
  import DurableJobs
  import DurableJobsProcess
  import DurableJobsSQLite
  import Foundation
  import Subprocess

  /// The course of the demo of commands: three workers, the first two killed at work, and then the account.
  struct CommandsDemo: Sendable {
    let material: DemoMaterial
    let store: SQLiteStore
    let ids: [JobID]
    let stage: DemoStage
    let worker: DemoWorker

    /// Where the first and the second worker are killed, as parts of all commands.
    private static let moments = [0.25, 0.6]

    /// Returns whether nothing is missing.
    func run() async throws -> Bool {
      let began = ContinuousClock.now
      var deaths: [DemoWorker.Death] = []
      var slowestEnd = Duration.zero
      var done: Set<JobID> = []
      for number in 1...Self.moments.count + 1 {
        let moment = number <= Self.moments.count ? Int(Double(ids.count) * Self.moments[number - 1]) : Int.max
        let death = try await worker.run(&done) { process in
          stage.tell("worker \(number) starts (process \(process))")
        } mayKill: {
          $0 >= moment
        }
        guard let death else { break }
        deaths.append(death)
        let names = death.running.values.sorted().joined(separator: ", ")
        stage.tell(
          "kill -9 \(death.killed)  while \(death.running.count) ran: \(names)".cut(to: Screen.out.width ?? .max), .red)
        slowestEnd = max(slowestEnd, await untilAllEnded(death))
      }
      return try await account(deaths, slowestEnd, took: began.duration(to: .now))
    }

    /// How long the commands of a dead worker lived on.
    private func untilAllEnded(_ death: DemoWorker.Death) async -> Duration {
      let start = ContinuousClock.now
      for id in death.running.keys {
        _ = await material.jobFolder(id).lock.waitUntilFree(for: .seconds(10))
      }
      return start.duration(to: .now)
    }

    private func account(_ deaths: [DemoWorker.Death], _ slowestEnd: Duration, took: Duration) async throws -> Bool {
      let jobs = try await store.jobs(JobQuery(detail: .all, limit: ids.count))
      let succeeded = jobs.count { $0.state == .succeeded }
      var again: [(JobSnapshot, lost: Double)] = []
      for job in jobs {
        let runs = material.jobFolder(job.id).runs(of: job)
        guard runs.count > 1 else { continue }
        let lost = runs.filter { $0.endedAt == nil }.reduce(0.0) { sum, run in
          let end = deaths.map(\.at).first { $0 >= run.startedAt } ?? run.startedAt
          return sum + end.timeIntervalSince(run.startedAt)
        }
        again.append((job, lost))
      }
      stage.tell("checking every result …")
      let wrong = try await wrongResults()
      let screen = Screen.out
      stage.tell("")
      let isRight = wrong.isEmpty && succeeded == ids.count
      if isRight {
        stage.tell("All \(ids.count) commands are done. Nothing is missing.", .green)
      } else {
        stage.tell("\(ids.count - succeeded) commands are not done, \(wrong.count) results are wrong.", .red)
        for line in wrong { stage.tell("  " + line.cut(to: (screen.width ?? .max) - 2)) }
      }
      fact("ran once", "\(ids.count - again.count) commands")
      fact("ran again", "\(again.count) commands, because their worker was killed while they ran:")
      for (job, lost) in again.prefix(10) {
        let text = "job \(job.id)".padded(8) + (ShellCommand(job)?.typed ?? "").cut(to: 36).padded(38)
        fact("", text + "+" + Duration.seconds(lost).forPeople)
      }
      let lost = Duration.seconds(again.reduce(0) { $0 + $1.lost })
      fact("cost", "\(lost.forPeople) of work done twice, of \(took.forPeople) in all")
      fact("outlived", "no command: the last one was gone \(slowestEnd.forPeople) after its worker")
      let sums = material.pieces.count { if case .prints = $0.check { true } else { false } }
      fact("checked", "\(sums) checksums against the demo's own, \(material.pieces.count - sums) archives by unpacking")
      return isRight
    }

    private func fact(_ name: String, _ text: String) {
      stage.tell("  " + name.padded(10) + " " + text)
    }

    /// What is not as the demo itself computed it, a line each.
    private func wrongResults() async throws -> [String] {
      var wrong: [String] = []
      for (id, piece) in zip(ids, material.pieces) {
        switch piece.check {
        case .prints(let expected):
          let last = material.jobFolder(id).runs(of: nil).last?.number ?? 0
          let text = FileManager.default.contents(atPath: material.jobFolder(id).log(last, .stdout)) ?? Data()
          if !String(decoding: text, as: UTF8.self).hasPrefix(expected + " ") {
            wrong.append("job \(id): \(piece.file)")
          }
        case .unpacks(let archive, let program):
          let sum = try await Subprocess.run(
            .name(program), arguments: ["-dc", archive], input: .none, output: .sequence, error: .discarded
          ) { execution in
            var sum = Checksum()
            for try await buffer in execution.standardOutput { buffer.withUnsafeBytes { sum.add($0) } }
            return sum
          }
          if sum.closureResult != piece.sum { wrong.append("job \(id): \(archive)") }
        }
      }
      return wrong
    }
  }
#endif
