#if Shell
  /// What is said to a person, beside the data: on standard error.
  package enum Talk {
    package static func line(_ text: String) { Screen.error.line(text) }
    package static func error(_ text: String) { Screen.error.line("durable: \(text.withVisibleControls)") }
  }
#endif
