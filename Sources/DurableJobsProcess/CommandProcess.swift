#if Process
  import DurableJobs
  import Foundation

  /// The process that is to become the command, a child of this one: it runs the ``Launcher`` first. It leads a group, as
  /// what a shell starts from a terminal, so that what the command sends to its own group does not reach this process.
  struct CommandProcess {
    let number: pid_t
    /// What it writes, to be read here.
    let stdout: Int32
    let stderr: Int32
    /// Where the launcher says what keeps it from becoming the command.
    private let trouble: Int32

    init(_ order: RunOrder) throws {
      let input = try Descriptors.pipe()
      let output = try Descriptors.pipe()
      let error = try Descriptors.pipe()
      let trouble = try Descriptors.pipe()
      // A TERM that comes before the launcher has become the command ends it there.
      number = try Program.start(
        [Launcher.argument], [input.read, output.write, error.write, trouble.write], leads: .group, blocking: [SIGTERM])
      // At once: a launcher that dies before it has read all is noticed by writing to it.
      for end in [input.read, output.write, error.write, trouble.write] { close(end) }
      stdout = output.read
      stderr = error.read
      self.trouble = trouble.read
      _ = try JSONEncoder().encode(order).withUnsafeBytes { Descriptors.write($0, to: input.write) }
      close(input.write)
    }

    /// To the whole session, which this process leads, and to the command also where it has left that.
    func send(_ signal: Int32, hasEnded: Bool) {
      // Its number is nobody else's as long as its end was not looked at, or somebody is left in its group.
      let isItsOwn = !hasEnded || getsid(number) < 0 && ProcessEntry.isSomeone(-number)
      // Also to who is not shown here, as another user's.
      if isItsOwn { kill(-number, signal) }
      ProcessEntry.send(signal, toSession: getpid(), besides: isItsOwn ? number : nil)
      if !hasEnded, getpgid(number) != number { CommandHolder.sendToEscapee(number, from: getpid(), signal) }
    }

    /// Lets it go on if it has stopped itself as at a terminal: here is nobody who would. Who was stopped by STOP was meant to be.
    func goOnIfStopped() {
      var news = siginfo_t()
      guard waitid(P_PID, id_t(number), &news, WSTOPPED | WNOHANG) == 0, news.si_code == CLD_STOPPED,
        [SIGTSTP, SIGTTIN, SIGTTOU].contains(Self.signal(news))
      else { return }
      // With its group, which a terminal stops as one.
      kill(-number, SIGCONT)
    }

    private static func signal(_ news: siginfo_t) -> Int32 {
      #if canImport(Darwin)
        news.si_status
      #else
        news._sifields._sigchld.si_status
      #endif
    }

    /// How it ended; nil if it has not. Not to be asked again after that.
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
