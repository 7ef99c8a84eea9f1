#if Process
  import DurableJobs
  import Foundation
  import Subprocess

  /// This program and its process.
  package enum Program {
    /// This program, even if its file was replaced since it started.
    package static var itself: Executable { .path(.init(path)) }

    package static var path: String {
      #if os(Linux)
        if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"),
          !path.hasSuffix(" (deleted)")
        {
          return path
        }
        return "/proc/self/exe"
      #else
        return Bundle.main.executablePath ?? CommandLine.arguments[0]
      #endif
    }

    /// This process's umask. Linux reports it; elsewhere it must be changed for a moment to be read, by one at a time.
    package static var currentUmask: mode_t {
      let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
      if let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Umask:") }),
        let mask = mode_t(line.dropFirst("Umask:".count).trimmingCharacters(in: .whitespaces), radix: 8)
      {
        return mask
      }
      return asking.withLock { _ in
        let mask = umask(0o077)
        umask(mask)
        return mask
      }
    }

    private static let asking = Lock(())
  }
#endif
