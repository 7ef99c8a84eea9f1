import DurableJobs
import Foundation

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
