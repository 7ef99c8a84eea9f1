import Foundation
import Logging
import Testing

@testable import DurableJobs

/// What becomes of an attempt whose handler threw.
@Suite struct AttemptEndTests {
  struct Wrapped: Error { var reason: any Error }
  enum UploadError: Error {
    case failed(file: String, because: any Error)
    case refused
  }

  static let cancellations: [any Error] = [
    CancellationError(), URLError(.cancelled), CocoaError(.userCancelled), POSIXError(.ECANCELED),
    Wrapped(reason: CancellationError()), UploadError.failed(file: "a", because: Wrapped(reason: CancellationError())),
    NSError(domain: "app", code: 1, userInfo: [NSUnderlyingErrorKey: URLError(.cancelled)]),
  ]

  static let claim = ClaimedJob(
    token: ClaimToken(job: JobID(rawValue: 1), claim: 1), queue: "q", kind: "k", payload: Data(), attempt: 1,
    maxAttempts: 3, timeout: .seconds(5))

  private func end(_ error: any Error, _ reason: StopReason?) -> ClaimSettlement.Result? {
    AttemptEnd.result(ofError: error, claim: Self.claim, stopReason: reason, retry: .exponential())
  }

  @Test(arguments: cancellations)
  func `a cancellation that was asked for is an interruption, whatever it was wrapped in`(_ error: any Error) {
    for reason in [StopReason.cancelled, .suspended, .shutdown] {
      #expect(end(JobExit.permanent(error), reason) == .interrupted)
      #expect(end(JobExit.retry(after: .seconds(1), because: error), reason) == .interrupted)
      #expect(end(error, reason) == .interrupted)
    }
  }

  @Test(arguments: cancellations)
  func `a time-out is a failed attempt that says so, whatever the cancellation was wrapped in`(_ error: any Error) {
    for error in [error, JobExit.permanent(error), JobExit.retry(after: .seconds(1), because: error)] {
      guard case .retry(.after, let message, _)? = end(error, .timedOut) else {
        Issue.record("\(error) ends it otherwise")
        continue
      }
      #expect(message == "timed out after 5.0 seconds")
    }
  }

  @Test func `a cancellation is looked for in what an error is, and not in all that it can reach`() {
    /// A tree that counts who looks at it.
    struct Node: Error, CustomReflectable {
      let looks: Lock<Int>
      var customMirror: Mirror {
        looks.withLock { $0 += 1 }
        return Mirror(self, unlabeledChildren: (0..<10).map { _ in self })
      }
    }
    let looks = Lock(0)
    let error = JobExit.permanent(Node(looks: looks))
    guard case .failed? = end(error, .cancelled) else {
      Issue.record("it is taken for a cancellation")
      return
    }
    #expect(looks.withLock(\.self) <= 1000)
  }

  @Test func `a cancellation that nobody asked for is an error as any other`() {
    guard case .failed? = end(JobExit.permanent(CancellationError()), nil) else {
      Issue.record("it does not fail the job")
      return
    }
  }

  @Test func `an error of its own that a handler throws as final while it is stopped is final`() {
    #expect(end(JobExit.permanent(UploadError.refused), .shutdown) == .failed(message: "refused"))
    #expect(end(JobExit.snooze(for: .seconds(3)), .shutdown) == .snoozed(.after(.seconds(3))))
  }
}

/// What a worker's log says of attempts, at which level.
@Suite struct AttemptLogTests {
  private let log = LogLines()
  private let queue = JobQueue(store: InMemoryStore())
  private var worker: JobWorker { JobWorker(queue, logger: log.logger) }

  @Test func `a time-out is logged as one: at info if another attempt follows, at error if the job has failed`()
    async throws
  {
    let worker = worker
    worker.register(kind: "slow", retry: .exponential(base: .milliseconds(1))) { _, _ in
      await untilCancelled()
      throw CancellationError()
    }
    try await queue.enqueue(
      kind: "slow", payload: Data(), options: JobOptions(maxAttempts: 2, timeout: .milliseconds(5)))
    try await worker.runUntilIdle()
    // However long the handler took to hear of it.
    #expect(
      log.lines.filter { !$0.contains("asked to stop") } == [
        "info: attempt failed (timed out after 0.005 seconds)", "error: job failed (timed out after 0.005 seconds)",
      ])
  }

  @Test func `a handler that suspends its job logs a reason, and no error`() async throws {
    let worker = worker
    worker.register(kind: "upload") { _, _ in throw .suspend(because: "the system uploads it") }
    try await queue.enqueue(kind: "upload", payload: Data())
    try await worker.runUntilIdle()
    #expect(log.lines == ["info: job suspended (the system uploads it)"])
  }
}

/// A logger's lines from info on: level, message, and the error or reason in it.
private final class LogLines: Sendable {
  private struct Handler: LogHandler {
    let lines: Lock<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let why = event.metadata?["error"] ?? event.metadata?["reason"] ?? "-"
      lines.withLock { $0.append("\(event.level): \(event.message) (\(why))") }
    }
  }

  private let store = Lock<[String]>([])
  var lines: [String] { store.withLock { $0 } }
  var logger: Logger { Logger(label: "test") { [store] _ in Handler(lines: store) } }
}
