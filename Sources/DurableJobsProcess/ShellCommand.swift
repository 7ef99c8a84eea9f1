#if Process
  import DurableJobs
  import Foundation

  /// A command as it is stored: the payload of a job of the kind "command".
  package struct ShellCommand: Codable, Hashable, Sendable {
    package static let kind = "command"

    /// The program and its arguments as they were given; with ``shell``, a line for `/bin/sh` and its `$1`, `$2`, ….
    package var arguments: [SystemText]
    /// The folder to run in.
    package var cwd: SystemText
    /// In octal, as in "022".
    package var umask: String
    /// All that the command finds in its environment.
    package var env: [String: SystemText]
    package var shell: Bool

    /// What is executed.
    package var words: [SystemText] {
      guard shell, let line = arguments.first else { return arguments }
      return [SystemText("/bin/sh"), SystemText("-c"), line, SystemText("sh")] + arguments.dropFirst()
    }

    /// Names of variables that a command gets from the process that adds it.
    package static func isInherited(_ name: String) -> Bool {
      ["PATH", "HOME", "USER", "LANG", "TZ", "TERM"].contains(name) || name.hasPrefix("LC_")
    }

    package init(arguments: [SystemText], cwd: SystemText, umask: String, env: [String: SystemText], shell: Bool) {
      self.arguments = arguments
      self.cwd = cwd
      self.umask = umask
      self.env = env
      self.shell = shell
    }

    /// The command of a job; nil if it is of another kind, or its payload is none.
    package init?(_ job: JobSnapshot) {
      guard job.kind == Self.kind, let payload = job.payload,
        let command = try? JSONDecoder().decode(Self.self, from: payload)
      else { return nil }
      self = command
    }
  }
#endif
