import Foundation

/// The handlers of a worker, by kind.
struct HandlerTable: Sendable {
  /// How to run one kind: decode the payload, call the handler, encode what it returned.
  struct Handler: Sendable {
    let retry: RetryPolicy
    /// The type of the payload; nil if the handler takes the stored bytes.
    var payload: Any.Type?
    /// The type of the output; nil if the handler returns the bytes to store.
    var output: Any.Type?
    let run: @Sendable (ClaimedJob, JobContext) async throws -> Data?
  }

  /// The queues that the worker was made with, by name.
  var queues: [String: JobQueue] = [:]
  private var handlers: [String: Handler] = [:]
  private var formerHandlers: [String: Handler] = [:]

  var kinds: Set<String> { Set(handlers.keys).union(formerHandlers.keys) }

  /// The queue that a job belongs to, and where its follow-ups go. Jobs that this package enqueues for itself bypass
  /// middleware, since no queue prepared them.
  func queue(of job: ClaimedJob, in store: any JobStore) -> JobQueue {
    (Self.isOwn(job.kind) ? nil : queues[job.queue]) ?? JobQueue(job.queue, store: store)
  }

  static func isOwn(_ kind: String) -> Bool { kind.hasPrefix("durable.") }

  /// A kind's own handler takes precedence over that of a type for which it is a former kind.
  subscript(kind: String) -> Handler? { handlers[kind] ?? formerHandlers[kind] }

  /// Returns the previous handler of the kind.
  mutating func add(_ handler: Handler, for kind: String, formerly: [String]) -> Handler? {
    for kind in formerly { formerHandlers[kind] = handler }
    return handlers.updateValue(handler, forKey: kind)
  }
}

extension HandlerTable.Handler {
  /// Runs the handler inside the middleware of the job's queue; the middleware nearest to the store is outermost.
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
      do { job = try JobCoding.decode(P.self, from: claim.payload, inputs: claim.inputs) } catch {
        throw Undecodable(reason: "the payload does not decode as \(P.self): \(error.briefly)")
      }
      do { try job.validate() } catch { throw JobExit(way: .permanent(error)) }
      let output = try await body(job, context)
      do { return try coding.encode(output) } catch {
        throw JobExit(way: .permanent(OutputRefused(reason: "its output can't be encoded: \(error.briefly)")))
      }
    }
  }
}

/// The stored payload does not decode as its kind: the job is suspended, not failed, until a program can read it.
package struct Undecodable: Error {
  let reason: String

  package init(reason: String) { self.reason = reason }
}

/// The handler succeeded, but its output can't be stored: running it again would not help.
struct OutputRefused: Error, CustomStringConvertible {
  let reason: String
  var description: String { reason }
}

/// The attempt took longer than the job's timeout.
struct TimedOut: Error, CustomStringConvertible {
  let limit: Duration
  var description: String { "timed out after \(limit)" }
}
