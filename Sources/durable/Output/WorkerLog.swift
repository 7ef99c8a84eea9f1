#if Shell
  import DurableJobs
  import Logging

  /// What a worker logs from warnings on, as this program says things. Of single attempts it says only that a job was
  /// suspended: all else has lines of its own.
  struct WorkerLog: LogHandler {
    let say: @Sendable (String) -> Void
    /// Told of results that the store did not take, and what state it has of the job.
    private var onRefusal: (@Sendable (JobID, String) -> Void)?
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    static func logger(
      onRefusal: (@Sendable (JobID, String) -> Void)? = nil, _ say: @escaping @Sendable (String) -> Void
    ) -> Logger {
      Logger(label: "durable") { _ in WorkerLog(say: say, onRefusal: onRefusal) }
    }

    private init(say: @escaping @Sendable (String) -> Void, onRefusal: (@Sendable (JobID, String) -> Void)?) {
      (self.say, self.onRefusal) = (say, onRefusal)
      if onRefusal != nil { logLevel = .debug }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let isRefusal = ["result refused", "claim lost; its handler is cancelled"].contains("\(event.message)")
      if isRefusal, let job = event.metadata?["job"].flatMap({ JobID("\($0)") }) {
        onRefusal?(job, event.metadata?["state"].map { "\($0)" } ?? "another worker's, or has ended")
      }
      let reason = event.metadata?["reason"].map { ": \($0)" } ?? ""
      if "\(event.message)" == "job suspended", let job = event.metadata?["job"] {
        return say("job \(job) is suspended\(reason)")
      }
      guard event.level >= .warning, event.metadata?["attempt"] == nil else { return }
      let job = event.metadata?["job"].map { "job \($0): " } ?? ""
      let error = event.metadata?["error"].map { ": \($0)" } ?? ""
      say("\(job)\(event.message)\(error)")
    }
  }
#endif
