#if Postgres
  import DurableJobs
  import Foundation

  /// A statement that any PostgreSQL client can run in a transaction of its own: its text, with `$1`, `$2` and so on
  /// for the values, all of the type `text`.
  public struct PostgresStatement: Hashable, Sendable {
    public let sql: String
    /// Nil is NULL.
    public let values: [String?]
  }

  extension JobQueue {
    /// The statement that stores a job, for a program that writes with another client. It returns a row with the job's
    /// id, for ``handle(_:as:)``. The job exists if and only if that transaction is committed; workers hear of it then.
    ///
    /// It stores plain jobs. Throws `JobError.Code.invalidArgument` for a job with a key, tags, a lane, a time limit, a
    /// constraint or something to wait for, or with a payload that is not JSON; `JobError.Code.wrongStore` for a queue
    /// that is not on PostgreSQL; and what `enqueue(_:options:)` throws for errors that are known beforehand.
    public func enqueueStatement<P: JobPayload>(
      for job: P, options: JobOptions = JobOptions()
    ) throws -> PostgresStatement {
      let function = try Functions(of: store)
      let new = try prepare(job, options: options)
      try new.check()
      return try function.enqueue(new)
    }
  }

  extension JobContext {
    /// The statement that ends this job with success, for a handler that writes with another client. It returns one row
    /// with one boolean. False means that the job had already succeeded in another attempt: roll back then, so that
    /// only that attempt's work remains. Once it is committed, the handler's return value is ignored.
    ///
    /// The server refuses a job that others wait for, or that has a lane, a unique key or a batch. Throws
    /// `JobError.Code.invalidArgument` if something is to follow this job (`enqueueOnSuccess`), or if jobs of its kind
    /// have an output: use ``completeStatement(with:)``.
    public func completeStatement() throws -> PostgresStatement { try statement(success(with: Never?.none)) }

    /// The same with the job's output, which has the type that its kind declares.
    public func completeStatement<Output: Codable & Sendable>(with output: Output) throws -> PostgresStatement {
      try statement(success(with: output))
    }

    private func statement(_ success: (store: any JobStore, end: ClaimSettlement)) throws -> PostgresStatement {
      try Functions(of: success.store).complete(success.end)
    }
  }

  /// The functions of a store's schema, as statements.
  private struct Functions {
    let schema: String

    init(of store: any JobStore) throws {
      guard let store = store as? PostgresStore else {
        throw JobError(.wrongStore, "the store of this queue is none on PostgreSQL")
      }
      schema = Schema.quoted(store.engine.configuration.schema)
    }

    func enqueue(_ job: NewJob) throws -> PostgresStatement {
      let surplus = job.surplus
      guard surplus.isEmpty else {
        throw JobError(
          .invalidArgument,
          "a job of '\(job.kind)' has \(surplus.joined(separator: ", ")), which no statement can store: enqueue it by "
            + "PostgresStore.transaction")
      }
      guard let payload = job.payload.json else {
        throw JobError(
          .invalidArgument, "the payload of '\(job.kind)' is no JSON: enqueue it by PostgresStore.transaction")
      }
      let (start, number): (String, String?) =
        switch job.terms.start {
        case .now: ("NULL::timestamptz", nil)
        case .at(let date): ("to_timestamp($5::text::float8/1000)", "\(date.milliseconds)")
        case .after(let wait): ("clock_timestamp()+$5::text::float8*interval '1 ms'", "\(wait.milliseconds)")
        }
      return PostgresStatement(
        sql: "SELECT \(schema).enqueue($1::text,$2::text,$3::text::json,$4::text::bigint,"
          + (number == nil ? "\(start),$5" : "\(start),$6") + "::text::integer)",
        values: [job.queue, job.kind, payload, "\(job.terms.priority.rawValue)"] + (number.map { [$0] } ?? [])
          + ["\(job.terms.maxAttempts)"])
    }

    func complete(_ end: ClaimSettlement) throws -> PostgresStatement {
      guard end.followUps.isEmpty else {
        throw JobError(
          .invalidArgument,
          "jobs are to follow from job \(end.token.job), which no statement can store: complete it by PostgresStore.transaction"
        )
      }
      var output: String?
      if case .succeeded(let bytes?) = end.result {
        guard let text = bytes.json else {
          throw JobError(
            .invalidArgument, "what job \(end.token.job) gives is no JSON: complete it by PostgresStore.transaction")
        }
        output = text
      }
      return PostgresStatement(
        sql: "SELECT \(schema).complete($1::text::bigint,$2::text::json)",
        values: ["\(end.token.job.rawValue)", output])
    }
  }

  extension NewJob {
    /// The options that the SQL function has no parameters for.
    fileprivate var surplus: [String] {
      let all: [(String, Bool)] = [
        ("a key", terms.key != nil), ("a unique key", terms.unique != nil), ("a lane", terms.lane != nil),
        ("tags", !terms.tags.isEmpty), ("a time limit", terms.timeout != nil), ("a deadline", terms.deadline != nil),
        ("constraints", !terms.requires.isEmpty || terms.whenLost != .goesOn),
        ("something to wait for", !edges.isEmpty),
      ]
      return all.filter(\.1).map(\.0)
    }
  }

  extension Data {
    /// As text, if it is JSON.
    fileprivate var json: String? {
      guard (try? JSONSerialization.jsonObject(with: self, options: .fragmentsAllowed)) != nil else { return nil }
      return String(data: self, encoding: .utf8)
    }
  }
#endif
