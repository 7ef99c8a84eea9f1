#if Shell
  import DurableJobs

  /// How to have jobs run that no living worker takes.
  struct WorkerAdvice {
    /// Where a worker of this program would run some.
    private let queues: [String]
    /// Of those that only other programs run.
    private let kinds: [String]
    private let store: OpenStore

    /// Of the unfinished jobs that match `filter` and may run, which those of `paused` queues may not. What workers do not
    /// serve is found by the totals, and few jobs are read.
    init(
      _ store: OpenStore, where filter: JobFilter, paused: Set<String>, besides workers: [StoredWorker]
    ) async throws {
      self.store = store
      let works = Set(workers.filter { $0.standing == .alive }.map { JobFilter.queues($0.queues) && .kinds($0.kinds) })
      let mayRun =
        filter && .states(Deed.unfinished.subtracting([.suspended])) && (paused.isEmpty ? .all : !.queues(paused))
      let unserved = mayRun && !works.prefix(Self.mostWorks).reduce(!.all) { $0 || $1 }
      queues = try await store.queues(of: unserved && .kinds(OpenStore.kinds))
      kinds = try await store.kinds(of: unserved && !.kinds(OpenStore.kinds))
    }

    /// Workers that differ in what they serve; of more, a filter would be too large.
    private static let mostWorks = 50

    /// As in "Start one with: durable work"; `worker` is the word for one. Nil if nothing is left to anybody.
    func text(_ worker: String) -> String? {
      let names = kinds.prefix(OpenStore.mostNamed).map { "'\($0)'" }.joined(separator: ", ").withVisibleControls
      let program = kinds.isEmpty ? nil : "tart the program that runs \(names)"
      guard !queues.isEmpty else { return program.map { "S" + $0 } }
      let named = Array(queues.prefix(OpenStore.mostNamed))
      let more = named.count < queues.count ? ", and more queues" : ""
      return "Start \(worker) with: \(store.command("work", queues: named))\(more)"
        + (program.map { "\nAnd s" + $0 } ?? "")
    }
  }

  extension OpenStore {
    /// Of more queues, or kinds, it is only said that there are more.
    static let mostNamed = 5

    /// Names of queues that have such jobs, in order: more than ``mostNamed`` if there are so many.
    func queues(of filter: JobFilter) async throws -> [String] {
      try await names(of: filter, \.queue) { .queues($0) }
    }

    /// The same of kinds.
    func kinds(of filter: JobFilter) async throws -> [String] { try await names(of: filter, \.kind) { .kinds($0) } }

    /// The totals of queues and kinds say whether there are more, and a job of these says which: of a million jobs of one
    /// queue one is read.
    private func names(
      of filter: JobFilter, _ name: KeyPath<JobSnapshot, String>, _ named: (Set<String>) -> JobFilter
    ) async throws -> [String] {
      var found: Set<String> = []
      while found.count <= Self.mostNamed {
        let others = filter && !named(found)
        let counts = try await store.counts(where: others)
        guard let state = JobState.allCases.first(where: { counts[$0] > 0 }) else { break }
        let page = try await store.jobs(JobQuery(others && .state(state), limit: found.isEmpty ? 1 : 1000))
        guard !page.isEmpty else { break }
        found.formUnion(page.map { $0[keyPath: name] })
      }
      return found.sorted()
    }
  }
#endif
