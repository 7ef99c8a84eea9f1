#if HTTP
  import DurableJobs

  /// What one attempt tells, to the job and to who watches here.
  struct SendAttempt: Sendable {
    let request: SendRequest
    let context: JobContext
    let onEvent: @Sendable (JobContext, SendRequest, Outbox.Event) -> Void
    /// Set when it is sent once more within this one: the first may have arrived.
    let wasRepeated = Lock(false)

    func tell(_ event: Outbox.Event) { onEvent(context, request, event) }

    /// So many bytes of a body that is in a file have gone.
    @Sendable func sent(_ bytes: Int64, of total: Int64) { report(Double(bytes) / Double(total), "sending") }

    func fail(_ error: RequestError) -> JobExit {
      tell(.failed(error, isFinal: true, retryAfter: nil))
      return .permanent(error)
    }

    func again(_ error: RequestError, after time: Duration) -> JobExit {
      tell(.failed(error, isFinal: false, retryAfter: time))
      return .retry(after: time, because: error)
    }

    func wait(_ reason: String, _ time: Duration) -> JobExit {
      tell(.waits(reason, for: time))
      report(0, "waits: \(reason)")
      return .snooze(for: time)
    }

    func hold(_ reason: String) -> JobExit {
      tell(.held(reason))
      return .suspend(because: reason)
    }

    /// How long the next attempt would be waited for after this one.
    func backOff(_ error: RequestError) -> Duration { SendRequest.retry.backOff(after: context.attempt, error) }

    /// It only throws where the task was cancelled, which the delivery notices by itself.
    private func report(_ fraction: Double, _ message: String) {
      try? context.report(progress: fraction, message)
    }
  }
#endif
