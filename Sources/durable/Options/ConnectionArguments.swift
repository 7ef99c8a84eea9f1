#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess

  /// What a new job has to do with others.
  struct ConnectionArguments: ParsableArguments {
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp(
        "Only once this job has succeeded: its id, or a key, also one that comes later. May be repeated.",
        valueName: "job"))
    var after: [String] = []
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("Only once this job has ended, in whatever way.", valueName: "job"))
    var afterEnd: [String] = []
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("Only if this job fails.", valueName: "job"))
    var afterFailure: [String] = []
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("Count it in this batch, which 'durable batch create' has made.", valueName: "batch"))
    var batch: String?
    @Option(parsing: .unconditionalSingleValue, help: ArgumentHelp("Mark the job; may be repeated.", valueName: "name"))
    var tag: [String] = []

    func validate() throws {
      if all.contains("") { throw ValidationError("--after names no job; give an id, or a key") }
      let isNumber = { (word: String) in word.wholeMatch(of: #/-?[0-9]+/#) != nil }
      if let slip = all.first(where: { isNumber($0) && JobID($0) == nil }) {
        throw ValidationError("--after \(slip): no job has that id; ids begin with 1")
      }
    }

    var tags: Set<String> { Set(CommandWords.parted(tag)) }

    private var all: [String] { CommandWords.parted(after + afterEnd + afterFailure) }

    /// Keys that it waits for, as they were given.
    var keysWaitedFor: [String] { all.filter { JobID($0) == nil } }

    /// Jobs that it waits for by their ids.
    var ids: [JobID] { all.compactMap { JobID($0) } }

    var isWaiting: Bool { !all.isEmpty }

    /// A number is a job's id, anything else a key.
    var dependencies: [any JobReference] {
      func references(_ words: [String]) -> [JobDependency] {
        CommandWords.parted(words).map { JobID($0)?.dependency ?? .key($0) }
      }
      return references(after) + references(afterEnd).map { .end(of: $0) }
        + references(afterFailure).map { .failure(of: $0) }
    }
  }

  /// The lane of new jobs.
  struct LaneArguments: ParsableArguments {
    @Option(
      parsing: .unconditional,
      help: ArgumentHelp("One at a time, in order, with the others of this lane.", valueName: "name"))
    var lane: String?
    @Flag(help: "If this job fails, the next of its lane runs all the same, and does not wait for a person.")
    var laneGoesOn = false

    func validate() throws {
      if laneGoesOn, lane == nil { throw ValidationError("--lane-goes-on goes with --lane") }
    }

    var jobLane: JobLane? { lane.map { JobLane($0, failedHead: laneGoesOn ? .letsNextRun : .holds) } }
  }

  extension JobStore {
    /// Stores jobs in one transaction, in the batch of that name or number.
    func add(_ jobs: [NewJob], to batch: String?) async throws -> [InsertedJob] {
      guard let batch else { return try await insert(JobInsertion(jobs)).jobs }
      return try await insert(JobInsertion(jobs, batch: .join(try await batchToJoin(batch).id))).jobs
    }

    /// The batch of that name or number, if it is not done.
    func batchToJoin(_ batch: String) async throws -> BatchSnapshot {
      let known = try await self.batch(batch)
      guard !known.isDone else {
        throw JobError(
          .wrongState,
          "all jobs of the batch '\(batch)' have ended; 'durable batch create \(SystemText(known.name).shellQuoted)' begins another"
        )
      }
      return known
    }
  }
#endif
