/// A value that is read at intervals: the current value, then each different one.
struct Polling: AsyncSequence, Sendable {
  private let interval: Duration
  private let read: @Sendable () async -> Bool

  init(_ interval: Duration, _ read: @escaping @Sendable () async -> Bool) {
    self.interval = interval
    self.read = read
  }

  func makeAsyncIterator() -> Iterator { Iterator(polling: self) }

  struct Iterator: AsyncIteratorProtocol {
    fileprivate let polling: Polling
    private var last: Bool?

    fileprivate init(polling: Polling) { self.polling = polling }

    mutating func next() async -> Bool? {
      while !Task.isCancelled {
        if last != nil { try? await Task.sleep(for: polling.interval, tolerance: polling.interval / 10) }
        let value = await polling.read()
        if value == last || Task.isCancelled { continue }
        last = value
        return value
      }
      return nil
    }
  }
}

extension AsyncStream<Bool> {
  init(_ polling: Polling) {
    self.init { continuation in
      let task = Task {  // ends with the stream, or before it
        for await value in polling { continuation.yield(value) }
        continuation.finish()
      }
      continuation.onTermination = { _ in task.cancel() }
    }
  }
}
