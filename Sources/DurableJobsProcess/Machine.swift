import Foundation

/// The scope of process numbers: one boot of this machine, and one PID namespace, such as a container's.
package struct Machine: Sendable {
  private let start: String?
  private let space: String?

  /// The one on which this process runs.
  package init() {
    #if os(Linux)
      start = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?
        .trimmingCharacters(in: .newlines)
      space = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/pid")
    #else
      var size = 64
      var bytes = [UInt8](repeating: 0, count: size)
      let isKnown = sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0
      start = isKnown ? String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) : nil
      space = nil
    #endif
  }

  /// What distinguishes it from others, as far as the system tells.
  var text: String { [start, space].compactMap(\.self).joined(separator: " ") }

  /// The same; nil if the system does not tell all of it, or shows the processes of another PID namespace.
  package var identity: String? {
    #if os(Linux)
      guard start != nil, space != nil, ProcessEntry.isOfThisSpace else { return nil }
    #endif
    return text.isEmpty ? nil : text
  }
}
