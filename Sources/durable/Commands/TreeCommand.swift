#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsSQLite
  import Foundation

  struct TreeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "tree",
      abstract: "Draw a job with all that it waits for, and all that waits for it.",
      discussion:
        "Each job stands below one that it waits for; where it waits for several, it is drawn once and named after.")

    @Argument(help: ArgumentHelp("The job.", valueName: "id")) var id: JobID
    @OptionGroup var options: StoreOptions

    func run() async throws {
      let store = try options.existing(for: [id])
      var tree = JobTree(store: store.store)
      let roots = try await tree.load(around: try await store.store.job(id))
      if options.json {
        for job in tree.jobs.values.sorted(by: { $0.id < $1.id }) { Screen.out.json(JobRecord(job)) }
        return
      }
      for job in tree.jobs.values { tree.heads[job.id] = try await store.laneHead(of: job) }
      for root in roots { tree.draw(root, marking: id, on: Screen.out) }
    }
  }

  /// Jobs that hang together, drawn from those that wait for nobody.
  private struct JobTree {
    let store: SQLiteStore
    private(set) var jobs: [JobID: JobSnapshot] = [:]
    /// Whom they wait for in their lanes.
    var heads: [JobID: LaneHead] = [:]
    private var children: [JobID: [JobID]] = [:]
    private var drawn: Set<JobID> = []

    init(store: SQLiteStore) { self.store = store }

    /// Loads all that hangs together with a job. Returns those that wait for nobody who is still there.
    mutating func load(around job: JobSnapshot) async throws -> [JobID] {
      var rest = [job.id]
      while let id = rest.popLast() {
        guard jobs[id] == nil, let job = try? await store.job(id) else { continue }
        jobs[id] = job
        children[id] = try await store.children(of: id)
        rest += job.edges.compactMap(\.job) + (children[id] ?? [])
      }
      return jobs.values.filter { job in !job.edges.contains { $0.job.map { jobs[$0] != nil } ?? false } }
        .map(\.id).sorted()
    }

    mutating func draw(_ root: JobID, marking chosen: JobID, on screen: Screen) {
      // No recursion: a chain may be as long as the store.
      var rest: [(id: JobID, indent: String, isLast: Bool?)] = [(root, "", nil)]
      while let (id, indent, isLast) = rest.popLast() {
        guard let job = jobs[id] else { continue }
        let isNew = drawn.insert(id).inserted
        let branch = isLast.map { $0 ? "└─ " : "├─ " } ?? ""
        let state = screen.coloured(job.state.rawValue, job.state.colour)
        let lane = heads[id].map { ", waits for \($0.text)".withVisibleControls } ?? ""
        let line = "\(indent)\(branch)\(id) \(state) \(job.title.withVisibleControls)\(isNew ? lane : " …")"
        screen.line(line + (id == chosen ? screen.coloured("  ←", .bold) : ""))
        guard isNew else { continue }
        let below = isLast.map { indent + ($0 ? "   " : "│  ") } ?? ""
        let all = children[id] ?? []
        for child in all.reversed() { rest.append((child, below, child == all.last)) }
      }
    }
  }
#endif
