#if Process
  import DurableJobs
  import Foundation

  /// What a supervisor reports to its worker, on its standard output: a line once the command has ended, in case it is
  /// killed before what the command left is gone, and one before it ends itself.
  struct SupervisorReport: Codable, Sendable {
    enum Ending: Codable, Sendable {
      case exited(Int32)
      case signalled(Int32)
      case notStarted(LaunchTrouble)

      var isSuccess: Bool { if case .exited(0) = self { true } else { false } }
    }

    /// The last that was told; nil if nothing was.
    init?(_ told: Data) {
      let lines = told.split(separator: UInt8(ascii: "\n")).reversed()
      let reports = lines.lazy.compactMap { try? JSONDecoder().decode(Self.self, from: $0) }
      guard let last = reports.first else { return nil }
      self = last
    }

    init(
      ending: Ending, lastLine: String? = nil, wasAsked: Bool = false, wasHungUp: Bool = false, left: Int = 0,
      isLast: Bool = true
    ) {
      (self.ending, self.lastLine, self.left, self.isLast) = (ending, lastLine, left, isLast)
      (self.wasAsked, self.wasHungUp) = (wasAsked, wasHungUp)
    }

    func tell() throws {
      var report = self
      var bytes = try JSONEncoder().encode(report)
      // Two must fit the socket's buffer, since they are read when this process has ended: a control byte is six in JSON.
      if bytes.count > 50_000 {
        report.lastLine = nil
        bytes = try JSONEncoder().encode(report)
      }
      _ = (bytes + [UInt8(ascii: "\n")]).withUnsafeBytes { Descriptors.write($0, to: STDOUT_FILENO) }
    }

    var ending: Ending
    /// The last line that the command wrote to stderr.
    var lastLine: String?
    /// Its supervisor told it to end, or did not let it begin, because the worker wanted that or somebody also asked
    /// the supervisor; and a success came only after that.
    var wasAsked = false
    /// Somebody sent HUP to its supervisor not long before it ended. That means an end only if the worker stops, so the
    /// command was not told.
    var wasHungUp = false
    /// How many processes of its session the command left when it ended by itself: they were told to end.
    var left = 0
    /// Nothing that the supervisor could end is left of the command.
    var isLast = true

    /// Whether this looks like a command that somebody has asked to end.
    var isAnswerToStop: Bool {
      let requests = SupervisorNews.requests
      return switch ending {
      case .signalled(let signal): wasAsked || wasHungUp || requests.contains(signal)
      case .exited(0): wasAsked
      case .exited(let code): wasAsked || wasHungUp || requests.contains(code - 128)
      case .notStarted(.passing): wasAsked
      case .notStarted: false
      }
    }

    /// Whether the command ended by itself, and before it was asked to. No stop takes such an end back.
    var isOwnEnd: Bool {
      if case .notStarted = ending { false } else { !isAnswerToStop }
    }
  }

  /// Leads the session of one command, keeps its logs, and ends the session when the worker's end of the life line
  /// closes: because the worker wants that, or because it died.
  ///
  /// The life line is standard input. Its first line is the ``RunOrder``; nothing follows.
  enum Supervisor {
    static let argument = "supervise-command"

    static func run() throws -> Never {
      // Ignores signals meant for its group, and those about an unread report or a full file.
      for signal in ignored { Foundation.signal(signal, SIG_IGN) }
      Descriptors.closeOthers()
      let news = try SupervisorNews()
      guard getpgrp() == getpid() else { throw SystemError("\(argument) is for a worker alone", EPERM) }
      // If the worker dies now, there is nothing to do.
      guard let line = readLine(strippingNewline: false), line.hasSuffix("\n") else { exit(1) }
      let order = try JSONDecoder().decode(RunOrder.self, from: Data(line.utf8))
      var supervision = Supervision(order, news)
      do {
        try supervision.run().tell()
      } catch {
        FileHandle.standardError.write(Data("\(argument): \(error.briefly)\n".utf8))
      }
      // Whatever is left of the session ends with its leader, even if the worker is gone and nobody reads the report.
      ProcessEntry.send(SIGKILL, toSession: getpid())
      kill(0, SIGKILL)
      exit(1)
    }

    /// All except those that are noted, that continue it, or that report its own faults.
    private static var ignored: [Int32] {
      let kept =
        SupervisorNews.requests + [
          SIGCHLD, SIGCONT, SIGKILL, SIGSTOP, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS,
        ]
      #if os(Linux)
        let last: Int32 = 64
      #else
        let last: Int32 = 31
      #endif
      return (1...last).filter { !kept.contains($0) }
    }
  }

  /// Carries out the steps of ``SupervisionCourse``, and writes the command's output into its logs.
  private struct Supervision {
    private let order: RunOrder
    private var course = SupervisionCourse()
    private var command: CommandProcess?
    private var strays = CommandStrays()
    private var stdout: LogIntake
    private var stderr: LogIntake
    private var end: SupervisorReport.Ending?
    private var wasAsked = false
    private var wasHungUp = false
    private var left = 0
    private var hasTold = false
    private let news: SupervisorNews

    init(_ order: RunOrder, _ news: SupervisorNews) {
      self.order = order
      self.news = news
      func intake(_ stream: LogStream) -> LogIntake {
        LogIntake(log: CappedLog(path: order.folder.log(order.run, stream), isFollowed: order.isFollowed))
      }
      stdout = intake(.stdout)
      stderr = intake(.stderr)
    }

    mutating func run() throws -> SupervisorReport {
      try listen(until: .zero)
      // The worker may have changed its mind already, or the whole service may be about to end.
      if course.lifeLineIsCut { return SupervisorReport(ending: .signalled(SIGTERM), wasAsked: true) }
      if wasAsked {
        return SupervisorReport(ending: .notStarted(.passing("its supervisor was asked to end")), wasAsked: true)
      }
      let command: CommandProcess
      do {
        guard try order.lock.takeForSupervisor() else { return SupervisorReport(ending: .notStarted(.lockHeld)) }
        // While the worker and this process were frozen, for example. While the lock is held, no other can begin.
        if order.folder.hasRun(after: order.run) { return SupervisorReport(ending: .notStarted(.overtaken)) }
        command = try CommandProcess(order)
      } catch {
        return SupervisorReport(ending: .notStarted(LaunchTrouble(ofWorker: error)))
      }
      self.command = command
      stdout.source = command.stdout
      stderr.source = command.stderr
      while true {
        if let end, !hasTold {
          hasTold = true
          wasHungUp = course.mayAnswerHangUp(SystemClock().uptime)
          stderr.takeRest()
          try report(end, isLast: false).tell()
        }
        switch course.next(SystemClock().uptime) {
        case .wait(let time): try listen(until: time)
        case .terminate:
          // Somebody may have asked first.
          try hearNews()
          try noticeEnd()
          if end == nil { wasAsked = true }
          tell()
        case .askStrays: strays.ask()
        case .look:
          strays.ask(afterSession: getpid())
          course.isAlone = (try? strays.living.isEmpty && order.lock.isFree(besides: getpid())) ?? false
        case .kill:
          findStrays()
          command.send(SIGKILL, hasEnded: end != nil)
          strays.send(SIGKILL)
        case .done:
          // What cleaned up meanwhile may have started more.
          if !course.isAlone {
            findStrays()
            command.send(SIGKILL, hasEnded: end != nil)
            strays.send(SIGKILL)
          }
          // More than a step takes may wait in a pipe, after a time in which this process did nothing, for example.
          stdout.takeRest()
          stderr.takeRest()
          stdout.log.finish()
          stderr.log.finish()
          return report(end ?? .signalled(SIGKILL), isLast: true)
        }
      }
    }

    private func report(_ end: SupervisorReport.Ending, isLast: Bool) -> SupervisorReport {
      SupervisorReport(
        ending: end, lastLine: stderr.log.lastLine, wasAsked: wasAsked, wasHungUp: wasHungUp, left: left, isLast: isLast
      )
    }

    /// Sleeps until the life line breaks, the command writes or ends, a signal comes, or the time has come.
    private mutating func listen(until time: Duration?) throws {
      // Also what a command has left may write for as long as it lives.
      let areHeld = stdout.log.isAhead() || stderr.log.isAhead()
      let outputs = areHeld ? [-1, -1] : [stdout.source, stderr.source]
      // A negative descriptor is skipped.
      var polls = ([course.lifeLineIsCut ? -1 : STDIN_FILENO] + outputs + [news.source]).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      var wait = time.map { max(.zero, $0 - SystemClock().uptime).milliseconds } ?? -1
      // Nothing reports what a follower has read.
      if areHeld { wait = wait < 0 ? 20 : min(wait, 20) }
      guard poll(&polls, nfds_t(polls.count), Int32(clamping: wait)) > 0 else { return }
      if polls[0].revents != 0 {
        var byte: UInt8 = 0
        let count = read(STDIN_FILENO, &byte, 1)
        if count == 0 || (count < 0 && errno != EINTR) { course.lifeLineIsCut = true }
      }
      if polls[1].revents != 0 { stdout.take() }
      if polls[2].revents != 0 { stderr.take() }
      course.outputsAreClosed = stdout.source < 0 && stderr.source < 0
      if polls[3].revents != 0 { try hearNews() }
    }

    /// In order: an end reported after a request may be the answer to it, however late both are noticed here.
    private mutating func hearNews() throws {
      for signal in news.take() {
        switch signal {
        case SIGCHLD: try noticeEnd()
        case SIGHUP: course.hungUp = SystemClock().uptime
        default: passOnRequest()
        }
      }
    }

    /// Somebody wants the end, and the command may not know that yet. A command that had finished by then was not
    /// interrupted; any other end may be an answer to a request that arrived here last.
    private mutating func passOnRequest() {
      guard end?.isSuccess != true else { return }
      // An end that was told stands.
      if !hasTold { wasAsked = true }
      tell()
    }

    /// Asks everything in the session to end, once.
    private mutating func tell() {
      guard !course.wasTold, let command else { return }
      course.wasTold = true
      // Most commands that have ended by themselves have left no processes.
      if end != nil { left = ProcessEntry.session(getpid()).count { $0.number != getpid() && !$0.hasEnded } }
      if end == nil || left > 0 { findStrays() }
      command.send(SIGTERM, hasEnded: end != nil)
    }

    /// Processes that can't be ended are known by the lock once this process is gone.
    private mutating func findStrays() {
      strays.find(session: getpid())
      order.lock.note(strays) { $0.session.number == getpid() }
    }

    private mutating func noticeEnd() throws {
      guard end == nil else { return }
      command?.goOnIfStopped()
      guard let ending = try command?.reap() else { return }
      end = ending
      course.commandHasEnded = true
    }
  }

  /// One output of a command, on its way into its log.
  private struct LogIntake {
    /// Where it is read; -1 once nothing can write to it any more.
    var source: Int32 = -1
    var log: CappedLog

    /// Reads what is available, and returns how much that was.
    @discardableResult
    mutating func take() -> Int {
      withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 1) { buffer in
        let count = read(source, buffer.baseAddress, buffer.count)
        if count < 0, errno == EINTR { return 0 }
        if count > 0 {
          log.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
          return count
        }
        close(source)
        source = -1
        return 0
      }
    }

    /// Reads what was written by now. Who still has the other end may write for ever.
    mutating func takeRest() {
      var rest: Int32 = 0
      guard source >= 0, ioctl(source, UInt(FIONREAD), &rest) == 0 else { return }
      while rest > 0, source >= 0 { rest -= Int32(take()) }
    }
  }
#endif
