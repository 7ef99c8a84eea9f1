#if Shell
  import Logging

  /// What a worker logs from warnings on, as this program says things. Of single attempts it says only that a job was
  /// suspended: all else has lines of its own.
  struct WorkerLog: LogHandler {
    let say: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    static func logger(_ say: @escaping @Sendable (String) -> Void) -> Logger {
      Logger(label: "durable") { _ in WorkerLog(say: say) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
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
