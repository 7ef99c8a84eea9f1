#if Process
  import DurableJobs

  /// A command that somebody unknown to the worker has told to end, many times in a row.
  ///
  /// Each time counts as a crash, and would end the job with words about a process that died.
  struct ToldTooOften: Error, CustomStringConvertible {
    let count: Int

    /// Nil if these endings of runs are not that yet.
    init?(_ endings: [String?]) {
      count = endings.reversed().prefix { $0?.hasPrefix("\(CommandResult.askedToEnd)") ?? false }.count
      guard count >= min(Defaults.maxCrashesInRow, JobFolder.mostRuns) else { return nil }
    }

    var description: String {
      "it was interrupted \(count) times in a row: something else than its worker told it to end, by a signal to its supervisor"
    }
  }
#endif
