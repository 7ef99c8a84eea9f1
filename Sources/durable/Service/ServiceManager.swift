#if Shell
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation
  import Subprocess

  /// The part of the system that starts programs after a log-in, as this user may tell it.
  struct ServiceManager {
    private let environment: [String: String]
    /// How long it may take to answer: a restart waits for a worker, which has 30 seconds to stop.
    private let patience: Duration
    /// The control groups of this process; empty where there are none.
    private let groups: String

    init(
      environment: [String: String] = ProcessInfo.processInfo.environment, patience: Duration = .seconds(60),
      groups: String = (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8)) ?? ""
    ) {
      self.environment = environment
      self.patience = patience
      self.groups = groups
    }

    #if os(macOS)
      static let program = "launchctl"
    #else
      static let program = "systemctl"
    #endif

    private var home: String { environment["HOME"] ?? NSHomeDirectory() }

    /// Where the file of a service belongs.
    func path(of file: ServiceFile) -> String {
      #if os(macOS)
        home + "/Library/LaunchAgents/\(file.label).plist"
      #else
        (environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.config")
          + "/systemd/user/\(file.unitName)"
      #endif
    }

    func text(of file: ServiceFile) -> String {
      #if os(macOS)
        file.agent
      #else
        file.unit
      #endif
    }

    /// Throws if the file of its name, here or where the system keeps its own, is not this program's, or if this process is
    /// part of what the service runs: that ends with it, and a worker that is started again would run it again.
    func check(_ file: ServiceFile) async throws {
      guard !file.holds(groups: groups) else {
        throw JobError(.wrongState, "this is a part of a command that the service runs: it would be ended with it")
      }
      var other = path(of: file)
      if let text = FileManager.default.contents(atPath: other) {
        if file.isOurs(String(decoding: text, as: UTF8.self)) { return }
      } else if (try? FileManager.default.attributesOfItem(atPath: other)) == nil {
        #if os(macOS)
          return
        #else
          let words = ["--user", "show", "--property", "FragmentPath", "--value", file.unitName]
          // Where it refuses, nothing of it can be started either, which is told later.
          let found = try await ask(words).said
          guard found.hasPrefix("/"), found != other,
            let text = FileManager.default.contents(atPath: found), !file.isOurs(String(decoding: text, as: UTF8.self))
          else { return }
          other = found
        #endif
      }
      throw JobError(
        .invalidArgument, "\(other.withVisibleControls) is not of this program; name another service with --name")
    }

    private struct Answer: Sendable {
      var said: String
      var complaint: String
      var status: TerminationStatus
    }

    /// Throws if it can't be asked, or does not answer.
    private func ask(_ words: [String]) async throws -> Answer {
      let answer = try await withThrowingTaskGroup(of: Answer?.self) { group in
        defer { group.cancelAll() }
        group.addTask {
          let result = try await Subprocess.run(
            .name(Self.program), arguments: Arguments(words), environment: subprocessEnvironment,
            output: .string(limit: 1 << 16), error: .string(limit: 1 << 16))
          return Answer(
            said: result.standardOutput.trimmed, complaint: result.standardError.trimmed,
            status: result.terminationStatus)
        }
        group.addTask {
          try await Task.sleep(for: patience)
          return nil
        }
        do {
          return try await group.next() ?? nil
        } catch {
          throw JobError(.storeFailed, "\(Self.program) can't be run here: \(error.briefly)")
        }
      }
      guard let answer else {
        throw JobError(
          .storeFailed,
          "'\(Self.command(words))' did not answer within \(patience.forPeople): is the manager of this user's services at "
            + "work, and does its bus answer?")
      }
      return answer
    }

    private var subprocessEnvironment: Environment {
      .custom(Dictionary(uniqueKeysWithValues: environment.map { (Environment.Key(stringLiteral: $0), $1) }))
    }

    private static func command(_ words: [String]) -> String { "\(program) \(words.joined(separator: " "))" }

    /// Has it started now and after each log-in.
    func enable(_ file: ServiceFile) async throws {
      #if os(macOS)
        _ = try? await run(["bootout", "gui/\(getuid())/\(file.label)"])
        try await run(["bootstrap", "gui/\(getuid())", path(of: file)])
      #else
        try await run(["--user", "daemon-reload"])
        try await run(["--user", "enable", file.unitName])
        // It starts one that does not work yet, and one that does takes on what has changed.
        try await run(["--user", "restart", file.unitName])
      #endif
    }

    /// Stops it, and has it started no more.
    func disable(_ file: ServiceFile) async throws {
      #if os(macOS)
        try await run(["bootout", "gui/\(getuid())/\(file.label)"])
      #else
        try await run(["--user", "disable", "--now", file.unitName])
      #endif
    }

    func forget() async throws {
      #if !os(macOS)
        try await run(["--user", "daemon-reload"])
      #endif
    }

    /// In a word of the system's, as "active"; nil if it can't be asked.
    func state(of file: ServiceFile) async -> String? {
      #if os(macOS)
        let words = ["print", "gui/\(getuid())/\(file.label)"]
      #else
        let words = ["--user", "is-active", file.unitName]
      #endif
      guard let answer = try? await ask(words) else { return nil }
      #if os(macOS)
        return answer.status.isSuccess ? "loaded" : "not loaded"
      #else
        return answer.said.isEmpty ? nil : answer.said
      #endif
    }

    private func run(_ words: [String]) async throws {
      let answer = try await ask(words)
      guard answer.status.isSuccess else {
        let why = answer.complaint.isEmpty ? answer.status.words : answer.complaint
        throw JobError(.storeFailed, "'\(Self.command(words))' failed: \(why)")
      }
    }
  }

  extension TerminationStatus {
    fileprivate var words: String {
      switch self {
      case .exited(let code): "\(CommandResult.exited(code, lastLine: nil))"
      case .signaled(let signal): "\(CommandResult.killed(signal: signal))"
      }
    }
  }

  extension String {
    fileprivate var trimmed: String { trimmingCharacters(in: .whitespacesAndNewlines) }
  }
#endif
