#if Process
  import DurableJobs
  import Foundation

  extension ShellCommand {
    /// Events of a command, for a worker's screen.
    @nonexhaustive
    public enum Event: Sendable {
      case started(ShellCommand)
      case ended(ShellCommand, CommandResult, took: Duration)
      /// The worker lacks what it needs to run anything, for this reason: the job will be tried again.
      case couldNotStart(ShellCommand, String)
      /// The job is suspended, for this reason: it could not be started and that will not pass, or something lives beside
      /// which it must not run.
      case suspended(ShellCommand, String)
    }
  }

  /// Runs commands for a worker, each under a supervisor.
  package final class CommandHandler: Sendable {
    private let onEvent: @Sendable (JobContext, ShellCommand.Event) -> Void
    /// By identity: a job that was lost and taken again may have two attempts here for a while.
    private let lifeLines = Lock(
      (lines: [ObjectIdentifier: (job: JobID, line: LifeLine)](), areKilled: false, isStopAsked: false))

    private let isToldOfStops: Bool
    /// The job whose output is being shown with ``CommandLogReader/tellFollowed()``.
    private let followed: JobID?

    /// How long after a command has ended a stop that caused it may still be noticed.
    private static let hearing = Duration.milliseconds(500)

    /// Pass false without ``workerIsAskedToStop()``: then a supervisor that was also asked to end indicates a stop.
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
      // Whoever takes a command next looks for its lock elsewhere. Others may have a place for it.
      guard store.path != nil || store is InMemoryStore else {
        return worker.logger.warning(
          """
          this worker leaves commands to others: nothing says where this machine keeps the locks and logs of its store's \
          commands, so one could run twice at once. Set PostgresStore.Configuration.folder
          """)
      }
      let remains = CommandRemains(store)
      let held = HeldCommands(store, remains)
      worker.register(ShellCommand.self) { [self] in try await run($0, store, remains, held, $1) }
      worker.whileRunning {
        var sweep = FolderSweep(store, remains)
        await sweep.run()
      }
      worker.whileRunning { [self] in await remains.watch(held) { self.own } }
    }

    /// The jobs whose commands this handler ends.
    private var own: Set<JobID> { lifeLines.withLock { Set($0.lines.values.map(\.job)) } }

    /// Whether a command runs.
    package var hasCommands: Bool { lifeLines.withLock { !$0.lines.isEmpty } }

    /// Opened by the end of each command. One task alone waits for it.
    private let end = Gate()

    /// Waits until no command runs.
    package func commandsHaveEnded() async {
      while hasCommands { await end.pass() }
    }

    /// The worker was asked to stop. The sender may have asked its commands too, as a service manager that signals
    /// every process does: then they were interrupted.
    package func workerIsAskedToStop() { lifeLines.withLock { $0.isStopAsked = true } }

    /// From now on, commands that are to stop are killed without being asked; those already asked are killed now.
    package func killWhatStops() {
      let lines = lifeLines.withLock { state in
        state.areKilled = true
        return state.lines.values.map(\.line)
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
        // Its own processes would be strangers there, or nobody.
        guard ProcessEntry.isOfThisSpace else { throw JobExit.suspend(because: Self.foreignTable) }
        // What is stored and runs beside it belongs to another store.
        guard !remains.isStoreReplaced else { throw Refusal("the store was replaced; stop this worker", ESTALE) }
        try folder.create()
        let wasFree = try lock.isFree()
        if !wasFree {
          // Otherwise it is the legitimate command of another worker.
          guard await context.isHeld() else { throw CancellationError() }
          guard remains.isStoresOwn else { throw Refusal("the store was moved or removed; stop this worker", ESTALE) }
          guard await lock.endHolder() else {
            throw held.hold(context, because: Self.leftBehind(lock))
          }
          try Self.requireTime(context)
        }
        guard let job = try await store.jobs(JobQuery(.id(context.id), detail: .edges, limit: 1)).first
        else { throw CancellationError() }
        // It gets the whole of its time.
        if !wasFree, job.timeout != nil { throw .snooze(for: .zero) }
        try await clearTheWay(of: job, remains, held, store, context)
        try Task.checkCancellation()
        run = try folder.beginRun(attempt: context.attempt, jobCreatedAt: context.createdAt)
        // From here on, the supervisor notices a run that another worker begins.
        guard await context.isHeld() else {
          folder.forget(run)
          throw CancellationError()
        }
        do {
          try remains.note(context.id, CommandTies(job))
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
      let isAwaited = context.stopReason != nil && report?.isOwnEnd != true
      let isGone = await lock.waitUntilFree(for: isAwaited ? CommandLock.termination : .seconds(1))
      // A worker that was stopped meanwhile may have lost the job: then another has ended the command.
      var stopReason = await context.isHeld() ? nil : context.stopReason
      if stopReason == nil, let report, report.isAnswerToStop, await hearsOfStop(report) { stopReason = .shutdown }
      let result = CommandResult(report, stopReason: stopReason)
      // Otherwise it may belong to another worker by now.
      if stopReason != .claimLost, !folder.hasRun(after: run.number) {
        // What was to end, but is alive, blocks others. A command that ended by itself may leave a daemon.
        if isGone || result.exitCode != nil && !lock.hasStrays {
          remains.forget(context.id)
        } else {
          remains.giveUp(context.id)
        }
      }
      if case .postponed = result {
        folder.forget(run)
      } else {
        let left = report?.left ?? 0
        let ended = left == 1 ? "; a process that it left was ended" : "; \(left) processes that it left were ended"
        folder.end(
          run,
          "\(result)\(left > 0 ? ended : "")"
            + (isGone ? "" : "; something of it has left its group, and still lives"),
          exitCode: result.exitCode)
      }
      // Whoever wants it to run again must not hear that it has ended before it has. A cancelled job stays cancelled.
      if !isGone, case .stopped(let reason) = result {
        let exit = held.hold(context, because: Self.leftBehind(lock))
        guard reason == .cancelled || reason == .claimLost else { throw suspended(exit, command, context) }
        onEvent(context, .ended(command, result, took: began.duration(to: .now)))
        throw exit
      }
      onEvent(context, .ended(command, result, took: began.duration(to: .now)))
      if case .askedToEnd = result, let error = ToldTooOften(folder.runs(of: nil).map(\.ending)) {
        throw .permanent(error)
      }
      // The worker's own order to stop would only come after the grace time.
      if context.stopReason == nil, stopReason == .shutdown { throw .snooze(for: isToldOfStops ? .zero : .seconds(1)) }
      do {
        return try result.output()
      } catch let failure as CommandFailure where context.stopReason != .cancelled {
        throw Self.exit(failure, context)
      }
    }

    /// What the error alone would do, but that a stop that was asked for meanwhile would replace that.
    private static func exit(_ failure: CommandFailure, _ context: JobContext) -> JobExit {
      let attempt = RetryPolicy.Attempt(number: context.attempt, maxAttempts: context.maxAttempts, error: failure)
      guard case .retry(let delay) = ShellCommand.retry.decision(after: attempt) else { return .permanent(failure) }
      var exit = JobExit.retry(after: delay, because: failure)
      exit.isBackOff = true
      return exit
    }

    /// Ends what may be alive of jobs that have ended and had the lane or unique key that is now this job's, or that
    /// this job waited for.
    private func clearTheWay(
      of job: JobSnapshot, _ remains: CommandRemains, _ held: HeldCommands, _ store: any JobStore, _ context: JobContext
    ) async throws {
      let others = try await remains.inTheWay(of: job, context.batch?.id)
      let left = await remains.end(others, except: own)
      if !others.isEmpty { try Self.requireTime(context) }
      // A task that is to stop can't ask the store, and knows nothing.
      try Task.checkCancellation()
      if let other = left.min() {
        throw held.hold(
          context, because: Self.leftBehind(JobFolder(other, in: store).lock, of: other))
      }
    }

    /// The timeout is meant for the command itself, which has not begun.
    private static func requireTime(_ context: JobContext) throws {
      if context.stopReason == .timedOut { throw .snooze(for: .seconds(1)) }
    }

    private static let foreignTable =
      "it could not be started: /proc is not that of this worker's container or PID namespace, so nobody could tell whether "
      + "the command lives. Mount it there, as 'unshare --mount-proc' does, and resume the job"

    private static func leftBehind(_ lock: CommandLock, of other: JobID? = nil) -> String {
      let whose = other.map { "job \($0)" } ?? "this command"
      return lock.livingWords(of: whose, "still lives\(other == nil ? "" : ", beside which this one must not run")")
    }

    private func hearsOfStop(_ report: SupervisorReport) async -> Bool {
      if !isToldOfStops { return report.wasAsked }
      // A success counts as a crash if the worker does not notice the stop.
      let time = report.ending.isSuccess ? Self.hearing * 10 : Self.hearing
      return await CommandLock.wait(for: time, until: { lifeLines.withLock { $0.isStopAsked } })
    }

    /// The worker lacks what it needs to run anything, such as files or processes: neither a failure nor a crash of the
    /// command itself.
    private func setback(_ error: any Error, _ command: ShellCommand, _ context: JobContext) throws -> JobExit {
      if let exit = error as? JobExit { return suspended(exit, command, context) }
      if error is CancellationError { throw error }
      if error.lasts {
        return suspended(.suspend(because: "it could not be started: \(error.briefly)"), command, context)
      }
      onEvent(context, .couldNotStart(command, error.briefly))
      return CommandResult.later
    }

    /// Tells of such an exit, and returns it.
    private func suspended(_ exit: JobExit, _ command: ShellCommand, _ context: JobContext) -> JobExit {
      if case .suspend(let reason) = exit.way { onEvent(context, .suspended(command, reason)) }
      return exit
    }

    /// Runs a supervisor to its end, and kills what is left where it could not. Nil if it did not report the command's end.
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
      lifeLines.withLock { $0.lines[ObjectIdentifier(lifeLine)] = (context.id, lifeLine) }
      defer {
        lifeLines.withLock { $0.lines[ObjectIdentifier(lifeLine)] = nil }
        end.open()
      }
      lifeLine.begin(with: message, supervisor: supervisor.number, lock: order.lock)
      let told = await withTaskCancellationHandler {
        await supervisor.report(lifeLine)
      } onCancel: {
        lifeLine.cut()
        if self.lifeLines.withLock({ $0.areKilled }) { lifeLine.kill() }
        // A stuck supervisor can't end it.
        let limit = SupervisionCourse.longest + .seconds(1)
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.seconds) { lifeLine.kill() }
      }
      let report = SupervisorReport(told)
      // The supervisor's last act is to kill its group. If it could not, that is done here.
      if report?.isLast != true { _ = await order.lock.killHolder { $0.session.number == supervisor.number } }
      if case .notStarted(.setback(let what, let code)) = report?.ending { throw Refusal(what, code) }
      return report
    }
  }
#endif
