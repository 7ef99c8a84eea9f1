#if HTTP
  import DurableJobs
  import Foundation

  /// What one attempt reports, to the job and to whoever watches here.
  final class DownloadAttempt: Sendable {
    let download: Download
    var job: JobID { context.id }
    var number: Int { context.attempt }
    private let context: JobContext
    private let clock: any JobClock
    private let onEvent: @Sendable (JobContext, Download, Downloader.Event) -> Void
    private let news: Lock<(next: Duration, fraction: Double)>

    init(
      download: Download, context: JobContext, clock: any JobClock,
      onEvent: @escaping @Sendable (JobContext, Download, Downloader.Event) -> Void
    ) {
      self.download = download
      self.context = context
      self.clock = clock
      self.onEvent = onEvent
      // A file that is here at once needs no report.
      news = Lock((next: clock.uptime + .milliseconds(100), fraction: 0))
    }

    func tell(_ event: Downloader.Event) { onEvent(context, download, event) }

    @Sendable func received(_ bytes: Int64, of total: Int64?) {
      let now = clock.uptime
      let fraction = total.map { $0 > 0 ? Double(bytes) / Double($0) : 0 } ?? 0
      let isDue = news.withLock { news in
        guard now >= news.next else { return false }
        news = (now + .milliseconds(100), fraction)
        return true
      }
      guard isDue else { return }
      tell(.received(bytes, of: total))
      report(fraction, total.map { bytes.asBytes(of: $0) } ?? bytes.asBytes)
    }

    /// The file that the job's first attempt found here.
    @Sendable func first(_ standing: StandingFile) async throws -> StandingFile {
      try await context.step("look at what is there") { standing }
    }

    func fail(_ error: DownloadError, isFinal: Bool) -> any Error {
      guard !isFinal else {
        tell(.failed(error, isFinal: true, retryAfter: nil))
        return JobExit.permanent(error)
      }
      return again(error, after: backOff(error)).asBackOff
    }

    func again(_ error: DownloadError, after time: Duration) -> JobExit {
      tell(.failed(error, isFinal: false, retryAfter: time))
      return .retry(after: time, because: error)
    }

    func wait(_ reason: String, _ time: Duration) -> JobExit {
      tell(.waits(reason, for: time))
      report(news.withLock { $0.fraction }, "waits: \(reason)")
      return .snooze(for: time)
    }

    /// How long the next attempt would wait after this one.
    func backOff(_ error: DownloadError) -> Duration { Download.retry.backOff(after: context.attempt, error) }

    /// It throws only if the task was cancelled, which the transfer notices by itself.
    private func report(_ fraction: Double, _ message: String) {
      try? context.report(progress: fraction, message)
    }
  }
#endif
