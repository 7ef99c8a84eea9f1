#if Shell
  import DurableJobs

  /// What is said to a person, beside the data: on standard error.
  package enum Talk {
    /// What errors begin with.
    package static let program = Lock("durable")

    package static func line(_ text: String) { Screen.error.line(text) }
    package static func error(_ text: String) {
      Screen.error.line("\(program.withLock { $0 }): \(text.withVisibleControls)")
    }
  }
#endif
