#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsProcess

  /// Which jobs, by what they are.
  struct FilterArguments: ParsableArguments {
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("Only jobs in this state; may be repeated, as those below.", valueName: "state"))
    var state: [JobState] = []
    @Option(parsing: .unconditionalSingleValue, help: ArgumentHelp("Only jobs of this queue.", valueName: "name"))
    var queue: [String] = []
    @Option(parsing: .unconditionalSingleValue, help: ArgumentHelp("Only jobs of this kind.", valueName: "name"))
    var kind: [String] = []
    @Option(parsing: .unconditionalSingleValue, help: ArgumentHelp("Only jobs with this tag.", valueName: "name"))
    var tag: [String] = []
    @Option(parsing: .unconditionalSingleValue, help: ArgumentHelp("Only jobs with this key.", valueName: "name"))
    var key: [String] = []
    @Option(parsing: .unconditionalSingleValue, help: ArgumentHelp("Only jobs of this lane.", valueName: "name"))
    var lane: [String] = []
    @Option(
      parsing: .unconditionalSingleValue,
      help: ArgumentHelp("Only jobs of this batch: its name, or its number.", valueName: "batch"))
    var batch: [String] = []

    /// Whether it says anything.
    var isGiven: Bool { isGivenBesideQueue || !queue.isEmpty }

    /// Whether it says anything but the queue.
    var isGivenBesideQueue: Bool {
      !(state.isEmpty && kind.isEmpty && tag.isEmpty && key.isEmpty && lane.isEmpty && batch.isEmpty)
    }

    /// A store takes some hundred parts of a filter, and others are added.
    private static let most = 400

    func validate() throws {
      let count = CommandWords.parted(tag + key + lane + batch).count
      guard count > Self.most else { return }
      throw ValidationError(
        "--tag, --key, --lane and --batch stand \(count) times; \(Self.most) at most do, so ask in turns")
    }

    /// Jobs for which one value of each option that was given holds. Throws ``JobError/Code/notFound`` for a batch that there
    /// is not.
    func filter(in store: OpenStore) async throws -> JobFilter {
      let (kind, tag, key, lane, batch) = (
        CommandWords.parted(kind), CommandWords.parted(tag), CommandWords.parted(key), CommandWords.parted(lane),
        CommandWords.parted(batch)
      )
      func any(_ filters: [JobFilter]) -> JobFilter { filters.dropFirst().reduce(filters[0]) { $0 || $1 } }
      var filter = JobFilter.all
      if !state.isEmpty { filter = filter && .states(state) }
      if !queue.isEmpty { filter = filter && .queues(queue) }
      if !kind.isEmpty { filter = filter && .kinds(kind) }
      if !tag.isEmpty { filter = filter && any(tag.map { .tag($0) }) }
      if !key.isEmpty { filter = filter && any(key.map { .key($0) }) }
      if !lane.isEmpty { filter = filter && any(lane.map { .lane($0) }) }
      if !batch.isEmpty {
        var batches: [JobFilter] = []
        for name in batch { batches.append(.batch(try await store.store.batch(name).id)) }
        filter = filter && any(batches)
      }
      return filter
    }
  }

  extension JobStore {
    /// A batch by its number, or the newest of that name. Throws ``JobError/Code/notFound``.
    func batch(_ name: String) async throws -> BatchSnapshot {
      let query = Int64(name).map { BatchQuery.id(BatchID(rawValue: $0)) } ?? .name(name)
      if let batch = try await batches(query).first { return batch }
      // No batch is made with a number for its name, or without one.
      let canBeMade = Int64(name) == nil && !name.isEmpty
      let advice = canBeMade ? "; 'durable batch create \(SystemText(name).shellQuoted)' makes one" : ""
      throw JobError(.notFound, "there is no batch '\(name)'\(advice)")
    }
  }
#endif
