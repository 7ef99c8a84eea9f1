#if Shell
  import Logging

  /// Lets a worker's warnings appear between the bars. What it logs of single jobs is told by their events.
  struct DisplayLog: LogHandler {
    let display: DownloadDisplay
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let error = event.metadata?["error"].map { ": \($0)" } ?? ""
      display.say("\(event.message)\(error)")
    }
  }
#endif
