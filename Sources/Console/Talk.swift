#if Shell
  import DurableJobs
  import Foundation

  /// What is said to a person, beside the data: on standard error.
  package enum Talk {
    /// What errors begin with.
    package static let program = Lock("durable")

    /// Whether errors are lines of JSON, too.
    package static let isJSON = Lock(false)

    package static func line(_ text: String) { Screen.error.line(text) }
    /// `code` is a word for programs: that of a ``JobError``, or "usage", or "failed".
    package static func error(_ text: String, code: String = "failed") {
      guard isJSON.withLock({ $0 }) else {
        Screen.error.line("\(program.withLock { $0 }): \(text.withVisibleControls)")
        return
      }
      let words = [code, text].map { word in
        (try? JSONEncoder().encode(word)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
      }
      Screen.error.line("{\"event\":\"error\",\"code\":\(words[0]),\"message\":\(words[1])}")
    }
  }
#endif
