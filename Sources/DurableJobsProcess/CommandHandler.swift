#if Process
  import DurableJobs
  import Foundation

  extension ShellCommand {
    /// What a worker's screen tells of a command.
    @nonexhaustive
    public enum Event: Sendable {
      case started(ShellCommand)
      case ended(ShellCommand, CommandResult, took: Duration)
      /// The worker lacks what it needs to run anything, and this is why: the job comes back.
      case couldNotStart(ShellCommand, String)
    }
  }

  /// Runs commands for a worker, each under a supervisor.
  package final class CommandHandler: Sendable {
    private let onEvent: @Sendable (JobContext, ShellCommand.Event) -> Void
    private let lifeLines = Lock((lines: [JobID: LifeLine](), areKilled: false, isStopAsked: false))

    private let isToldOfStops: Bool
    /// The job whose output somebody shows with ``CommandLogReader/tellFollowed()``.
    private let followed: JobID?

    /// How long after a command's own end a stop that did that may be heard.
    private static let hearing = Duration.milliseconds(500)

    /// Who does not call ``workerIsAskedToStop()`` says so: then a supervisor that was asked to end, too, tells of a stop.
    package init(
      isToldOfStops: Bool = true, followed: JobID? = nil,
      onEvent: @escaping @Sendable (JobContext, ShellCommand.Event) -> Void
    ) {
      self.isToldOfStops = isToldOfStops
      self.followed = followed
      self.onEvent = onEvent
    }

    package func register(with worker: JobWorker) {
      ShellCommand.requireSupervision()
      guard let store = worker.store else { return }
      let remains = CommandRemains(store)
      let held = HeldCommands(store, remains)
      worker.register(ShellCommand.self) { [self] in try await run($0, store, remains, held, $1) }
      worker.whileRunning {
        var sweep = FolderSweep(store, remains)
        await sweep.run()
      }
      worker.whileRunning { [self] in await remains.watch(held) { self.own } }
    }

    /// Those whose commands this handler ends.
    private var own: Set<JobID> { lifeLines.withLock { Set($0.lines.keys) } }

    /// The worker was asked to stop. Who asked may have asked its commands too, as a service manager does that tells every
    /// process: then they were interrupted.
    package func workerIsAskedToStop() { lifeLines.withLock { $0.isStopAsked = true } }

    /// From now on, a command that is to stop is killed without being asked; those that were asked are killed now.
    package func killWhatStops() {
      let lines = lifeLines.withLock { state in
        state.areKilled = true
        return Array(state.lines.values)
      }
      for line in lines where line.isCut { line.kill() }
    }

    private func run(
      _ command: ShellCommand, _ store: any JobStore, _ remains: CommandRemains, _ held: HeldCommands,
      _ context: JobContext
    ) async throws -> ShellCommand.Output {
      let folder = JobFolder(context.id, in: store)
      let lock = folder.lock
      let run: CommandRun
      do {
        // What stands beside it, and runs, is another store's.
        guard !remains.isStoreReplaced else { throw Refusal("the store was replaced; stop this worker", ESTALE) }
        try folder.create()
        var isFree = try lock.isFree()
        if !isFree {
          // Else it is the command of another worker, by right.
          guard await context.isHeld() else { throw CancellationError() }
          guard remains.isStoresOwn else { throw Refusal("the store was moved or removed; stop this worker", ESTALE) }
          isFree = await lock.endHolder()
        }
        guard isFree else { throw held.hold(context.id, because: Self.leftBehind(lock)) }
        try await clearTheWay(remains, held, store, context)
        try Task.checkCancellation()
        run = try folder.beginRun(attempt: context.attempt, jobCreatedAt: context.createdAt)
        // From here on, a run that another worker begins is seen by the supervisor.
        guard await context.isHeld() else {
          folder.forget(run)
          throw CancellationError()
        }
        do {
          try remains.note(context.id)
        } catch {
          folder.forget(run)
          throw error
        }
      } catch {
        throw try setback(error, command, context)
      }
      onEvent(context, .started(command))
      let began = ContinuousClock.now
      var report: SupervisorReport?
      do {
        report = try await supervise(
          RunOrder(
            command: command, folder: folder, run: run.number, openFiles: Program.openFilesAtStart,
            isFollowed: context.id == followed), context)
      } catch {
        folder.forget(run)
        if !folder.hasRun(after: run.number) { remains.forget(context.id) }
        throw try setback(error, command, context)
      }
      if let line = report?.lastLine { report?.lastLine = command.hidingValues(in: line) }
      let isGone = await lock.waitUntilFree(for: context.stopReason == nil ? .seconds(1) : CommandLock.termination)
      // Who was stopped meanwhile may have lost the job: then somebody else has ended the command.
      var stopReason = await context.isHeld() ? nil : context.stopReason
      if stopReason == nil, let report, report.isAnswerToStop, await hearsOfStop(report) { stopReason = .shutdown }
      var result = CommandResult(report, stopReason: stopReason)
      // Whoever told it to: what it has not done is no success. A command that tells its own keeper so each
      // time has crashed too often in the end.
      if stopReason == nil, report?.wasAsked == true, result.succeeded { result = .askedToEnd }
      // Else it may be another's by now.
      if stopReason != .claimLost, !folder.hasRun(after: run.number) {
        // What was to end, and lives, is in the way of others. What has ended by itself may leave a daemon.
        if isGone || result.exitCode != nil && !lock.hasStrays {
          remains.forget(context.id)
        } else {
          remains.giveUp(context.id)
        }
      }
      if case .postponed = result {
        folder.forget(run)
      } else {
        folder.end(
          run, isGone ? "\(result)" : "\(result); something of it has left its group, and still lives",
          exitCode: result.exitCode)
      }
      onEvent(context, .ended(command, result, took: began.duration(to: .now)))
      if case .askedToEnd = result, let error = ToldTooOften(folder.runs(of: nil).map(\.ending)) {
        throw .permanent(error)
      }
      // Whoever wants it to run again is not told that it has ended while it has not. What was cancelled stays so.
      if !isGone, case .stopped = result { throw held.hold(context.id, because: Self.leftBehind(lock)) }
      // The worker's own order to stop it would come after the grace.
      if context.stopReason == nil, stopReason == .shutdown { throw .snooze(for: isToldOfStops ? .zero : .seconds(1)) }
      return try result.output()
    }

    /// A job that has ended, and whose command may live, had a lane or a unique key that is this job's now, or was waited
    /// for.
    private func clearTheWay(
      _ remains: CommandRemains, _ held: HeldCommands, _ store: any JobStore, _ context: JobContext
    ) async throws {
      let noted = remains.noted.subtracting([context.id])
      guard !noted.isEmpty else { return }
      guard let job = try await store.jobs(JobQuery(.id(context.id), detail: .edges, limit: 1)).first
      else { throw CancellationError() }
      let others = try await store.jobs(JobQuery(.ids(noted), limit: noted.count)).filter { job.comesAfter($0) }
      let left = await remains.end(Set(others.map(\.id)), except: own)
      // The time is the command's own, which has not begun.
      if !others.isEmpty, context.stopReason == .timedOut { throw .snooze(for: .seconds(1)) }
      // Who is to stop can't ask the store, and knows nothing.
      try Task.checkCancellation()
      if let other = left.min() {
        throw held.hold(context.id, because: Self.leftBehind(JobFolder(other, in: store).lock, of: other))
      }
    }

    private static func leftBehind(_ lock: CommandLock, of other: JobID? = nil) -> String {
      let whose = other.map { "job \($0)" } ?? "this command"
      return lock.livingWords(of: whose, "still lives\(other == nil ? "" : ", beside which this one must not run")")
    }

    private func hearsOfStop(_ report: SupervisorReport) async -> Bool {
      if !isToldOfStops { return report.wasAsked }
      // A success is called a crash if the worker hears of nothing.
      let time = report.ending.isSuccess ? Self.hearing * 10 : Self.hearing
      return await CommandLock.wait(for: time, until: { lifeLines.withLock { $0.isStopAsked } })
    }

    /// The worker lacks what it needs to run anything, files or processes for example: no failure of the command's own, and
    /// no crash of its doing.
    private func setback(_ error: any Error, _ command: ShellCommand, _ context: JobContext) throws -> JobExit {
      if error is CancellationError || error is JobExit { throw error }
      onEvent(context, .couldNotStart(command, error.briefly))
      return error.lasts ? .suspend(because: "it could not be started: \(error.briefly)") : CommandResult.later
    }

    /// Runs a supervisor to its end. Nil if that did not report how the command ended: then what is left of it was killed.
    private func supervise(_ order: RunOrder, _ context: JobContext) async throws -> SupervisorReport? {
      let message = try JSONEncoder().encode(order) + [UInt8(ascii: "\n")]
      let (own, theirs) = try Descriptors.connected()
      let lifeLine: LifeLine
      let supervisor: SupervisorProcess
      do {
        defer { close(theirs) }
        lifeLine = try LifeLine(own)
        supervisor = try SupervisorProcess(input: theirs)
      }
      defer { lifeLine.cut() }
      lifeLines.withLock { $0.lines[context.id] = lifeLine }
      defer { lifeLines.withLock { $0.lines[context.id] = nil } }
      lifeLine.begin(with: message, supervisor: supervisor.number, lock: order.lock)
      let told = await withTaskCancellationHandler {
        await supervisor.report(lifeLine)
      } onCancel: {
        lifeLine.cut()
        if self.lifeLines.withLock({ $0.areKilled }) { lifeLine.kill() }
        // A supervisor that is stuck can't end it.
        let limit = SupervisionCourse.longest + .seconds(1)
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.seconds) { lifeLine.kill() }
      }
      let report = try? JSONDecoder().decode(SupervisorReport.self, from: told)
      // The supervisor's last act is to kill its group. If it could not do that, it is done here.
      if report == nil { _ = await order.lock.killHolder { $0.session.number == supervisor.number } }
      return report
    }
  }
#endif
