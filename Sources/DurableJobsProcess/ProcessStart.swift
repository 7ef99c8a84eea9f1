#if Process
  import Foundation

  /// When a process started, in the system's own unit.
  struct ProcessStart {
    let stamp: UInt64

    /// Nil if there is no such process.
    init?(of process: pid_t) {
      #if os(Linux)
        // The name of the program stands in parentheses and may contain anything, so fields are counted from the last one.
        guard let data = FileManager.default.contents(atPath: "/proc/\(process)/stat") else { return nil }
        let fields = String(decoding: data, as: UTF8.self).split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 19, let stamp = UInt64(fields[19]) else { return nil }
        self.stamp = stamp
      #else
        var info = proc_bsdinfo()
        let size = Int32(MemoryLayout<proc_bsdinfo>.size)
        guard proc_pidinfo(process, PROC_PIDTBSDINFO, 0, &info, size) == size else { return nil }
        stamp = info.pbi_start_tvsec * 1_000_000 + info.pbi_start_tvusec
      #endif
    }
  }
#endif
