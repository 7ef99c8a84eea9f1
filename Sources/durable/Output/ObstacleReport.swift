#if Shell
  import Console
  import DurableJobs
  import Foundation

  /// Tells on standard error what a job waits for, each thing once.
  struct ObstacleReport: Sendable {
    private let store: OpenStore
    private let here: Bool
    /// Let a command that is asked to end have its time, and its worker too.
    static let lastWords = Duration.seconds(7)

    private var told: Set<JobExplanation.Reason> = []
    private var last: (state: JobState, attempt: Int, at: ContinuousClock.Instant)?
    private var reasons: [JobExplanation.Reason] = []

    /// Whether the job's queue was paused at the last look.
    var isPaused: Bool { reasons.contains { if case .paused = $0 { true } else { false } } }

    /// Whether the job's worker was found dead at the last look, and this process is to take it back.
    private(set) var isLost = false

    /// `here`: this process works it.
    init(_ store: OpenStore, here: Bool = false) {
      self.store = store
      self.here = here
    }

    /// The worker here looked, and did not take a job that is ready.
    mutating func found(nothingFor job: JobSnapshot) {
      guard job.state == .ready, !job.requires.isEmpty, !isPaused else { return }
      for name in job.requires.sorted() { tell(.constraint(name, .absent), of: job) }
    }

    private mutating func tell(_ reason: JobExplanation.Reason, of job: JobSnapshot) {
      guard told.insert(reason.topic).inserted else { return }
      Talk.line(reason.text(of: job.id, in: store, queue: job.queue).withVisibleControls)
    }

    /// Looks, but no more often than once a second while the job stays as it is. A store that is away says nothing, and is asked
    /// the next time.
    mutating func look(at job: JobSnapshot) async throws {
      let now = ContinuousClock.now
      if let last, last.state == job.state, last.attempt == job.attempt, now < last.at + .seconds(1) { return }
      last = (job.state, job.attempt, now)
      do { try await note(job) } catch let error as JobError where error.isPassing {}
    }

    private mutating func note(_ job: JobSnapshot) async throws {
      if job.state != .running, !job.state.isFinished, let deadline = job.deadline?.date, deadline <= Date() {
        // Who else is there to give it up?
        _ = try await store.store.recover(RecoveryRequest())
      }
      guard let (job, why) = try await store.explain(job.id, here: here) else { return }
      let lives = job.waits?.workers.contains { $0.standing == .alive } ?? false
      reasons = why.reasons
      isLost = false
      for reason in why.reasons {
        switch reason {
        case .ended, .slotsTaken: break
        case .running(let worker, _, _):
          // Who works on another job of the store gives this one back.
          guard here, let worker, worker.standing == .dead, !lives else { break }
          isLost = true
          guard told.insert(reason.topic).inserted else { break }
          Talk.line("Job \(job.id): its worker \(worker.standing.words); it is run again here")
        default: tell(reason, of: job)
        }
      }
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
            if let job = try await store.patiently(job) { try await report.look(at: job) }
            try await Task.sleep(for: .seconds(1))
          }
        }
        defer { group.cancelAll() }
        return try await group.next()!!
      }
    }
  }
#endif
