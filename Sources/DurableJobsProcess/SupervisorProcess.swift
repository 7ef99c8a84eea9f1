#if Process
  import DurableJobs
  import Foundation

  /// A supervisor that this process has started.
  struct SupervisorProcess: Sendable {
    let number: pid_t
    private let output: Int32

    /// `input` is its end of the life line.
    init(input: Int32) throws {
      let (read, write) = try Descriptors.pipe()
      defer { close(write) }
      do {
        // No terminal either: what asks for a password fails at once, and stops nobody.
        number = try Program.start(Supervisor.argument, [input, write, STDERR_FILENO], leadsSession: true)
      } catch {
        close(read)
        throw error
      }
      output = read
    }

    /// Waits for its end, on a thread, and returns what it told before that. Until then the life line may kill it.
    func report(_ lifeLine: LifeLine) async -> Data {
      Thread.detachNewThread { keepGoing(lifeLine) }
      return await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          let told = try? FileHandle(fileDescriptor: output, closeOnDealloc: true).readToEnd()
          // From here on its number may become another's.
          lifeLine.end()
          while waitpid(number, nil, 0) < 0, errno == EINTR {}
          continuation.resume(returning: told ?? Data())
        }
      }
    }

    /// Lets it go on when its command stops it, until it has ended.
    private func keepGoing(_ lifeLine: LifeLine) {
      var news = siginfo_t()
      while true {
        // Its end is only looked at, and noticed elsewhere.
        guard waitid(P_PID, id_t(number), &news, WSTOPPED | WEXITED | WNOWAIT) == 0 else {
          if errno == EINTR { continue }
          return
        }
        guard news.si_code == CLD_STOPPED else { return }
        lifeLine.letGoOn()
      }
    }
  }

  extension Program {
    /// Starts this program again, with these as its first descriptors. For it, signals are as the system gives them, whatever
    /// they are here; those in `blocking` wait until it lets them in.
    static func start(
      _ argument: String, _ descriptors: [Int32], leadsSession: Bool = false, blocking: [Int32] = []
    ) throws -> pid_t {
      #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        var flags = POSIX_SPAWN_CLOEXEC_DEFAULT
      #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        var flags: Int32 = 0
        // It is no name in Swift, since the C library shows it to GNU sources only.
        let POSIX_SPAWN_SETSID: Int32 = 0x80
      #endif
      posix_spawn_file_actions_init(&actions)
      posix_spawnattr_init(&attributes)
      defer {
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
      }
      var all = sigset_t()
      sigfillset(&all)
      for signal in [SIGKILL, SIGSTOP] { sigdelset(&all, signal) }
      posix_spawnattr_setsigdefault(&attributes, &all)
      var blocked = sigset_t()
      sigemptyset(&blocked)
      for signal in blocking { sigaddset(&blocked, signal) }
      posix_spawnattr_setsigmask(&attributes, &blocked)
      flags |= Int32(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)
      if leadsSession { flags |= Int32(POSIX_SPAWN_SETSID) }
      posix_spawnattr_setflags(&attributes, Int16(flags))
      for (number, descriptor) in descriptors.enumerated() {
        posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
      }
      let variables = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
      let arguments: [String] = [path, argument]
      var words = arguments.map { strdup($0) } + [nil]
      var settings = variables.map { strdup($0) } + [nil]
      defer { for text in words + settings { free(text) } }
      var number: pid_t = 0
      let code = posix_spawn(&number, path, &actions, &attributes, &words, &settings)
      guard code == 0 else { throw Refusal("can't start a process for the command", code) }
      return number
    }
  }
#endif
