#if Shell
  import Console
  import DurableJobs
  import Foundation
  import Subprocess

  /// The part of the system that starts programs after a log-in, as this user may tell it.
  struct ServiceManager {
    private let environment = ProcessInfo.processInfo.environment

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

    /// Throws if the file of its name, here or where the system keeps its own, is not this program's.
    func check(_ file: ServiceFile) async throws {
      var other = path(of: file)
      if let text = FileManager.default.contents(atPath: other) {
        if file.isOurs(String(decoding: text, as: UTF8.self)) { return }
      } else if (try? FileManager.default.attributesOfItem(atPath: other)) == nil {
        #if os(macOS)
          return
        #else
          let words = ["--user", "show", "--property", "FragmentPath", "--value", file.unitName]
          // Without an answer nothing of it can be started either, which is told later.
          guard let found = try? await answer(to: words).said, found.hasPrefix("/"), found != other,
            let text = FileManager.default.contents(atPath: found), !file.isOurs(String(decoding: text, as: UTF8.self))
          else { return }
          other = found
        #endif
      }
      throw JobError(
        .invalidArgument, "\(other.withVisibleControls) is not of this program; name another service with --name")
    }

    /// What the system says, and whether it could do it. Throws if it can't be asked.
    private func answer(to words: [String]) async throws -> (said: String, isSuccess: Bool) {
      let result = try await Subprocess.run(
        .name(Self.program), arguments: Arguments(words), output: .string(limit: 1 << 16), error: .discarded)
      return (
        result.standardOutput.trimmingCharacters(in: .whitespacesAndNewlines), result.terminationStatus.isSuccess
      )
    }

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
      guard let (said, isSuccess) = try? await answer(to: words) else { return nil }
      #if os(macOS)
        return isSuccess ? "loaded" : "not loaded"
      #else
        return said.isEmpty ? nil : said
      #endif
    }

    private func run(_ words: [String]) async throws {
      let status: TerminationStatus
      let complaint: String
      do {
        let result = try await Subprocess.run(
          .name(Self.program), arguments: Arguments(words), output: .discarded,
          error: .string(limit: 1 << 16))
        status = result.terminationStatus
        complaint = result.standardError
      } catch {
        throw JobError(.storeFailed, "\(Self.program) can't be run here: \(error.briefly)")
      }
      guard status.isSuccess else {
        let said = complaint.trimmingCharacters(in: .whitespacesAndNewlines)
        throw JobError(
          .storeFailed, "'\(Self.program) \(words.joined(separator: " "))' failed: \(said.isEmpty ? "\(status)" : said)"
        )
      }
    }
  }
#endif
