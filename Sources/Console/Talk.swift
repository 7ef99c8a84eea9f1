#if Shell
  import DurableJobs
  import Foundation

  /// What is said to a person, beside the data: on standard error.
  package enum Talk {
    /// Says this if `body` takes longer than that.
    package static func whileWaiting<R>(longerThan limit: Duration, _ text: String, for body: () throws -> R) rethrows
      -> R
    {
      let late = DispatchWorkItem { line(text) }
      DispatchQueue.global().asyncAfter(deadline: .now() + limit.seconds, execute: late)
      defer { late.cancel() }
      return try body()
    }

    /// What errors begin with.
    package static let program = Lock("durable")

    /// Whether all that is said is lines of JSON, too.
    package static let isJSON = Lock(false)

    package static func line(_ text: String) {
      Screen.error.line(
        isJSON.withLock { $0 } ? Line(event: "note", message: text.trimmingCharacters(in: .whitespaces)).text : text)
    }

    /// `code` is a word for programs: that of a ``JobError``, or "usage", or "failed".
    package static func error(_ text: String, code: String = "failed") {
      Screen.error.line(
        isJSON.withLock { $0 }
          ? Line(event: "error", code: code, message: text).text
          : "\(program.withLock { $0 }): \(text.withVisibleControls)")
    }

    private struct Line: Encodable {
      var event: String
      var code: String?
      var message: String

      var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts can all be encoded.
        return String(decoding: try! encoder.encode(self), as: UTF8.self)
      }
    }
  }
#endif
