#if Shell
  import Logging

  /// What a worker logs from warnings on, as this program says things. What it logs of single attempts is left out: their
  /// events have lines of their own.
  struct WorkerLog: LogHandler {
    let say: @Sendable (String) -> Void
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    static func logger(_ say: @escaping @Sendable (String) -> Void) -> Logger {
      Logger(label: "durable") { _ in WorkerLog(say: say) }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      guard event.metadata?["attempt"] == nil else { return }
      let job = event.metadata?["job"].map { "job \($0): " } ?? ""
      let error = event.metadata?["error"].map { ": \($0)" } ?? ""
      say("\(job)\(event.message)\(error)")
    }
  }
#endif
