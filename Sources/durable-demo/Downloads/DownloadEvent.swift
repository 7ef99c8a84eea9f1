#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import Foundation

  /// A download as the store knows it.
  struct DemoDownload: Hashable, Sendable {
    enum State: Hashable, Sendable {
      /// It waits for its turn; some of it may be there already.
      case pending(Double)
      case inProgress(Double)
      /// Later ones have higher numbers.
      case completed(Date)
      case failed(String)
    }

    var name: String
    var state: State
    /// Its worker was killed while it ran.
    var survived = false

    /// How much of it is there, from 0 to 1.
    var fraction: Double {
      switch state {
      case .pending(let fraction), .inProgress(let fraction): fraction
      case .completed: 1
      case .failed: 0
      }
    }
  }

  /// What happens in a ``DownloadRun``.
  enum DownloadEvent: Sendable {
    case began(DownloadControls, size: Int)
    case workerStarted(pid_t)
    /// With SIGKILL, when `fraction` of all bytes had gone out.
    case workerKilled(pid_t, at: Double)
    /// All downloads, in the order in which they were enqueued.
    case looked([DemoDownload])
    case ended(DownloadOutcome)
  }

  /// What a ``DownloadRun`` came to.
  struct DownloadOutcome: Hashable, Sendable {
    var count: Int
    /// The files whose bytes on the disk are those of the server.
    var verified: Int
    /// What is missing or wrong, a line each.
    var troubles: [String]
    /// What the crash cost; nil if there was none.
    var crash: Crash?

    struct Crash: Hashable, Sendable {
      var killed: pid_t
      var fraction: Double
      /// Bytes that were served more than once.
      var bytesTwice: Int
      /// From the kill to the first byte after it.
      var gap: Duration
    }

    var isRight: Bool { troubles.isEmpty && verified == count && crash != nil }

    /// What is said at the end, a paragraph each.
    var report: [String] {
      var lines: [String] = []
      if verified == count, troubles.isEmpty {
        lines.append("Info: all download tasks have been completed")
      } else {
        lines.append("Info: \(verified) of \(count) download tasks have been completed")
        lines += troubles.prefix(3)
        if troubles.count > 3 { lines.append("and \(troubles.count - 3) more") }
      }
      if let crash {
        lines.append(
          "The crash at \(crash.fraction.percent) cost: \(Int64(crash.bytesTwice).asBytes) fetched twice, "
            + "\(crash.gap.forPeople) until the next byte.")
      } else {
        lines.append("No worker was killed.")
      }
      if verified == count {
        lines.append(count == 1 ? "The checksum is verified." : "All \(count) checksums verified.")
      }
      return lines
    }
  }
#endif
