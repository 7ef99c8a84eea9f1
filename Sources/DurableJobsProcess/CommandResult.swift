#if Process
  import DurableJobs
  import Foundation

  /// How a run of a command ended.
  @nonexhaustive
  public enum CommandResult: Hashable, Sendable, CustomStringConvertible {
    /// The exit code, and the last line that it wrote to stderr if it failed.
    case exited(Int32, lastLine: String?)
    case killed(signal: Int32)
    /// It was asked to stop, and stopped.
    case stopped(StopReason)
    /// Somebody unknown to the worker asked it to end, and it exited as if it had succeeded. It counts as a crash.
    case askedToEnd
    /// It was not started, because something of an earlier run is still alive.
    case refused
    /// It can't be started, now or later, for this reason.
    case impossible(String)
    /// It can't be started now, because this is missing and may be available later.
    case postponed(String)
    /// Its supervisor died, and the command was killed with it.
    case supervisorDied

    init(_ report: SupervisorReport?, stopReason: StopReason?) {
      let stopReason = report?.isOwnEnd == true ? nil : stopReason
      switch report?.ending {
      case .notStarted(.impossible(let message)): self = .impossible(message)
      case .notStarted(.overtaken): self = .stopped(.claimLost)
      case _ where stopReason != nil: self = .stopped(stopReason!)
      // Whoever asked it to end: unfinished work is no success. A command that does this to its own supervisor each
      // time eventually counts as having crashed too often.
      case .exited(0): self = report?.wasAsked == true ? .askedToEnd : .exited(0, lastLine: nil)
      case .exited(let code): self = .exited(code, lastLine: report?.lastLine)
      case .signalled(let signal): self = .killed(signal: signal)
      case .notStarted(.lockHeld): self = .refused
      case .notStarted(.passing(let message)): self = .postponed(message)
      case .notStarted(.setback(let what, let code)): self = .postponed(Refusal(what, code).description)
      case nil: self = .supervisorDied
      }
    }

    public var succeeded: Bool {
      if case .exited(0, _) = self { true } else { false }
    }

    /// A description such as "exited with code 7: no such host".
    public var description: String {
      switch self {
      case .exited(0, _): "succeeded"
      case .exited(let code, let line?): "exited with code \(code): \(line)"
      case .exited(let code, nil): "exited with code \(code)"
      case .killed(let signal): "killed by signal \(signal) (\(Self.name(of: signal)))"
      case .stopped(.timedOut): "timed out"
      case .stopped(.shutdown): "interrupted, because the worker stopped"
      case .stopped(.overdue): "given up, because its deadline has passed"
      case .stopped(.constraintLost): "interrupted, because something that it requires holds no more"
      case .stopped(let reason):
        reason == .claimLost ? "stopped, because the job is no longer this worker's" : reason.rawValue
      case .askedToEnd: "cut short, because something else than its worker told it to end"
      case .refused: "not started, because an earlier run has not ended"
      case .impossible(let message): message
      case .postponed(let message): "not started for now: \(message)"
      case .supervisorDied: "cut short, because its supervisor died"
      }
    }

    /// The exit code as in a shell: the command's own, or 128 plus the signal that killed it; nil if it has neither.
    public var exitCode: Int32? {
      switch self {
      case .exited(let code, _): code
      case .killed(let signal): 128 + signal
      case .stopped, .askedToEnd, .refused, .impossible, .postponed, .supervisorDied: nil
      }
    }

    /// What the handler returns or throws for this result.
    func output() throws -> ShellCommand.Output {
      switch self {
      case .exited(0, _): return ShellCommand.Output()
      case .exited, .killed: throw CommandFailure(result: self)
      case .stopped: throw CancellationError()
      case .refused: throw .snooze(for: .seconds(1))
      case .impossible: throw .permanent(CommandFailure(result: self))
      case .postponed: throw Self.later
      case .askedToEnd, .supervisorDied: throw .crash
      }
    }

    /// What is missing gets some time to come back, and the delay is random so that not all jobs ask again at once.
    static var later: JobExit { .snooze(for: .milliseconds(Int.random(in: 1000...8000))) }

    static func name(of signal: Int32) -> String {
      switch signal {
      case SIGHUP: "SIGHUP"
      case SIGINT: "SIGINT"
      case SIGQUIT: "SIGQUIT"
      case SIGILL: "SIGILL"
      case SIGTRAP: "SIGTRAP"
      case SIGABRT: "SIGABRT"
      case SIGBUS: "SIGBUS"
      case SIGFPE: "SIGFPE"
      case SIGKILL: "SIGKILL"
      case SIGUSR1: "SIGUSR1"
      case SIGSEGV: "SIGSEGV"
      case SIGUSR2: "SIGUSR2"
      case SIGPIPE: "SIGPIPE"
      case SIGALRM: "SIGALRM"
      case SIGTERM: "SIGTERM"
      case SIGXCPU: "SIGXCPU"
      case SIGXFSZ: "SIGXFSZ"
      case SIGSYS: "SIGSYS"
      default: String(cString: strsignal(signal))
      }
    }
  }

  extension CommandResult {
    /// One word, also meant for programs: "succeeded", "failed", "cancelled", "suspended", or "returned" if the job
    /// goes back to its queue without having counted.
    package var outcome: String {
      switch self {
      case .exited(0, _): "succeeded"
      case .exited, .killed, .impossible, .stopped(.timedOut), .stopped(.overdue): "failed"
      case .stopped(let reason) where reason == .cancelled || reason == .suspended: reason.rawValue
      case .askedToEnd, .refused, .postponed, .supervisorDied, .stopped: "returned"
      }
    }

    /// A failure after which another attempt may succeed.
    package var mayBeRetried: Bool {
      switch self {
      case .impossible, .stopped(.overdue): false
      default: true
      }
    }
  }

  /// A failed run of a command. Its description is stored as the attempt's error.
  public struct CommandFailure: LocalizedError, CustomStringConvertible {
    public let result: CommandResult
    public var description: String { result.description }
    public var errorDescription: String? { description }
  }
#endif
