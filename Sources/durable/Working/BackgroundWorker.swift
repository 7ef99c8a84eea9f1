#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  /// The worker of a store that goes on without a terminal: a process of its own, at most one for each store. While it lives
  /// it holds the lock of a file that says who it is, so that no number of a process that is gone is ever asked to stop.
  struct BackgroundWorker {
    /// The path of its store.
    let store: String

    private var file: String { store + "-worker" }
    /// What it says.
    var log: String { store + "-worker.log" }

    /// A log that is larger when a worker begins makes room for another; one older is kept.
    private static let mostLog = 1 << 20
    /// So long a process is waited for without a word.
    private static let patience = Duration.seconds(15)
    /// Where one that was just started says that it works.
    private static let news: Int32 = 3

    /// The process that is this worker, if there is one. Throws if it can't be seen from here.
    func process() throws -> pid_t? {
      let lock = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard lock >= 0 else { return nil }
      defer { close(lock) }
      return try known(lock)
    }

    private func known(_ lock: Int32) throws -> pid_t? {
      let began = ContinuousClock.now
      while Self.isHeld(lock) {
        let process = self.process(named: lock)
        if process != 0 { return process }
        guard began.duration(to: .now) < .seconds(3) else {
          throw JobError(
            .alreadyRunning,
            "a worker is at work in the background that can't be seen from here: stop it in the container in which it runs"
          )
        }
        usleep(10_000)  // it has just begun, and says who it is at once
      }
      return nil
    }

    private static func isHeld(_ lock: Int32) -> Bool { flock(lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK }

    /// What the file of a lock that is held says may be of the one that held it before: its number may be a stranger's by now.
    /// 0 while it has not said who it is.
    private func process(named lock: Int32) -> pid_t {
      let words = Self.words(in: lock)
      guard words.count >= 2, let number = pid_t(words[0]), number > 1, let start = UInt64(words[1]),
        ProcessEntry(number)?.start == start
      else { return 0 }
      return number
    }

    /// The number of the process, when it started, and of a store on a server what is typed for it.
    private static func words(in lock: Int32) -> [Substring] {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = pread(lock, &bytes, bytes.count, 0)
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ", maxSplits: 2)
    }

    /// The one that works on a store on a server, known by what was typed for that when it began: for who can't ask the server
    /// what its files here are called. Nil if there is none, or several.
    init?(at place: ServerPlace) {
      guard let folder = try? StoreOptions.dataFolder else { return nil }
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      let found = names.filter { $0.hasSuffix("-worker") }.map { "\(folder)/\($0)" }.filter { path in
        let lock = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard lock >= 0 else { return false }
        defer { close(lock) }
        let words = Self.words(in: lock)
        return words.count == 3 && words[2] == place.shown && Self.isHeld(lock)
      }
      guard found.count == 1 else { return nil }
      store = String(found[0].dropLast("-worker".count))
    }

    init(store: String) { self.store = store }

    /// Starts it with these words, and waits until it works. If it ended before, this says what it said, and throws its exit
    /// code. A signal that ends this process meanwhile ends it, too.
    func start(_ words: [String]) async throws -> pid_t {
      let begun = Lock<pid_t>(0)
      let watch = await SignalWatch([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { signal in
        begun.withLock { process in
          if process > 0 {
            for signal in [SIGTERM, SIGCONT] { kill(process, signal) }
            Talk.line("The worker that was just started, process \(process), is asked to stop")
          }
          Foundation.exit(128 + signal)
        }
      }
      defer { withExtendedLifetime(watch) {} }
      return try start(words, begun)
    }

    private func start(_ words: [String], _ begun: Lock<pid_t>) throws -> pid_t {
      if let size = try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int, size > Self.mostLog {
        rename(log, log + ".old")
      }
      let output = open(log, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0o600)
      guard output >= 0 else {
        throw JobError(.unusableFile, SystemError("the file \(log) can't be written", errno).description)
      }
      let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
      let news = try Descriptors.pipe()
      // Until it works, it complains to this process: its log may take nothing.
      let complaints = try Descriptors.pipe()
      defer { for file in [output, input, news.read, complaints.read] { close(file) } }
      // Its files are to be as if it had been started by hand.
      let mask = umask(Program.umaskAtStart)
      let started = Result {
        try begun.withLock { begun in
          begun = try Program.start(words, [input, output, complaints.write, news.write], leads: .session)
          return begun
        }
      }
      umask(mask)
      for file in [news.write, complaints.write] { close(file) }
      let process = try started.get()
      let why = "Process \(process) does not work yet; it is waited for"
      let (said, works) = Talk.whileWaiting(longerThan: Self.patience, why) {
        let said = (try? FileHandle(fileDescriptor: complaints.read).readToEnd()) ?? Data()
        _ = said.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
        var byte: UInt8 = 0
        var count = read(news.read, &byte, 1)
        while count < 0, errno == EINTR { count = read(news.read, &byte, 1) }
        return (said, count == 1)
      }
      // Who ends it on a signal, and then this process, has this until then.
      begun.withLock { _ in }
      guard works else {
        var status: Int32 = 0
        waitpid(process, &status, 0)
        let signal = status & 0x7f
        let silence = signal == 0 ? "it said nothing" : "\(CommandResult.killed(signal: signal))"
        let words = String(decoding: said, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        Talk.error("the worker ended at once: \(words.isEmpty ? silence : words)")
        let code = signal == 0 ? status >> 8 & 0xff : 0
        throw code == 0 ? ExitCode(.storeNotUsable) : ExitCode(code)
      }
      return process
    }

    /// Makes this process that worker; `place` is where its store is. Throws if there is another, or if it can't be noted
    /// which process it is: nobody could end it then.
    func begin(at place: StorePlace) throws {
      // The lock goes with the process, however that ends.
      let lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard lock >= 0 else { throw noted(errno) }
      guard try Descriptors.lock(lock, file) else {
        throw JobError(.alreadyRunning, "another worker is at work in the background already")
      }
      let name = if case .server(let place) = place { " \(place.shown)" } else { "" }
      let text = Array("\(getpid()) \(ProcessEntry(getpid())?.start ?? 0)\(name)".utf8)
      guard ftruncate(lock, 0) == 0, write(lock, text, text.count) == text.count else {
        defer { close(lock) }
        throw noted(errno)
      }
      JobFolder.leaveOwnJobs()
      // No folder is kept from being unmounted; but a connection string may name files by where it was typed.
      if case .file = place { _ = chdir("/") }
    }

    private func noted(_ code: Int32) -> JobError {
      JobError(.unusableFile, SystemError("the file \(file) can't be written", code).description)
    }

    /// Whether ``start(_:)`` started this process. It must be asked before anything else is opened, which may get the number of
    /// what that gave. Of what the shell had open nothing is kept.
    static let wasStarted: Bool = {
      var status = stat()
      guard CommandLine.arguments.contains("--in-background"), fstat(news, &status) == 0,
        status.st_mode & S_IFMT == S_IFIFO, fcntl(news, F_SETFD, FD_CLOEXEC) == 0
      else { return false }
      Descriptors.closeOthers(above: news)
      return true
    }()

    /// Says to who started this process that it works. From now on it complains to its log.
    static func hasBegun() {
      dup2(STDOUT_FILENO, STDERR_FILENO)
      _ = write(news, "1", 1)
      close(news)
    }

    /// Asks it to stop, and waits until it has. Returns which process it was; nil if there was none. Throws if it can't be asked
    /// from here.
    func stop() throws -> pid_t? {
      let lock = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      guard lock >= 0 else {
        guard errno == ENOENT else {
          throw JobError(.unusableFile, SystemError("the file \(file) can't be read", errno).description)
        }
        return nil
      }
      defer { close(lock) }
      guard let process = try known(lock) else { return nil }
      // It would end this, too, and the next worker would run it again.
      guard !ProcessEntry.isAncestor(process) else {
        throw JobError(
          .wrongState, "this is a part of a command that process \(process) runs: it would be ended with its own worker"
        )
      }
      guard kill(process, SIGTERM) == 0 || errno == ESRCH else {
        throw JobError(.unusableFile, SystemError("process \(process) can't be asked to stop", errno).description)
      }
      // One that somebody has stopped would hear it only when it goes on.
      kill(process, SIGCONT)
      let why = "Process \(process) has not stopped yet; it is waited for"
      // Its end lets go of the lock, however it comes about.
      Talk.whileWaiting(longerThan: Self.patience, why) { while flock(lock, LOCK_SH) != 0, errno == EINTR {} }
      return process
    }
  }
#endif
