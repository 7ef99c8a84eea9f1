#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import DurableJobsProcess
  import Foundation

  /// What becomes of a job, for programs, a line each. What an event does not tell is left out.
  struct JobEvent: Encodable, Sendable {
    enum Name: String, Encodable {
      case started, waits, ended
    }

    var event: Name
    var id: JobID
    var queue: String?
    var attempt: Int?
    var maxAttempts: Int?
    var command: String?
    var method: String?
    var url: String?
    /// Of an end: "succeeded", "failed", "cancelled", "suspended", or "returned" if it goes back without having counted.
    var result: String?
    var mayBeRetried: Bool?
    var message: OrNull<String>?
    var path: OrNull<String>?
    var size: OrNull<Int64>?
    var wasThere: Bool?
    /// Of an answer.
    var status: Int?
    var seconds: Double?

    init(_ event: Name, _ id: JobID) {
      self.event = event
      self.id = id
    }

    /// An event in the life of a command. `mark` stands before the line for people.
    init(_ context: JobContext, _ event: ShellCommand.Event, _ mark: WorkLine.Mark) {
      self.init(.ended, context.id)
      queue = context.queue
      attempt = context.attempt
      maxAttempts = context.maxAttempts
      switch event {
      case .started(let command):
        self.event = .started
        self.command = command.withoutSecrets.typed
      case .ended(let command, let result, let took):
        self.command = command.withoutSecrets.typed
        self.result = result.outcome
        if result.outcome == "failed" { mayBeRetried = mark == .again }
        message = OrNull(wrappedValue: result.succeeded ? nil : "\(result)".withoutPasswords)
        seconds = took.inMilliseconds
      case .couldNotStart(let command, let reason), .suspended(let command, let reason):
        self.command = command.withoutSecrets.typed
        result = if case .suspended = event { "suspended" } else { "returned" }
        message = OrNull(wrappedValue: reason)
      }
    }

    /// The end of a job that failed without an attempt here.
    init(givenUp job: JobSnapshot) {
      self.init(.ended, job.id)
      (queue, attempt, maxAttempts) = (job.queue, job.attempt, job.maxAttempts)
      command = ShellCommand(job)?.withoutSecrets.typed
      method = SendRequest(job)?.method.rawValue
      url = (Download(job)?.url ?? SendRequest(job)?.url)?.withoutCredentials.withoutPasswords
      result = "failed"
      mayBeRetried = false
      message = OrNull(wrappedValue: job.failures.last?.message.withoutPasswords)
    }

    /// An event in the life of a download.
    init(_ attempt: JobAttempt, _ download: Download, _ mark: WorkLine.Mark, _ event: Downloader.Event) {
      self.init(attempt, mark, url: download.url)
      switch event {
      case .succeeded(let file):
        end("succeeded")
        path = OrNull(wrappedValue: file.path)
        size = OrNull(wrappedValue: file.size)
        wasThere = file.wasThere
      case .failed(let error, _, _): fail(error.message, mark)
      case .stopped: end("returned")
      case .waits(let reason, let time): wait(reason, time)
      default: break
      }
    }

    /// An event in the life of a request.
    init(_ attempt: JobAttempt, _ request: SendRequest, _ mark: WorkLine.Mark, _ event: Outbox.Event) {
      self.init(attempt, mark, url: request.url)
      method = request.method.rawValue
      switch event {
      case .succeeded(let answer):
        end("succeeded")
        status = answer.status
      case .held(let reason): end("suspended", reason.withoutPasswords)
      case .failed(let error, _, _): fail(error.message, mark)
      case .stopped: end("returned")
      case .waits(let reason, let time): wait(reason, time)
      default: break
      }
    }

    /// `mark` stands before the line for people.
    private init(_ attempt: JobAttempt, _ mark: WorkLine.Mark, url: URL) {
      self.init(mark == .start ? .started : mark == .waits ? .waits : .ended, attempt.job)
      queue = attempt.queue
      self.attempt = attempt.number
      maxAttempts = attempt.of
      self.url = url.withoutCredentials.withoutPasswords
    }

    private mutating func end(_ result: String, _ message: String? = nil) {
      self.result = result
      self.message = OrNull(wrappedValue: message)
    }

    private mutating func fail(_ message: String, _ mark: WorkLine.Mark) {
      end("failed", message.withoutPasswords)
      mayBeRetried = mark == .again
    }

    /// The store did not take the result.
    mutating func comeBack(_ message: String) {
      end("returned", message)
      (mayBeRetried, path, size, wasThere, status) = (nil, nil, nil, nil, nil)
    }

    private mutating func wait(_ reason: String, _ time: Duration) {
      message = OrNull(wrappedValue: reason.withoutPasswords)
      seconds = time.inMilliseconds
    }

    /// The end of a download that may have run in another process. `failure` is nil if it succeeded.
    init(ended id: JobID, _ file: DownloadedFile?, failure: String?) {
      self.init(.ended, id)
      result = failure == nil ? "succeeded" : "failed"
      message = OrNull(wrappedValue: failure?.withoutPasswords)
      path = OrNull(wrappedValue: file?.path)
      size = OrNull(wrappedValue: file?.size)
    }
  }

  extension Duration {
    /// In seconds, to the millisecond.
    fileprivate var inMilliseconds: Double { (seconds * 1000).rounded() / 1000 }
  }
#endif
