#if Process
  import DurableJobs
  import Foundation

  /// The order that supervisor and launcher get on their standard input.
  struct RunOrder: Codable, Sendable {
    var command: ShellCommand
    var folder: JobFolder
    var run: Int
    /// How many files the command may open.
    var openFiles: UInt64?
    /// Its output is shown while it is written: it waits for the reader, and nothing is left out.
    var isFollowed = false

    var lock: CommandLock { folder.lock }
  }

  /// Why a command was not started.
  enum LaunchTrouble: Codable, Sendable {
    /// Something of an earlier run is alive.
    case lockHeld
    /// A later run of the job has begun since this was ordered: its worker was assumed dead.
    case overtaken
    /// It can't be started, now or later.
    case impossible(String)
    /// It can't be started now, because something is missing.
    case passing(String)
    /// The worker's own place or program is not as it should be, as the system's code says: no fault of the command's.
    case setback(String, Int32)

    init(_ error: any Error) {
      let message = error.briefly
      self = error.lasts ? .impossible(message) : .passing(message)
    }

    /// For what fails whatever the command is.
    init(ofWorker error: any Error) {
      if error.lasts, let code = error.systemCode {
        self = .setback((error as? Refusal)?.what ?? error.briefly, code)
      } else {
        self = .passing(error.briefly)
      }
    }
  }

  /// The step that becomes the command: takes its lock, sets up its environment, and executes it.
  enum Launcher {
    static let argument = "launch-command"
    /// Where the supervisor is told why the command was not started.
    private static let trouble: Int32 = 3

    /// Throws if it can't tell the supervisor.
    static func run() throws -> Never {
      guard fcntl(trouble, F_SETFD, FD_CLOEXEC) == 0 else {
        throw SystemError("\(argument) is for a supervisor alone")
      }
      let reason: LaunchTrouble
      do {
        let order = try JSONDecoder().decode(RunOrder.self, from: FileHandle.standardInput.readToEnd() ?? Data())
        do {
          guard try order.lock.take() else { throw Refused(trouble: .lockHeld) }
        } catch let refusal as Refusal {
          throw Refused(trouble: LaunchTrouble(ofWorker: refusal))
        }
        try become(order)
      } catch let refused as Refused {
        reason = refused.trouble
      } catch let error as DecodingError {
        reason = .impossible("\(error)")
      } catch {
        reason = LaunchTrouble(error)
      }
      _ = try JSONEncoder().encode(reason).withUnsafeBytes { Descriptors.write($0, to: trouble) }
      exit(127)
    }

    private struct Refused: Error {
      let trouble: LaunchTrouble

      init(trouble: LaunchTrouble) { self.trouble = trouble }
      init(_ message: String) { trouble = .impossible(message) }
    }

    /// Returns only by throwing.
    private static func become(_ order: RunOrder) throws -> Never {
      let command = order.command
      guard command.cwd.withCString({ chdir($0) }) == 0 else {
        let code = errno
        let folder = command.cwd.display
        if code == ENOENT { throw Refused("the folder \(folder) is gone; the command was to run in it") }
        throw Refusal("can't enter the folder \(folder)", code)
      }
      umask(mode_t(command.umask, radix: 8) ?? 0o022)
      let null = open("/dev/null", O_RDONLY)
      guard null >= 0, dup2(null, STDIN_FILENO) == STDIN_FILENO else { throw Refusal("can't open /dev/null") }
      close(null)
      if let count = order.openFiles { Program.limitOpenFiles(to: count) }
      // A request to end that has arrived since this process began ends it here.
      var none = sigset_t()
      sigemptyset(&none)
      sigprocmask(SIG_SETMASK, &none, nil)
      let words = command.words
      let (code, isFound) = execute(words, order.folder.environment(command.env))
      // A line that was given as one word may be long, and contain secrets after its first space.
      let whole = words[0].display
      let first = whole.split(whereSeparator: \.isWhitespace).first ?? ""
      var name = String(first.prefix(200)) + (first.count > 200 ? "…" : first.endIndex < whole.endIndex ? " …" : "")
      // As a shell would set a variable, whose value may be one.
      if let sign = name.firstIndex(of: "=") {
        name = "\(name[...sign])…" + (isFound ? "" : "; a variable is given with --env")
      }
      switch code {
      case ENOENT where isFound:
        throw Refused("\(name) can't be run: what its first line names, or the loader that it needs, is not there")
      case ENOENT: throw Refused("command not found: \(name)\(Self.advice(on: whole))")
      case EACCES, ENOTDIR, EISDIR: throw Refused("\(name) is not executable: \(SystemError.words(code))")
      default: throw Refusal("can't run \(name)", code)
      }
    }

    /// Advice for a whole line that was given as one word, alone or with others after it.
    private static func advice(on name: String) -> String {
      guard name.contains(where: \.isWhitespace) else { return "" }
      return "; this is one word, with a space in it: give each word apart, or use --shell"
    }

    /// Tries the program in each folder of the command's own PATH, like a shell. Returns why none could be executed, and
    /// whether there is one.
    private static func execute(_ words: [SystemText], _ env: [String: SystemText]) -> (code: Int32, isFound: Bool) {
      let name = words[0].bytes
      let slash = UInt8(ascii: "/")
      guard !name.isEmpty else { return (ENOENT, false) }
      let folders =
        name.contains(slash)
        ? [[]]
        : (env["PATH"] ?? SystemText("/usr/local/bin:/usr/bin:/bin")).bytes
          .split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map { $0 + [slash] }
      let environment = env.map { SystemText(bytes: Array($0.key.utf8) + [UInt8(ascii: "=")] + $0.value.bytes) }
      var first: Int32?
      for folder in folders {
        let program = SystemText(bytes: (folder == [slash] ? [] : folder) + name)
        var code = replaceProcess(program, words, environment)
        if code == ENOEXEC {
          // A script without a first line that names its interpreter.
          code = replaceProcess(
            SystemText("/bin/sh"), [SystemText("/bin/sh"), program] + words.dropFirst(), environment)
        }
        let isFound = program.withCString { access($0, F_OK) } == 0
        // Any other code tells why the program that was found can't be run.
        guard [ENOENT, ENOTDIR, EACCES, ENAMETOOLONG].contains(code) else { return (code, isFound) }
        if name.contains(slash) { return (code, isFound) }
        if isFound, first == nil { first = code }
      }
      return (first ?? ENOENT, first != nil)
    }

    private static func replaceProcess(
      _ program: SystemText, _ words: [SystemText], _ environment: [SystemText]
    ) -> Int32 {
      let argv = words.map { $0.withCString { strdup($0) } } + [nil]
      let envp = environment.map { $0.withCString { strdup($0) } } + [nil]
      defer { for copy in argv + envp { free(copy) } }
      _ = program.withCString { execve($0, argv, envp) }
      return errno
    }
  }
#endif
