#if Process
  import DurableJobs
  import DurableJobsSystem
  import Foundation

  /// A command as a job: `ShellCommand(["gzip", "-9kf", "video.mov"])`.
  ///
  /// A program whose workers run commands calls ``superviseIfAsked()`` first, and registers the kind with them:
  ///
  ///     worker.register(ShellCommand.self)
  ///
  /// A command dies with its worker, however that ends, and another worker runs it again. It has one attempt unless its
  /// job's options set more. It has no terminal and an empty standard input; its output is kept, see ``CommandLogs``.
  public struct ShellCommand: JobPayload, Hashable {
    public static let kind = "command"
    public static let options = JobOptions(maxAttempts: 1)

    /// What is stored for a command that succeeded.
    public struct Output: Codable, Hashable, Sendable {
      public var exitCode = 0

      public init() {}
    }

    /// The program and its arguments as they were given; with ``shell``, a line for `/bin/sh` and its `$1`, `$2`, ….
    public var arguments: [SystemText]
    /// The folder to run in, as an absolute path.
    public var cwd: SystemText
    /// The umask in octal, such as "022".
    public var umask: String
    /// The whole environment of the command.
    public var env: [String: SystemText]
    public var shell: Bool

    /// A command of these words, the first of which is the program. With `shell`, the first is a line for `/bin/sh`,
    /// and the others are its `$1`, `$2`, ….
    ///
    /// It runs in `folder`, by default the current one; a relative path starts there. From this process's environment
    /// it gets `PATH`, `HOME`, `USER`, `LANG`, `LC_*`, `TZ`, `TERM`, `XDG_*`, `SSH_AUTH_SOCK` and the proxies
    /// (`http_proxy` and the like), and in addition the variables in `environment`. Its umask is that of this process.
    public init(
      _ arguments: [String], in folder: String = ".", environment: [String: String] = [:], shell: Bool = false
    ) {
      self.init(
        arguments: arguments.map { SystemText($0) }, cwd: SystemText(URL(fileURLWithPath: folder).path),
        umask: Self.octal(Program.currentUmask),
        env: SystemText.inheritedEnvironment.merging(environment.mapValues { SystemText($0) }) { $1 }, shell: shell)
    }

    package init(arguments: [SystemText], cwd: SystemText, umask: String, env: [String: SystemText], shell: Bool) {
      self.arguments = arguments
      self.cwd = cwd
      self.umask = umask
      self.env = env
      self.shell = shell
    }

    /// The command of a job; nil if the job is of another kind, or its payload is not a command.
    package init?(_ job: JobSnapshot) {
      guard job.kind == Self.kind, let payload = job.payload,
        let command = try? JSONDecoder().decode(Self.self, from: payload)
      else { return nil }
      self = command
    }

    public func validate() throws {
      if arguments.isEmpty { throw JobError(.invalidArgument, "the command has no words; name a program") }
      // The system reads each one up to its first zero byte.
      guard (arguments + [cwd] + env.values).allSatisfy({ !$0.bytes.contains(0) }),
        env.keys.allSatisfy({ !$0.utf8.contains(0) })
      else {
        throw JobError(.invalidArgument, "a word, the folder or the environment of the command has a zero byte in it")
      }
    }

    /// A line that the command wrote, for more readers than its log has: as much as is stored of it, without the values of
    /// variables that only it was given, or that may hold a password, such as a proxy's. Fewer than six characters are no
    /// secret.
    func hidingValues(in line: String) -> String {
      let lines = env.filter { !Self.isInherited($0.key) && !Self.plain.contains($0.key) || Self.isProxy($0.key) }
        .flatMap { $0.value.display.split(whereSeparator: \.isNewline) }
      // A shell that reads a variable without quotes passes its words on, one blank between them.
      let secrets = lines.flatMap { line -> [String] in
        let words = line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return [words, line.trimmingCharacters(in: .whitespaces)]
      }
      // What is longer than the line does not stand in it.
      let possible = secrets.filter { $0.count >= 6 && $0.utf8.count <= line.utf8.count }
      let redaction = Redaction(possible.map { Data($0.utf8) }, inBase64: false)
      // And what is not stored need not be looked through; a character that is cut here is cut off.
      var length = Limits.messageBytes + redaction.margin + 4
      while true {
        let read = Data(line.utf8.prefix(length))
        let kept = redaction.kept(read, read.count, isCut: read.count < line.utf8.count)
        if kept.count > Limits.messageBytes + 4 || read.count == line.utf8.count {
          return String(decoding: kept, as: UTF8.self).cutToMessage
        }
        length *= 2
      }
    }

    /// The words that are executed.
    var words: [SystemText] {
      guard shell, let line = arguments.first else { return arguments }
      return ["/bin/sh", "-c", line, "sh"] + arguments.dropFirst()
    }

    /// A umask such as "022".
    package static func octal(_ mask: mode_t) -> String { String(("00" + String(mask, radix: 8)).suffix(3)) }

    /// Names of variables that a command gets from the process that adds it.
    package static func isInherited(_ name: String) -> Bool {
      ["PATH", "HOME", "USER", "LANG", "TZ", "TERM", "SSH_AUTH_SOCK"].contains(name) || name.hasPrefix("LC_")
        || name.hasPrefix("XDG_") || isProxy(name)
    }

    private static func isProxy(_ name: String) -> Bool {
      ["http_proxy", "https_proxy", "no_proxy", "all_proxy"].contains(name.lowercased())
    }

    /// Variables of every shell that are not secrets, in case all variables are given.
    private static let plain: Set = ["PWD", "OLDPWD", "SHELL", "LOGNAME", "HOSTNAME", "EDITOR", "VISUAL", "PAGER"]
  }
#endif
