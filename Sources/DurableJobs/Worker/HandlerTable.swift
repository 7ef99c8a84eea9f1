import Foundation

/// The code that a worker has, by kind.
struct HandlerTable: Sendable {
  /// How one kind is run: decodes the payload, calls the handler, encodes what it returned.
  struct Handler: Sendable {
    let retry: RetryPolicy
    /// What it decodes; nil if it takes bytes as they are.
    var payload: Any.Type?
    /// What its jobs give; nil if it stores bytes as they are.
    var output: Any.Type?
    let run: @Sendable (ClaimedJob, JobContext) async throws -> Data?
  }

  /// By name, as the worker was made with them.
  var queues: [String: JobQueue] = [:]
  private var handlers: [String: Handler] = [:]
  private var formerHandlers: [String: Handler] = [:]

  var kinds: Set<String> { Set(handlers.keys).union(formerHandlers.keys) }

  /// Where a job comes from, and its follow-ups go. What this package stores for its own ends passes no middleware: it was
  /// not prepared by a queue.
  func queue(of job: ClaimedJob, in store: any JobStore) -> JobQueue {
    job.kind.hasPrefix("durable.")
      ? JobQueue(job.queue, store: store) : queues[job.queue] ?? JobQueue(job.queue, store: store)
  }

  /// A kind's own handler goes before that of a type which only had its name once.
  subscript(kind: String) -> Handler? { handlers[kind] ?? formerHandlers[kind] }

  /// Returns the one that the kind had.
  mutating func add(_ handler: Handler, for kind: String, formerly: [String]) -> Handler? {
    for kind in formerly { formerHandlers[kind] = handler }
    return handlers.updateValue(handler, forKey: kind)
  }
}

extension HandlerTable.Handler {
  /// Within what stands around the jobs of its queue, the nearest to the store outermost.
  func run(_ claim: ClaimedJob, within context: JobContext) async throws -> Data? {
    var whole = run
    for middleware in context.home.middleware {
      whole = { [next = whole] in try await middleware.run($0, context: $1, next: next) }
    }
    return try await whole(claim, context)
  }

  init<P: JobPayload>(
    _ type: P.Type, retry: RetryPolicy, _ body: @escaping @Sendable (P, JobContext) async throws -> P.Output
  ) {
    let coding = P.outputCoding
    self.init(retry: retry, payload: P.self, output: P.Output.self) { claim, context in
      let job: P
      do {
        job = try JobCoding.decode(P.self, from: claim.payload, inputs: claim.inputs)
      } catch {
        throw Undecodable(reason: "the payload does not decode as \(P.self): \(error.briefly)")
      }
      do {
        try job.validate()
      } catch {
        throw JobExit(way: .permanent(error))
      }
      let output = try await body(job, context)
      do {
        return try coding.encode(output)
      } catch {
        throw JobExit(way: .permanent(OutputRefused(reason: "its output can't be encoded: \(error.briefly)")))
      }
    }
  }
}

/// The stored payload is no payload of the kind: the job is suspended, not failed, until a program comes that reads it.
package struct Undecodable: Error {
  let reason: String

  package init(reason: String) { self.reason = reason }
}

/// The handler succeeded, and what it returned can't be stored: to run it again would not help.
struct OutputRefused: Error, CustomStringConvertible {
  let reason: String
  var description: String { reason }
}

/// The attempt took longer than the job's timeout.
struct TimedOut: Error, CustomStringConvertible {
  let limit: Duration
  var description: String { "timed out after \(limit)" }
}
