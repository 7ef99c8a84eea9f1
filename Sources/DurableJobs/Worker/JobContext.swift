/// What a handler knows of the attempt that it makes.
public struct JobContext: Sendable {
  /// The job.
  public let id: JobID
  /// Which attempt this is, from 1. Attempts that a process death cut short are not counted.
  public let attempt: Int
  public let maxAttempts: Int
  /// The name of the queue that the job is in.
  public let queue: String
  let running: RunningAttempt

  /// Why the handler was asked to stop; nil as long as it was not. Its task is cancelled at the same moment.
  public var stopReason: StopReason? { running.stopReason }

  /// Tells how far the job is: `fraction` from 0 to 1, with a message if there is one.
  ///
  /// Returns at once. The news is stored within ``Defaults/progressInterval``, the latest wins, and it survives a crash.
  /// Throws `CancellationError` once the handler was asked to stop.
  public func report(progress fraction: Double, _ message: String? = nil) throws {
    if running.stopReason != nil { throw CancellationError() }
    running.report(JobProgress(fraction: fraction, message: message))
  }
}
