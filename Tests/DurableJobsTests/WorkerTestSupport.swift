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

func onAThreadOfItsOwn<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}

/// What was logged.
final class LogBook: Sendable {
  typealias Line = (level: Logger.Level, text: String)

  private let lines = Lock<[Line]>([])
  var all: [Line] { lines.withLock { $0 } }
  var warnings: [String] { all.filter { $0.level == .warning }.map(\.text) }
  var logger: Logger { Logger(label: "test") { [self] _ in Handler(book: self) } }

  private struct Handler: LogHandler {
    let book: LogBook
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let error = event.metadata?["error"] ?? ""
      book.lines.withLock { $0.append((event.level, "\(event.message): \(error)")) }
    }
  }
}
