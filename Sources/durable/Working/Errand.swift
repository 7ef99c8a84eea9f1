#if Shell
  /// Something under way that need not be waited for to its end: who asks a store that does not answer hears of no
  /// cancellation.
  struct Errand<Result: Sendable>: Sendable {
    private typealias End = Swift.Result<Result, any Error>?

    private let ends: AsyncStream<End>
    private let end: AsyncStream<End>.Continuation
    private let task: Task<Void, Never>

    init(_ work: @escaping @Sendable () async throws -> Result) {
      let (ends, end) = AsyncStream.makeStream(of: End.self)
      (self.ends, self.end) = (ends, end)
      task = Task {  // ended by the end of the process, if it is not waited for
        do { end.yield(.success(try await work())) } catch { end.yield(.failure(error)) }
      }
    }

    /// Who waits for it does not any longer.
    func leave() { end.yield(nil) }

    func leave(after time: Duration) {
      Task {  // ended by the end of the process, if not before
        try? await Task.sleep(for: time)
        leave()
      }
    }

    func cancel() { task.cancel() }

    /// What it gives; nil once it was left.
    func value() async throws -> Result? {
      for await end in ends { return try end?.get() }
      return nil
    }
  }
#endif
