#if Process
  import DurableJobs
  import Foundation

  /// The process that is to become the command, a child of this one: it runs the ``Launcher`` first. It leads a group,
  /// like what a shell starts from a terminal, so that signals to its own group do not reach this process.
  struct CommandProcess {
    let number: pid_t
    /// Its standard output, to be read here.
    let stdout: Int32
    let stderr: Int32
    /// Where the launcher reports what keeps it from becoming the command.
    private let trouble: Int32

    init(_ order: RunOrder) throws {
      let input = try Descriptors.pipe()
      let output = try Descriptors.pipe()
      let error = try Descriptors.pipe()
      let trouble = try Descriptors.pipe()
      // A TERM that arrives before the launcher has become the command ends it there.
      number = try Program.start(
        [Launcher.argument], [input.read, output.write, error.write, trouble.write], leads: .group, blocking: [SIGTERM])
      // At once: a launcher that dies before it has read everything is noticed by writing to it.
      for end in [input.read, output.write, error.write, trouble.write] { close(end) }
      stdout = output.read
      stderr = error.read
      self.trouble = trouble.read
      _ = try JSONEncoder().encode(order).withUnsafeBytes { Descriptors.write($0, to: input.write) }
      close(input.write)
    }

    /// Sends to the whole session, which this process leads, and to the command even if it has left that.
    func send(_ signal: Int32, hasEnded: Bool) {
      // Its number is not reused until its end was collected, or while its group has members.
      let isItsOwn = !hasEnded || getsid(number) < 0 && ProcessEntry.isSomeone(-number)
      // Also reaches processes that are not visible here, such as another user's.
      if isItsOwn { ProcessEntry.send(signal, to: -number) }
      ProcessEntry.send(signal, toSession: getpid(), besides: isItsOwn ? number : nil)
      if !hasEnded, getpgid(number) != number { CommandHolder.sendToEscapee(number, from: getpid(), signal) }
    }

    /// Continues it if it was stopped as by a terminal, since nobody here would. One stopped by STOP was meant to be.
    func goOnIfStopped() {
      var news = siginfo_t()
      guard waitid(P_PID, id_t(number), &news, WSTOPPED | WNOHANG) == 0, news.si_code == CLD_STOPPED,
        [SIGTSTP, SIGTTIN, SIGTTOU].contains(Self.signal(news))
      else { return }
      // With its group, which a terminal stops as a whole.
      kill(-number, SIGCONT)
    }

    private static func signal(_ news: siginfo_t) -> Int32 {
      #if canImport(Darwin)
        news.si_status
      #else
        news._sifields._sigchld.si_status
      #endif
    }

    /// How it ended; nil if it has not. Must not be called again after its end was returned.
    func reap() throws -> SupervisorReport.Ending? {
      var status: Int32 = 0
      switch waitpid(number, &status, WNOHANG) {
      case 0: return nil
      case number: break
      default: throw Refusal("can't learn how the command ended")
      }
      let said = FileHandle(fileDescriptor: trouble, closeOnDealloc: true)
      if let data = try? said.readToEnd(), let trouble = try? JSONDecoder().decode(LaunchTrouble.self, from: data) {
        return .notStarted(trouble)
      }
      let signal = status & 0x7f
      return signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal)
    }
  }
#endif
