#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  struct TreeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "tree",
      abstract: "Draw a job with all that it waits for, and all that waits for it.",
      discussion: """
        Each job stands below one that it waits for; where it waits for several, it is drawn once and named after. Those of a \
        lane stand below its name, in the order in which they run.
        """)

    @Argument(help: ArgumentHelp("The job.", valueName: "id")) var id: JobID
    @OptionGroup var options: StoreOptions

    func run() async throws {
      Screen.endWithReader()
      let store = try await options.existing(for: [id])
      var tree = JobTree(store: store.store)
      let roots = try await tree.load(around: try await store.store.job(id))
      if options.json {
        for job in tree.jobs.values.sorted(by: { $0.id < $1.id }) { Screen.out.json(JobRecord(job, inStream: true)) }
        return
      }
      for root in roots { tree.draw(root, marking: id, on: Screen.out) }
    }
  }

  /// Jobs that hang together, drawn from those that wait for nobody, and lanes from their names.
  private struct JobTree {
    enum Node: Hashable {
      case job(JobID)
      case lane(String)
    }

    let store: any ShellStore
    private(set) var jobs: [JobID: JobSnapshot] = [:]
    private var below: [Node: [Node]] = [:]
    private var drawn: Set<JobID> = []

    /// Of a lane, so many at most.
    private static let mostOfLane = 200
    /// Those that are deeper stand as if they were so deep, and name the one that they are below.
    private static let mostLevels = 20

    init(store: any ShellStore) { self.store = store }

    /// Loads all that hangs together with a job. Returns lanes, and jobs that wait for nobody who is still there.
    mutating func load(around job: JobSnapshot) async throws -> [Node] {
      var rest = [job.id]
      var lanes: [String: [JobID]] = [:]
      while let id = rest.popLast() {
        guard jobs[id] == nil, let job = try await find(id) else { continue }
        jobs[id] = job
        let children = try await store.children(of: id)
        below[.job(id)] = children.map { .job($0) }
        rest += job.edges.compactMap(\.job) + children
        guard let lane = job.lane?.name, lanes[lane] == nil else { continue }
        lanes[lane] = try await seats(of: lane)
        rest += lanes[lane]!
      }
      lanes = lanes.filter { $1.count > 1 }
      for (lane, seats) in lanes { below[.lane(lane)] = seats.map { .job($0) } }
      let seated = Set(lanes.values.joined())
      let first = jobs.values.filter { job in
        !seated.contains(job.id) && !job.edges.contains { $0.job.map { jobs[$0] != nil } ?? false }
      }
      return first.map(\.id).sorted().map { .job($0) } + lanes.keys.sorted().map { .lane($0) }
    }

    /// Nil if it is gone.
    private func find(_ id: JobID) async throws -> JobSnapshot? {
      do { return try await store.job(id) } catch let error as JobError where error.code == .notFound { return nil }
    }

    /// Those that run or are to run in it, and those that failed and hold it.
    private func seats(of lane: String) async throws -> [JobID] {
      let states = JobState.allCases.filter { !$0.isFinished } + [.failed]
      return try await store.jobs(JobQuery(.lane(lane) && .states(states), limit: Self.mostOfLane))
        .filter { $0.state != .failed || $0.lane?.failedHead == .holds }.map(\.id)
    }

    mutating func draw(_ root: Node, marking chosen: JobID, on screen: Screen) {
      // No recursion: a chain may be as long as the store.
      var rest: [(node: Node, indent: String, isLast: Bool?, above: JobID?)] = [(root, "", nil, nil)]
      let mostColumns = 3 * min(Self.mostLevels, screen.width.map { max($0 / 6, 1) } ?? .max)
      while let (node, indent, isLast, above) = rest.popLast() {
        let branch = isLast.map { $0 ? "└─ " : "├─ " } ?? ""
        switch node {
        case .lane(let name):
          screen.line("\(indent)\(branch)" + screen.coloured("lane \(name.withVisibleControls)", .bold))
        case .job(let id):
          guard let job = jobs[id] else { continue }
          let isNew = drawn.insert(id).inserted
          let state = screen.coloured(job.state.rawValue, job.state.colour)
          let place = "\(indent)\(branch)\(id)\(above.map { " (below \($0))" } ?? "") "
          // With room for two marks behind it.
          let room = screen.width.map { max($0 - place.columns - job.state.rawValue.count - 6, 8) } ?? .max
          let title = job.title.withVisibleControls.shortened(to: room)
          let line = "\(place)\(state) \(title)\(isNew ? "" : " …")"
          screen.line(line + (id == chosen ? screen.coloured("  ←", .bold) : ""))
          guard isNew else { continue }
        }
        let isDeepest = indent.columns >= mostColumns
        let next = isDeepest ? indent : isLast.map { indent + ($0 ? "   " : "│  ") } ?? ""
        let parent: JobID? = if isDeepest, case .job(let id) = node { id } else { nil }
        let all = below[node] ?? []
        for child in all.reversed() { rest.append((child, next, child == all.last, parent)) }
      }
    }
  }
#endif
