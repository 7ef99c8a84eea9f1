#if Shell
  import Console
  import DurableJobs
  import Foundation

  /// Tells on standard error what a job waits for, each thing once; a time on a terminal by a line that is kept fresh.
  struct ObstacleReport: Sendable {
    private let store: OpenStore
    private let here: Bool
    /// Whether a line of another kind has said when a job goes on.
    private let isKnown: @Sendable (JobID) -> Bool
    /// Let a command that is asked to end have its time, and its worker too.
    static let lastWords = Duration.seconds(7)

    private struct Told: Hashable {
      var reason: JobExplanation.Reason
      /// Of what ends by itself: who waits for many jobs hears when each goes on.
      var job: JobID?
    }

    private var told: Set<Told> = []
    /// A worker may live for long. Where there are more, each is told once more.
    private static let mostTold = 10_000
    private var last: (state: JobState, attempt: Int, at: ContinuousClock.Instant)?
    private var reasons: [JobExplanation.Reason] = []

    /// Whether a time may have the line that is kept fresh. Where something else changes below, it is said once.
    var isLive = true

    /// The jobs of whose commands this process is a part.
    var own: OwnJobs?

    /// Whether the job's queue was paused at the last look.
    var isPaused: Bool { reasons.contains { if case .paused = $0 { true } else { false } } }

    /// Whether the job's worker was found dead at the last look, and this process is to take it back.
    private(set) var isLost = false

    /// `here`: this process works it.
    init(_ store: OpenStore, here: Bool = false, isKnown: @escaping @Sendable (JobID) -> Bool = { _ in false }) {
      (self.store, self.here, self.isKnown) = (store, here, isKnown)
    }

    /// The worker here looked, and did not take a job that is ready.
    mutating func found(nothingFor job: JobSnapshot) {
      guard job.state == .ready, !job.requires.isEmpty, !isPaused else { return }
      for name in job.requires.sorted() { tell(.constraint(name, .absent), of: job) }
    }

    private mutating func isNews(_ reason: JobExplanation.Reason, of job: JobID? = nil) -> Bool {
      if told.count >= Self.mostTold { told = [] }
      return told.insert(Told(reason: reason.topic, job: job)).inserted
    }

    private mutating func tell(_ reason: JobExplanation.Reason, of job: JobSnapshot) {
      guard isNews(reason) else { return }
      Talk.line(reason.text(of: job.id, in: store, queue: job.queue).withVisibleControls)
    }

    /// What is over at this time.
    private mutating func tell(_ reason: JobExplanation.Reason, until time: Date, of job: JobSnapshot) {
      let text = { @Sendable [store] (tell: (Date) -> String) in
        "Job \(job.id) \(reason.cause(in: store, of: job, tell))".withVisibleControls
      }
      if isLive, LiveLine.isPossible {
        let clock = store.store.clock
        LiveLine.show { text { "in \(Duration.seconds($0.timeIntervalSince(clock.now)).roughly)" } }
      } else if !isKnown(job.id), isNews(reason, of: job.id) {
        Talk.line(text { $0.forPeople })
      }
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
      let now = store.store.clock.now
      if job.state != .running, !job.state.isFinished, let deadline = job.deadline?.date, deadline <= now {
        // Who else is there to give it up?
        _ = try await store.store.recover(RecoveryRequest())
      }
      guard let (job, why) = try await store.explain(job.id, here: here) else { return }
      let lives = job.waits?.workers.contains { $0.standing == .alive } ?? false
      reasons = why.reasons
      isLost = false
      let timed = why.reasons.filter { $0.end ?? .distantPast > now }.max { $0.end! < $1.end! }
      if let timed, let end = timed.end { tell(timed, until: end, of: job) } else { LiveLine.hide() }
      for reason in why.reasons where reason.end == nil {
        switch reason {
        case .slotsTaken:
          if let words = own?.words(for: job), isNews(reason) { Talk.line(words.withVisibleControls) }
        case .ended: break
        case .running(let worker, _, _):
          // Who works on another job of the store gives this one back.
          guard here, let worker, worker.standing == .dead, !lives else { break }
          isLost = true
          guard isNews(reason) else { break }
          Talk.line("Job \(job.id): its worker \(worker.standing.words); it is run again here")
        default: tell(reason, of: job)
        }
      }
    }

    /// Runs `body`, and looks at `job` meanwhile.
    static func telling<R: Sendable>(
      of job: @escaping @Sendable () async throws -> JobSnapshot?, in store: OpenStore, by own: OwnJobs? = nil,
      while body: @escaping @Sendable () async throws -> R
    ) async throws -> R {
      try await withThrowingTaskGroup(of: R?.self) { group in
        group.addTask { try await body() }
        group.addTask {
          var report = ObstacleReport(store)
          report.own = own
          while true {
            if let job = try await store.patiently(job) { try await report.look(at: job) } else { LiveLine.hide() }
            try await Task.sleep(for: .seconds(1))
          }
        }
        defer {
          group.cancelAll()
          LiveLine.hide()
        }
        return try await group.next()!!
      }
    }
  }
#endif
