#if Shell
  import DurableJobs
  import DurableJobsHTTP
  import Foundation

  /// A command as it is stored: the payload of a job of the kind "command".
  struct ShellCommand: Codable, Hashable, Sendable {
    static let kind = "command"

    /// The program and its arguments as they were given; with ``shell``, a line for `/bin/sh` and its `$1`, `$2`, ….
    var arguments: [SystemText]
    /// The folder to run in.
    var cwd: SystemText
    /// In octal, as in "022".
    var umask: String
    /// All that the command finds in its environment.
    var env: [String: SystemText]
    var shell: Bool

    /// What is executed.
    var words: [SystemText] {
      guard shell, let line = arguments.first else { return arguments }
      return [SystemText("/bin/sh"), SystemText("-c"), line, SystemText("sh")] + arguments.dropFirst()
    }

    /// The command as one could type it again.
    var typed: String {
      guard shell, let line = arguments.first else { return arguments.map(\.shellQuoted).joined(separator: " ") }
      return
        (["sh", "-c", line.shellQuoted] + (arguments.count > 1 ? ["sh"] : [])
        + arguments.dropFirst().map(\.shellQuoted)).joined(separator: " ")
    }

    /// Names of variables that a command gets from the process that adds it.
    static func isInherited(_ name: String) -> Bool {
      ["PATH", "HOME", "USER", "LANG", "TZ", "TERM"].contains(name) || name.hasPrefix("LC_")
    }

    init(arguments: [SystemText], cwd: SystemText, umask: String, env: [String: SystemText], shell: Bool) {
      self.arguments = arguments
      self.cwd = cwd
      self.umask = umask
      self.env = env
      self.shell = shell
    }

    /// The command of a job; nil if it is of another kind, or its payload is none.
    init?(_ job: JobSnapshot) {
      guard job.kind == Self.kind, let payload = job.payload,
        let command = try? JSONDecoder().decode(Self.self, from: payload)
      else { return nil }
      self = command
    }
  }

  extension JobSnapshot {
    /// What it does, in a line: a command as one could type it, a download's URL, or the kind.
    var title: String { ShellCommand(self)?.typed ?? Download(self)?.title ?? kind }
  }
#endif
