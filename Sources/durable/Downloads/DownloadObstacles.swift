#if Shell
  import DurableJobs

  /// What was told of what downloads wait for: of each the same thing once, and the same thing of the first few alone.
  ///
  /// Something is told at the second look that finds it, since at the first one a worker may not know yet what holds.
  struct DownloadObstacles {
    /// So many are asked about at a look, and the same is told of so many.
    static let most = 10

    private var seen: [JobID: Set<JobExplanation.Reason>] = [:]
    private var told: [JobExplanation.Reason: Set<JobID>] = [:]

    /// Whether it has to be asked why this job does not run. Of those that only wait for a slot, nothing is to be told.
    static func mayKeep(_ job: JobSnapshot, isIdle: Bool) -> Bool {
      switch job.state {
      case .blocked: true
      case .scheduled: job.startedAt == nil
      case .ready: isIdle || !job.requires.isEmpty
      default: false
      }
    }

    /// Whether this keeps a download that is worked on here, and no news of its own told of it.
    static func isOne(_ reason: JobExplanation.Reason) -> Bool {
      switch reason {
      case .ended, .running, .slotsTaken, .backOff, .putOff, .held: false
      default: !reason.isLackOfWorker
      }
    }

    /// What to tell after a look that found these.
    mutating func news(
      _ found: [(id: JobID, reasons: [JobExplanation.Reason])]
    ) -> [(id: JobID, reason: JobExplanation.Reason)] {
      var news: [(id: JobID, reason: JobExplanation.Reason)] = []
      for (id, reasons) in found {
        for reason in reasons where seen[id]?.contains(reason.topic) == true {
          guard told[reason.topic, default: []].count < Self.most,
            told[reason.topic, default: []].insert(id).inserted
          else { continue }
          news.append((id, reason))
        }
      }
      seen = found.reduce(into: [:]) { $0[$1.id] = Set($1.reasons.map(\.topic)) }
      return news
    }
  }

  extension JobExplanation.Reason {
    /// What it waits for, where that it waits is said already.
    func awaitedBriefly(in store: OpenStore) -> String {
      let cause = cause(in: store)
      return awaited ?? (cause.hasPrefix("waits: ") ? String(cause.dropFirst("waits: ".count)) : cause)
    }
  }
#endif
