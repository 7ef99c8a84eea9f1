#if Shell
  import Console
  import DurableJobsHTTP
  import Foundation

  /// The download demo in plain lines, where there is no terminal: events go in, lines come out.
  struct PlainReport {
    private var states: [String: DemoDownload.State] = [:]
    private var decile = 0
    private var wasKilled = false

    mutating func lines(_ event: DownloadEvent) -> [String] {
      switch event {
      case .began(let controls, let size):
        let time = controls.isTimeRandom ? ", random time" : ""
        return [
          "start: \(controls.jobCount) downloads of \(Int64(size).asBytes), \(controls.maxConcurrent) at a time\(time)"
        ]
      case .workerStarted(let process):
        return ["worker \(process) \(wasKilled ? "goes on" : "works")"]
      case .workerKilled(let process, let fraction):
        wasKilled = true
        // The store learns of it a moment later than the server.
        decile = max(decile, Int(fraction * 10 + 1e-9))
        return ["worker \(process) killed with SIGKILL at \(fraction.percent)"]
      case .looked(let downloads):
        return news(downloads)
      case .ended(let outcome):
        return outcome.report
      }
    }

    /// What ended since the last look, and each tenth of the whole.
    private mutating func news(_ downloads: [DemoDownload]) -> [String] {
      var lines: [String] = []
      for download in downloads where states[download.name] != download.state {
        switch download.state {
        case .completed: lines.append("completed \(download.name)")
        case .failed(let message): lines.append("failed \(download.name): \(message.withVisibleControls)")
        case .inProgress, .pending: break
        }
        states[download.name] = download.state
      }
      let fraction = downloads.reduce(0) { $0 + $1.fraction } / Double(max(downloads.count, 1))
      let now = Int(fraction * 10 + 1e-9)
      if now > decile {
        decile = now
        let completed = downloads.count { $0.fraction == 1 }
        lines.append("\(now * 10) %, \(completed) of \(downloads.count) completed")
      }
      return lines
    }
  }
#endif
