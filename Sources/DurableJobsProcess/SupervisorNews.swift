#if Process
  import Foundation

  /// Reports signals to a supervisor as bytes in a pipe, so that one `poll` waits for everything: a child has ended or
  /// stopped, or somebody wants this process to end. That also applies to the command, as when a service manager
  /// signals every process.
  struct SupervisorNews {
    /// Readable when there is news.
    let source: Int32

    /// These are not for the leader of a group, but it notes them.
    static let requests = [SIGTERM, SIGHUP, SIGINT]

    /// From now on all signals are reported, including pending ``requests``.
    init() throws {
      let pipe = try Descriptors.pipe()
      source = pipe.read
      for end in [pipe.read, pipe.write] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
      newsEnd = pipe.write
      for signal in Self.requests + [SIGCHLD] {
        var action = sigaction()
        #if canImport(Darwin)
          action.__sigaction_u.__sa_sigaction = { signal, news, _ in note(signal, from: news?.pointee.si_pid ?? 0) }
        #else
          action.__sigaction_handler.sa_sigaction = { signal, news, _ in
            note(signal, from: news?.pointee._sifields._kill.si_pid ?? 0)
          }
        #endif
        // Of several pending signals a request comes first, and what the command does then may be its answer.
        sigfillset(&action.sa_mask)
        action.sa_flags = Int32(SA_SIGINFO) | Int32(SA_RESTART)
        sigaction(signal, &action, nil)
      }
      var none = sigset_t()
      sigemptyset(&none)
      sigprocmask(SIG_SETMASK, &none, nil)
    }

    /// Takes what there is, in order: ``requests`` and `SIGCHLD`.
    func take() -> [Int32] {
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = read(source, &bytes, bytes.count)
      return bytes.prefix(max(0, count)).map(Int32.init)
    }
  }

  /// Set before the first signal is let in, and never again.
  private nonisolated(unsafe) var newsEnd: Int32 = -1

  /// Runs in a signal handler: only system calls are allowed. Signals that this process and its command send to their
  /// own group mean nothing.
  private func note(_ signal: Int32, from sender: pid_t) {
    let code = errno
    // A sender outside of this PID namespace has no number.
    let isOwn = signal != SIGCHLD && sender > 0 && getsid(sender) == getsid(0)
    var byte = UInt8(truncatingIfNeeded: signal)
    if !isOwn { _ = write(newsEnd, &byte, 1) }
    errno = code
  }
#endif
