#if Service
  import DurableJobs
  import Foundation
  import Instrumentation
  import Tracing

  /// Connects the trace of the caller that enqueues a job with those of its attempts, by swift-distributed-tracing:
  ///
  ///     let mail = JobQueue("mail", store: store, middleware: [JobTracing()])
  ///
  /// What the tracer injects, such as a `traceparent`, is stored under `$trace` in front of the payload if that is a
  /// JSON object; other payloads are stored as they are. Each attempt is a span, `run KIND`, whose parent is the span
  /// that enqueued the job, however long ago. Workers without this middleware see one unknown field in the payload.
  ///
  /// List it before middleware that encrypts, so that its field is encrypted too.
  public struct JobTracing: JobMiddleware {
    private let given: (any Tracer)?
    private var tracer: any Tracer { given ?? InstrumentationSystem.tracer }

    /// `tracer` defaults to the process's own at the time of each job, so this may be created before
    /// `InstrumentationSystem.bootstrap`.
    public init(tracer: (any Tracer)? = nil) { given = tracer }

    public func enqueue(_ job: inout NewJob) throws {
      guard let context = ServiceContext.current else { return }
      var carrier: [String: String] = [:]
      tracer.inject(context, into: &carrier, using: Carrier())
      job.payload = TracedPayload(carrier, job.payload).bytes
    }

    public func undo(_ job: inout NewJob) { job.payload = TracedPayload(job.payload).payload }

    public func run(
      _ job: ClaimedJob, context: JobContext, next: @Sendable (ClaimedJob, JobContext) async throws -> Data?
    ) async throws -> Data? {
      let traced = TracedPayload(job.payload)
      var parent = ServiceContext.topLevel
      tracer.extract(traced.carrier, into: &parent, using: Carrier())
      return try await tracer.withSpan("run \(job.kind)", context: parent, ofKind: .consumer) { span in
        span.attributes["messaging.system"] = "durable_jobs"
        span.attributes["messaging.destination.name"] = job.queue
        span.attributes["messaging.message.id"] = "\(job.token.job)"
        span.attributes["durable_jobs.attempt"] = job.attempt
        var job = job
        job.payload = traced.payload
        return try await next(job, context)
      }
    }
  }

  private struct Carrier: Injector, Extractor {
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) { carrier[key] = value }
    func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
  }

  /// `{"$trace":{"traceparent":"…"},` followed by the payload without its opening brace.
  struct TracedPayload {
    var carrier: [String: String] = [:]
    var payload: Data

    private static let opening = Data(#"{"$trace":"#.utf8)

    init(_ carrier: [String: String], _ payload: Data) {
      (self.carrier, self.payload) = (carrier, payload)
    }

    init(_ bytes: Data) {
      payload = bytes
      guard bytes.starts(with: Self.opening) else { return }
      let rest = bytes.dropFirst(Self.opening.count)
      // We wrote it ourselves: braces within its strings are escaped with `\u`.
      guard let end = rest.firstIndex(of: UInt8(ascii: "}")),
        let carrier = try? JSONDecoder().decode([String: String].self, from: rest[...end])
      else { return }
      self.carrier = carrier
      let fields = rest[rest.index(after: end)...]
      payload = Data("{".utf8) + (fields.first == UInt8(ascii: ",") ? fields.dropFirst() : fields)
    }

    /// The payload, unchanged if there is nothing to inject or no place for it.
    var bytes: Data {
      guard !carrier.isEmpty, payload.first == UInt8(ascii: "{"),
        let fields = try? JSONEncoder().encode(carrier), fields.filter({ $0 == UInt8(ascii: "}") }).count == 1
      else { return payload }
      let rest = payload.dropFirst()
      let isEmpty = rest.first(where: { !" \n\r\t".utf8.contains($0) }) == UInt8(ascii: "}")
      return Self.opening + fields + (isEmpty ? Data() : Data(",".utf8)) + rest
    }
  }
#endif
