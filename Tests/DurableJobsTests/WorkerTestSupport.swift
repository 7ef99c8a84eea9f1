import DurableJobs
import Foundation
import Logging

/// What handlers did, in order.
final class Recorder<Element: Sendable>: Sendable {
  private let elements = Lock<[Element]>([])
  var all: [Element] { elements.withLock { $0 } }
  func add(_ element: Element) { elements.withLock { $0.append(element) } }
}

/// How many are inside at once, at most.
final class LoadGauge: Sendable {
  private let load = Lock((now: 0, highest: 0))
  var highest: Int { load.withLock { $0.highest } }
  func enter() { load.withLock { $0 = ($0.now + 1, max($0.highest, $0.now + 1)) } }
  func leave() { load.withLock { $0.now -= 1 } }
}

final class Flag: Sendable {
  private let flag: Lock<Bool>
  init(_ value: Bool) { flag = Lock(value) }
  var value: Bool {
    get { flag.withLock { $0 } }
    set { flag.withLock { $0 = newValue } }
  }

  /// The value, which is false from then on.
  func take() -> Bool {
    flag.withLock { flag in
      defer { flag = false }
      return flag
    }
  }
}

/// Returns when the calling task is cancelled.
func untilCancelled() async {
  let never = Gate()
  await never.pass()
}

/// What was logged as a warning.
final class LogBook: Sendable {
  private let lines = Lock<[String]>([])
  var warnings: [String] { lines.withLock { $0 } }
  var logger: Logger { Logger(label: "test") { [self] _ in Handler(book: self) } }

  private struct Handler: LogHandler {
    let book: LogBook
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      guard event.level == .warning else { return }
      book.lines.withLock { $0.append("\(event.message): \(event.metadata?["error"] ?? "")") }
    }
  }
}
