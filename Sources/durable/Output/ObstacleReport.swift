#if Shell
  import Console
  import DurableJobs

  /// Tells on standard error what a job waits for, each thing once.
  struct ObstacleReport: Sendable {
    private let store: OpenStore
    private let here: Bool
    /// Let a command that is asked to end have its time, and its worker too.
    static let lastWords = Duration.seconds(7)

    private var told: Set<Obstacle> = []
    private var last: (state: JobState, attempt: Int, at: ContinuousClock.Instant)?
    private var obstacles: [Obstacle] = []

    /// Whether the job's queue was paused at the last look.
    var isPaused: Bool { obstacles.contains { if case .paused = $0 { true } else { false } } }

    /// Whether the job's worker was found dead at the last look, and this process is to take it back.
    var isLost: Bool { obstacles.contains(.workerDied) }

    /// `here`: this process works it.
    init(_ store: OpenStore, here: Bool = false) {
      self.store = store
      self.here = here
    }

    /// The worker here looked, and did not take a job that is ready.
    mutating func found(nothingFor job: JobSnapshot) {
      guard job.state == .ready, !job.requires.isEmpty, !isPaused else { return }
      tell(.absent(job.requires.sorted(), unprovided: []), of: job.id)
    }

    private mutating func tell(_ obstacle: Obstacle, of id: JobID) {
      guard told.insert(obstacle.topic).inserted else { return }
      Talk.line(obstacle.text(of: id, in: store).withVisibleControls)
    }

    /// Looks, but no more often than once a second while the job stays as it is.
    mutating func look(at job: JobSnapshot) async throws {
      let now = ContinuousClock.now
      if let last, last.state == job.state, last.attempt == job.attempt, now < last.at + .seconds(1) { return }
      last = (job.state, job.attempt, now)
      obstacles = try await Obstacle.all(of: job, in: store, here: here)
      for obstacle in obstacles { tell(obstacle, of: job.id) }
    }

    /// Runs `body`, and looks at `job` meanwhile.
    static func telling<R: Sendable>(
      of job: @escaping @Sendable () async throws -> JobSnapshot?, in store: OpenStore,
      while body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
      try await withThrowingTaskGroup(of: R?.self) { group in
        group.addTask { try await body() }
        group.addTask {
          var report = ObstacleReport(store)
          while true {
            if let job = try await job() { try await report.look(at: job) }
            try await Task.sleep(for: .seconds(1))
          }
        }
        defer { group.cancelAll() }
        return try await group.next()!!
      }
    }
  }
#endif
