#if Process
  import DurableJobs
  import DurableJobsSystem
  import Foundation

  /// A supervisor that this process has started.
  struct SupervisorProcess: Sendable {
    let number: pid_t
    private let watch: SupervisorWatch

    /// `input` is its end of the life line.
    init(input: Int32) throws {
      let (own, theirs) = try Descriptors.connected()
      defer { close(theirs) }
      watch = try SupervisorWatch(output: own)
      do {
        // No terminal either: a program that asks for a password fails at once, and blocks nobody.
        number = try Program.start(
          [Supervisor.argument], [input, theirs, STDERR_FILENO], leads: .session,
          blocking: SupervisorNews.requests)
      } catch {
        watch.begin(nil)
        throw error
      }
    }

    /// Waits for its end, and returns its report. Until then the life line may kill it. Must be called once.
    func report(_ lifeLine: LifeLine) async -> Data {
      await withCheckedContinuation { continuation in
        watch.begin(SupervisorWatch.Order(number: number, lifeLine: lifeLine, continuation: continuation))
      }
    }
  }

  /// A thread that waits for one supervisor, and continues it when its command stops it. It exists before the
  /// supervisor does, since later the system may have no more threads.
  private final class SupervisorWatch: Sendable {
    struct Order: Sendable {
      let number: pid_t
      let lifeLine: LifeLine
      let continuation: CheckedContinuation<Data, Never>
    }

    private let output: Int32
    private let order = Lock<Order?>(nil)
    private let hasOrder = DispatchSemaphore(value: 0)

    /// `output` is where the supervisor reports; it is closed here.
    init(output: Int32) throws {
      self.output = output
      _ = fcntl(output, F_SETFL, O_NONBLOCK)
      let code = SystemThread.start { self.run() }
      guard code == 0 else {
        close(output)
        throw Refusal("can't start a thread for the command", code)
      }
    }

    /// Without an order there is nothing to wait for.
    func begin(_ order: Order?) {
      self.order.withLock { $0 = order }
      hasOrder.signal()
    }

    private func run() {
      hasOrder.wait()
      defer { close(output) }
      guard let order = order.withLock({ $0 }) else { return }
      var news = siginfo_t()
      while true {
        // Its end is only observed: it stays a zombie, and its number is not reused.
        let code = waitid(P_PID, id_t(order.number), &news, WSTOPPED | WEXITED | WNOWAIT)
        if code != 0, errno == EINTR { continue }
        guard code == 0, news.si_code == CLD_STOPPED else { break }
        order.lifeLine.letGoOn()
      }
      // From here on its number may be reused.
      order.lifeLine.end()
      while waitpid(order.number, nil, 0) < 0, errno == EINTR {}
      order.continuation.resume(returning: Descriptors.rest(of: output))
    }
  }

  extension Program {
    /// What a process leads.
    package enum Leadership {
      case group
      case session
    }

    /// Starts this program again, with these as its first descriptors. Its signals have the system's defaults, whatever
    /// they are here; those in `blocking` wait until it unblocks them.
    package static func start(
      _ arguments: [String], _ descriptors: [Int32], leads: Leadership? = nil, blocking: [Int32] = []
    ) throws -> pid_t {
      #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        var flags = POSIX_SPAWN_CLOEXEC_DEFAULT
      #else
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        var flags: Int32 = 0
        // Swift has no name for it, since the C library shows it to GNU sources only.
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
      switch leads {
      case .session: flags |= Int32(POSIX_SPAWN_SETSID)
      case .group: flags |= Int32(POSIX_SPAWN_SETPGROUP)
      case nil: break
      }
      posix_spawnattr_setflags(&attributes, Int16(flags))
      for (number, descriptor) in descriptors.enumerated() {
        posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
      }
      let variables = ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }
      var words = ([path] + arguments).map { strdup($0) } + [nil]
      var settings = variables.map { strdup($0) } + [nil]
      defer { for text in words + settings { free(text) } }
      var number: pid_t = 0
      let code = posix_spawn(&number, path, &actions, &attributes, &words, &settings)
      guard code == 0 else { throw Refusal("can't start a process for the command", code) }
      return number
    }
  }
#endif
