import Foundation

/// Processes that this one can see, by what the system's table says of them.
package enum ProcessList {
  /// The living children of a process.
  package static func children(of parent: pid_t) -> [pid_t] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.filter { fields($0).map { $0[0] != "Z" && $0[1] == "\(parent)" } ?? false }
  }

  package static func hasEnded(_ process: pid_t) -> Bool { fields(process).map { $0[0] == "Z" } ?? true }

  package static func words(of process: pid_t) -> [String] {
    let data = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") ?? Data()
    return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// What its descriptors lead to.
  package static func files(of process: pid_t) -> [Int32: String] {
    let folder = "/proc/\(process)/fd"
    let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).compactMap { Int32($0) }
    return numbers.reduce(into: [:]) { files, number in
      files[number] = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")
    }
  }

  package static func isStopped(_ process: pid_t) -> Bool { fields(process).map { $0[0] == "T" } ?? true }

  /// Whether that signal is on its way to it.
  package static func isWaiting(_ signal: Int32, for process: pid_t) -> Bool {
    has(signal, process, ["SigPnd:", "ShdPnd:"])
  }

  /// Whether it has a handler for that signal.
  package static func catches(_ signal: Int32, _ process: pid_t) -> Bool { has(signal, process, ["SigCgt:"]) }

  private static func has(_ signal: Int32, _ process: pid_t, _ names: [String]) -> Bool {
    let text = FileManager.default.contents(atPath: "/proc/\(process)/status") ?? Data()
    return String(decoding: text, as: UTF8.self).split(separator: "\n").contains { line in
      guard names.contains(where: { line.hasPrefix($0) }), let field = line.split(separator: "\t").last
      else { return false }
      return (UInt64(field, radix: 16) ?? 0) >> UInt64(signal - 1) & 1 == 1
    }
  }

  /// How often its threads went to sleep.
  package static func sleeps(of process: pid_t) -> Int {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
    return threads.reduce(0) { sum, thread in
      let text = FileManager.default.contents(atPath: "/proc/\(process)/task/\(thread)/status") ?? Data()
      let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first {
        $0.hasPrefix("voluntary_ctxt_switches:")
      }
      return sum + (line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0)
    }
  }

  /// What follows the name in the table.
  private static func fields(_ process: pid_t) -> [Substring]? {
    guard let data = FileManager.default.contents(atPath: "/proc/\(process)/stat"), !data.isEmpty else { return nil }
    return String(decoding: data, as: UTF8.self).split(separator: ")").last?.split(separator: " ")
  }
}
