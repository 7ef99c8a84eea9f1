#if Process
  import Foundation
  import Subprocess

  /// This program and its process.
  package enum Program {
    /// This program, also if its file was replaced since it started.
    package static var itself: Executable { .path(.init(path)) }

    static var path: String {
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
  }
#endif
