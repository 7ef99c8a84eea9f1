#if Process
  import Foundation

  /// What the system's table says of one process.
  struct ProcessEntry: Sendable {
    let number: pid_t
    let group: pid_t
    /// When it started, in the system's own unit.
    let start: UInt64
    /// It is a zombie: it has ended, and only its parent has not noticed.
    let hasEnded: Bool
  }

  #if os(Linux)
    extension ProcessEntry {
      /// Nil if there is no such process, or none that this one may see.
      init?(_ number: pid_t) {
        let file = open("/proc/\(number)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let text = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
          String(decoding: buffer.prefix(max(0, read(file, buffer.baseAddress, buffer.count))), as: UTF8.self)
        }
        // The name of the program stands in parentheses and may contain anything, so fields are counted from the last one.
        let fields = text.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 19, let group = pid_t(fields[2]), let start = UInt64(fields[19]) else { return nil }
        self.init(number: number, group: group, start: start, hasEnded: fields[0] == "Z" || fields[0] == "X")
      }

      /// All of a group that this process may see.
      static func group(_ group: pid_t) -> [ProcessEntry] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { getpgid($0) == group }.compactMap { ProcessEntry($0) }
          .filter { $0.group == group }
      }
    }
  #else
    extension ProcessEntry {
      /// Nil if there is no such process.
      init?(_ number: pid_t) {
        guard let entry = Self.ask(KERN_PROC_PID, number).first else { return nil }
        self = entry
      }

      static func group(_ group: pid_t) -> [ProcessEntry] { ask(KERN_PROC_PGRP, group) }

      private static func ask(_ what: Int32, _ number: pid_t) -> [ProcessEntry] {
        var question = [CTL_KERN, KERN_PROC, what, number]
        var size = 0
        guard sysctl(&question, 4, nil, &size, nil, 0) == 0 else { return [] }
        // Some may come in between.
        var table = [kinfo_proc](repeating: kinfo_proc(), count: size / MemoryLayout<kinfo_proc>.stride + 16)
        size = table.count * MemoryLayout<kinfo_proc>.stride
        guard sysctl(&question, 4, &table, &size, nil, 0) == 0 else { return [] }
        return table.prefix(size / MemoryLayout<kinfo_proc>.stride).map { entry in
          let start = entry.kp_proc.p_un.__p_starttime
          return ProcessEntry(
            number: entry.kp_proc.p_pid, group: entry.kp_eproc.e_pgid,
            start: UInt64(start.tv_sec) * 1_000_000 + UInt64(start.tv_usec),
            hasEnded: Int32(entry.kp_proc.p_stat) == SZOMB)
        }
      }
    }
  #endif
#endif
