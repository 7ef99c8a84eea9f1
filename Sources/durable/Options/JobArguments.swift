#if Shell
  import ArgumentParser
  import DurableJobs
  import Foundation

  /// When and how often a job is to run, what it is called, and where it is put.
  struct JobArguments: ParsableArguments {
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Not before this time has passed: 90, 90s, 5m, 2h, 1d.", valueName: "time"))
    var delay: String?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Not before this moment: 2026-11-21T18:30, or 18:30.", valueName: "moment"))
    var at: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("Higher goes first.", valueName: "number")) var priority: Int?
    @Option(parsing: .unconditional, help: ArgumentHelp("How often it is tried in all.", valueName: "number"))
    var maxAttempts: Int?
    @Option(parsing: .unconditional, help: ArgumentHelp("End an attempt that takes longer.", valueName: "time"))
    var timeout: String?
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        "Give the job up unless it has ended by this moment, or before this time has passed.", valueName: "moment|time")
    )
    var deadline: String?
    @Option(parsing: .unconditional, help: ArgumentHelp("A name of your own to find the job by.", valueName: "name"))
    var key: String?
    @OptionGroup var lane: LaneArguments
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp(
        """
        Only one unfinished job has this key. Where there is one: keep, the default, adds nothing; replace cancels it; \
        append runs after it.
        """, valueName: "key[:policy]"))
    var unique: String?
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp(
        "Only while this holds: network, externalPower, diskSpace, or a name of your own. May be repeated.",
        valueName: "constraint"))
    var requires: [String] = []
    @Flag(help: "End it when what it requires is lost; it runs again when that returns.") var interruptWhenLost = false
    @OptionGroup var connections: ConnectionArguments
    @Option(parsing: .unconditional, help: ArgumentHelp("The queue to put it in.", valueName: "name")) var queue =
      "default"

    /// Throws where anything is wrong. Somebody waits for the job if `isFollowed`.
    func options(isFollowed: Bool) throws -> JobOptions {
      let start = try StartArgument.parse(delay: delay, at: at)
      if interruptWhenLost, requires.isEmpty { throw ValidationError("--interrupt-when-lost needs --requires") }
      if let maxAttempts, maxAttempts < 1 {
        throw ValidationError("--max-attempts is \(maxAttempts); it must be at least 1")
      }
      if let key, JobID(key) != nil {
        throw ValidationError("--key \(key): a number is a job's id; put a letter in it, so that it can be waited for")
      }
      var limit: Duration?
      if let timeout {
        limit = try DurationArgument.parse(timeout).duration
        guard limit! > .zero else { throw ValidationError("--timeout is \(timeout); it must be more than 0") }
      }
      if isFollowed, start != nil { throw ValidationError("--follow runs it now; leave out --delay and --at") }
      // What somebody waits for goes before what waits for itself.
      let rank = priority.map { JobPriority(rawValue: $0) } ?? (isFollowed ? JobPriority(rawValue: 1000) : nil)
      return JobOptions(
        priority: rank, start: start, maxAttempts: maxAttempts, timeout: limit,
        deadline: try deadline.map { .end(by: try DeadlineArgument.parse($0, "--deadline")) }, key: key,
        unique: try unique.map(Self.uniqueKey),
        lane: lane.jobLane, tags: connections.tags,
        requires: Set(requires.map { JobConstraint(rawValue: $0) }), whenLost: interruptWhenLost ? .interrupts : nil)
    }

    /// What stands behind the last colon is the policy.
    private static func uniqueKey(_ text: String) throws -> UniqueKey {
      guard let colon = text.lastIndex(of: ":") else { return UniqueKey(text) }
      let word = String(text[text.index(after: colon)...])
      guard let policy = UniqueKey.Policy(rawValue: word) else {
        throw ValidationError(
          "--unique \(text): the policy is keep, replace or append, and not '\(word)'. A key with a colon needs one too"
        )
      }
      return UniqueKey(String(text[..<colon]), policy: policy)
    }
  }
#endif
