#if Process
  import DurableJobs
  import DurableJobsProcess
  import DurableJobsSQLite
  import DurableJobsTesting
  import Foundation

  /// A program for tests, whose workers run commands, and which is a command itself.
  ///
  ///     CommandProbe work STORE [CONCURRENCY]   runs what is stored until nothing is left to do
  ///     CommandProbe unasked STORE              the same, without supervising if asked
  ///     CommandProbe deaf …                     the same as without that word, where the parent ignores the end of children
  ///     CommandProbe nowhere                    works on a store that names no place until nothing is left to do, and says
  ///                                             what became of a command there
  ///     CommandProbe headless                   stays, without its first thread
  ///     CommandProbe alone FOLDER [away]        closes all that it inherited, and stays; "away": leaves its group first
  @main struct CommandProbe {
    static func main() async throws {
      let arguments = CommandLine.arguments
      if arguments[1] == "deaf" {
        signal(SIGCHLD, SIG_IGN)
        var words = ([arguments[0]] + arguments.dropFirst(2)).map { strdup($0) } + [nil]
        execv(arguments[0], &words)
      }
      if arguments[1] != "unasked" { ShellCommand.superviseIfAsked() }
      switch arguments[1] {
      case "work", "unasked": try await work(arguments[2], concurrency: arguments.count > 3 ? Int(arguments[3])! : 1)
      case "nowhere": try await workNowhere()
      case "headless": headless()
      case "alone": alone(arguments[2], isAway: arguments.count > 3)
      default: fatalError("unknown: \(arguments)")
      }
    }

    private static func work(_ path: String, concurrency: Int) async throws {
      var configuration = SQLiteStore.Configuration()
      // How often a job may take its process along is not what these tests are about.
      configuration.policy.maxCrashesInRow = 100_000
      configuration.policy.maxCrashes = 100_000
      configuration.policy.crashBackOff = BackOff(base: .milliseconds(1), factor: 1, cap: .milliseconds(1))
      let store = try SQLiteStore(path: path, configuration: configuration)
      let worker = JobWorker(JobQueue(store: store), maxConcurrentJobs: concurrency)
      worker.register(ShellCommand.self)
      try await worker.runUntilIdle()
      await store.close()
    }

    private static func workNowhere() async throws {
      let queue = JobQueue(store: FaultyStore(InMemoryStore()))
      let worker = JobWorker(queue)
      worker.register(ShellCommand.self)
      let job = try await queue.enqueue(ShellCommand(["true"]))
      try await worker.runUntilIdle()
      print(try await job.snapshot.state)
    }

    /// Notes in the folder that it runs, and if another one does too: each holds a lock there to its end.
    private static func alone(_ folder: String, isAway: Bool) -> Never {
      // Who leads a group must leave that first.
      if isAway, setsid() < 0 {
        setpgid(0, getpgid(getppid()))
        setsid()
      }
      for descriptor in 3..<Int32(1024) { close(descriptor) }
      let unique = open(folder + "/unique", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      if flock(unique, LOCK_EX | LOCK_NB) != 0 { note("\(getpid())", in: folder + "/twins") }
      note("\(getpid())", in: folder + "/runs")
      while true { pause() }
    }

    private static func headless() -> Never {
      Thread.detachNewThread { while true { pause() } }
      pthread_exit(nil)
    }

    private static func note(_ line: String, in path: String) {
      let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
      _ = (line + "\n").utf8CString.withUnsafeBytes { write(file, $0.baseAddress, $0.count - 1) }
      close(file)
    }
  }
#else
  @main struct CommandProbe {
    static func main() {}
  }
#endif
