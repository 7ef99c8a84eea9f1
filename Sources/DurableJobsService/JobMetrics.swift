#if Service
  import CoreMetrics
  import DurableJobs
  import Foundation
  import Metrics
  import ServiceLifecycle

  /// Metrics of queues for swift-metrics. A middleware that measures the attempts run by this process, and a service
  /// that counts the jobs of the store:
  ///
  ///     let metrics = JobMetrics()
  ///     let mail = JobQueue("mail", store: store, middleware: [metrics])
  ///     let group = ServiceGroup(services: [metrics.gauges(of: [mail]), JobWorker(mail).service()], logger: logger)
  ///
  /// | name | is | dimensions |
  /// |---|---|---|
  /// | `durable_jobs_wait` | timer, of each first attempt: from when its job was stored until it began; a wanted delay counts, and one that was put off or cut short, and runs anew as the first, is measured again | `queue`, `kind` |
  /// | `durable_jobs_retries` | counter, of attempts after a failed one | `queue`, `kind` |
  /// | `durable_jobs_run` | timer, of each attempt: from its begin until its handler returned | `queue`, `kind`, `outcome` |
  /// | `durable_jobs_jobs` | gauge, jobs of the store in a state, by all processes together | `queue`, `state` |
  /// | `durable_jobs_paused` | gauge, 1 while the queue is paused, else 0 | `queue` |
  ///
  /// Outcomes are those of ``Outcome``. The timer's count says how many attempts ended in each way; failures of jobs
  /// are the increase of `durable_jobs_jobs{state="failed"}`. Timers are in nanoseconds, as swift-metrics records them.
  public struct JobMetrics: JobMiddleware {
    /// How an attempt ended from the view of its handler.
    public enum Outcome: String, CaseIterable, Sendable {
      case succeeded
      /// It threw or exceeded its timeout: the job is tried again if its policy says so.
      case failed
      /// It asked to run later, or to be suspended.
      case putOff = "put_off"
      /// It was stopped by a cancel, a shutdown, its deadline, or the loss of a condition that it requires.
      case stopped
      /// Another worker has the job, because this process was taken for dead.
      case claimLost = "claim_lost"
    }

    private let given: (any MetricsFactory)?
    fileprivate var factory: any MetricsFactory { given ?? MetricsSystem.factory }

    /// `factory` defaults to the process's own at the time of each measurement, so this may be created before
    /// `MetricsSystem.bootstrap`.
    public init(factory: (any MetricsFactory)? = nil) { given = factory }

    public func run(
      _ job: ClaimedJob, context: JobContext, next: @Sendable (ClaimedJob, JobContext) async throws -> Data?
    ) async throws -> Data? {
      let dimensions = [("queue", job.queue), ("kind", job.kind)]
      if job.attempt > 1 {
        Counter(label: "durable_jobs_retries", dimensions: dimensions, factory: factory).increment()
      } else if let createdAt = job.createdAt {
        record(.seconds(context.store.clock.now.timeIntervalSince(createdAt)), "durable_jobs_wait", dimensions)
      }
      let begin = ContinuousClock.now
      func ended(_ outcome: Outcome) {
        record(ContinuousClock.now - begin, "durable_jobs_run", dimensions + [("outcome", outcome.rawValue)])
      }
      do {
        let output = try await next(job, context)
        ended(context.stopReason == .claimLost ? .claimLost : .succeeded)
        return output
      } catch {
        ended(Outcome(of: error, context.stopReason))
        throw error
      }
    }

    private func record(_ duration: Duration, _ name: String, _ dimensions: [(String, String)]) {
      Timer(label: name, dimensions: dimensions, factory: factory).record(duration: max(.zero, duration))
    }

    /// A service that sets the gauges of these queues, of one store or several, at once and then at each interval.
    /// Running it in one process of a fleet is enough. While a store does not answer, its gauges keep their values.
    public func gauges(of queues: [JobQueue], every interval: Duration = .seconds(15)) -> some Service {
      JobGauges(queues: queues, interval: interval, metrics: self)
    }
  }

  extension JobMetrics.Outcome {
    init(of error: any Error, _ stopReason: StopReason?) {
      switch (stopReason, (error as? JobExit)?.way) {
      case (.claimLost, _): self = .claimLost
      case (nil, .snooze), (nil, .suspend): self = .putOff
      case (nil, _), (.timedOut, _): self = .failed
      default: self = .stopped
      }
    }
  }

  struct JobGauges: Service {
    let queues: [JobQueue]
    let interval: Duration
    let metrics: JobMetrics

    func run() async throws {
      await cancelWhenGracefulShutdown {
        repeat {
          for queue in queues { await look(at: queue) }
        } while (try? await Task.sleep(for: interval)) != nil
      }
    }

    private func look(at queue: JobQueue) async {
      guard let counts = try? await queue.counts(), let isPaused = try? await queue.isPaused else { return }
      for state in JobState.allCases {
        set("durable_jobs_jobs", [("queue", queue.name), ("state", state.rawValue)], counts[state])
      }
      set("durable_jobs_paused", [("queue", queue.name)], isPaused ? 1 : 0)
    }

    private func set(_ name: String, _ dimensions: [(String, String)], _ value: Int) {
      Gauge(label: name, dimensions: dimensions, factory: metrics.factory).record(value)
    }
  }
#endif
