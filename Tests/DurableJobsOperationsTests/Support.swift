import DurableJobs
import DurableJobsOperations
import DurableJobsTesting
import Foundation
import Testing

/// What happened, in order, and waiting for it.
final class Record: Sendable {
  private let lines = Lock<[String]>([])
  private let change = NSCondition()
  var all: [String] { lines.withLock { $0 } }

  func add(_ line: String) {
    lines.withLock { $0.append(line) }
    change.lock()
    change.broadcast()
    change.unlock()
  }

  /// Returns once there are so many.
  func reached(_ count: Int) async {
    await onThread { [self] in
      change.lock()
      while all.count < count { change.wait() }
      change.unlock()
    }
  }
}

/// Opens once, for all who wait.
final class Door: Sendable {
  private let state = Lock((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

  func open() {
    let waiting = state.withLock { state in
      defer { state = (true, []) }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }
}

/// What blocks does so on a thread of its own: those of Swift's pool are few.
@discardableResult
func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}

struct Trouble: Error, CustomStringConvertible {
  var description = "trouble"
}

extension DurableOperationQueue {
  func add(_ operations: Operation...) async {
    await onThread { for operation in operations { self.addOperation(operation) } }
  }

  func finished() async { await onThread { self.waitUntilAllOperationsAreFinished() } }
}

extension Operation {
  func finished() async { await onThread { self.waitUntilFinished() } }
}

/// Does `body` while time passes on this clock.
func passing<R: Sendable>(_ clock: ManualClock, _ body: () async throws -> R) async rethrows -> R {
  let time = Task {
    while !Task.isCancelled {
      clock.advance(by: .milliseconds(100))
      await Task.yield()
    }
  }
  defer { time.cancel() }
  return try await body()
}

/// A queue on a store, whose operations of the kind "work" are written down when they run.
struct Bench {
  let store: InMemoryStore
  let record = Record()
  /// What ended, with its error.
  let ended = Record()
  let queue: DurableOperationQueue

  init(_ store: InMemoryStore = InMemoryStore(), maxConcurrency: Int = 1, maxRetries: Int = 0) {
    self.store = store
    queue = DurableOperationQueue(
      name: "bench", store: store, maxConcurrency: maxConcurrency, maxRetries: maxRetries
    ) { [ended] error, operation in ended.add(operation.id + (error.map { ": \($0)" } ?? "")) }
  }

  func registerWork() {
    queue.register("work") { [record] operation, _ in record.add(operation.id) }
    queue.register("trouble", retry: .constant(.milliseconds(1))) { [record] operation, context in
      record.add("\(operation.id) \(context.attempt)")
      throw Trouble()
    }
  }

  static func work(_ id: String) -> DurableOperation { DurableOperation(id: id, kind: "work") }
  static func trouble(_ id: String) -> DurableOperation { DurableOperation(id: id, kind: "trouble") }
}
