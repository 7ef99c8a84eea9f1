#if Shell
  import ArgumentParser
  import Console
  import DurableJobs

  /// What was not done of what was asked of jobs.
  struct Refusals {
    var refused: [ChangeReport.Refusal] = []
    var missing: [JobID] = []
    /// Of a command something lives that could not be ended.
    var hasRemains = false

    /// Those that are told each.
    private static let mostTold = 10

    /// Those that were named, and of which nothing was heard.
    mutating func noteMissing(_ named: [JobID], _ answer: ChangeReport) {
      missing += Set(named).subtracting(answer.changed + answer.refused.map(\.job)).sorted()
    }

    func tell() {
      for id in missing { Talk.error("there is no job \(id)", code: JobError.Code.notFound.rawValue) }
      for refusal in refused.prefix(Self.mostTold) {
        Talk.error("job \(refusal.job) \(refusal.message)", code: JobError.Code.wrongState.rawValue)
      }
      if refused.count > Self.mostTold {
        Talk.error("… and \(refused.count - Self.mostTold) more are refused", code: JobError.Code.wrongState.rawValue)
      }
    }

    /// How many jobs had what fate, as in "3 jobs cancelled, 1 job refused"; `none` if there was none.
    static func tellCounts(_ counts: [(count: Int, what: String)], none: String) {
      let parts = counts.filter { $0.count > 0 }.map { "\($0.count.jobs) \($0.what)" }
      Talk.line(parts.isEmpty ? none : parts.joined(separator: ", "))
    }

    /// What helps jobs in these states, of which some may have ended.
    static func waysBack(_ states: Set<JobState>) -> String? {
      let ended = [JobState.failed, .cancelled].filter(states.contains)
      guard !ended.isEmpty else { return nil }
      // Those that failed are what it retries by itself.
      let options = ended == [.failed] ? "" : ended.map { " --state \($0.rawValue)" }.joined()
      return "'durable retry\(options)' runs those again"
    }

    /// That of the worst; nil if all was done.
    var exitCode: ExitCode? {
      if !missing.isEmpty { return ExitCode(.noSuchJob) }
      if hasRemains { return ExitCode(.jobFailed) }
      return refused.isEmpty ? nil : ExitCode(.usage)
    }
  }
#endif
