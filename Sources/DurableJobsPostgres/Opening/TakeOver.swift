#if Postgres
  import DurableJobs
  import Foundation

  /// A column of a table that is copied from another store, some rows at a time.
  package enum TakenColumn: Sendable {
    case ints([Int64?])
    case doubles([Double?])
    case texts([String?])
    case datas([Data?])

    fileprivate var value: Value {
      switch self {
      case .ints(let values): .optionalInts(values)
      case .doubles(let values): .doubles(values)
      case .texts(let values): .texts(values)
      case .datas(let values): .datas(values)
      }
    }
  }

  /// A table of a store, as it is copied from another.
  package struct TakenTable: Sendable {
    package enum Kind: Sendable { case int, flag, double, text, data }

    package let name: String
    package let columns: [(name: String, kind: Kind)]

    private init(_ name: String, _ columns: KeyValuePairs<String, Kind>) {
      self.name = name
      self.columns = columns.map { (name: $0.key, kind: $0.value) }
    }

    package static let all = [
      TakenTable(
        "queue",
        [
          "id": .int, "name": .text, "paused": .flag, "running": .int, "rate": .int, "period": .int, "burst": .int,
          "tat": .int,
        ]),
      TakenTable("route", ["id": .int, "queue": .int, "kind": .text, "requires": .text]),
      TakenTable(
        "job",
        [
          "id": .int, "route": .int, "rank": .int, "priority": .int, "claim": .int, "entered_at": .int,
          "started_at": .int, "links": .int, "attempt": .int, "state": .int, "run_at": .int, "batch": .int,
        ]),
      TakenTable(
        "spec",
        ["id": .int, "created_at": .int, "options": .text, "lane": .text, "deadline": .int, "payload": .data]),
      TakenTable("job_key", ["key": .text, "job": .int]),
      TakenTable("tag", ["tag": .text, "job": .int]),
      TakenTable(
        "worker",
        [
          "id": .int, "lease_until": .int, "name": .text, "session": .text, "kinds": .text, "queues": .text,
          "satisfied": .text, "absent": .text, "host": .text, "pid": .int, "started_at": .int,
        ]),
      TakenTable("edge", ["parent": .int, "child": .int, "need": .int, "slot": .int]),
      TakenTable("edge_key", ["key": .text, "child": .int, "need": .int, "slot": .int]),
      TakenTable("wait", ["job": .int, "n": .int]),
      TakenTable("lane", ["name": .text, "seat": .int, "job": .int]),
      TakenTable(
        "lane_width",
        ["name": .text, "width": .int, "rate": .int, "period": .int, "burst": .int, "tat": .int]),
      TakenTable("uniq", ["key": .text, "job": .int, "until": .int]),
      TakenTable("deadline", ["at": .int, "job": .int]),
      TakenTable("condition", ["name": .text, "satisfied": .flag]),
      TakenTable(
        "batch",
        [
          "id": .int, "name": .text, "total": .int, "live": .int, "succeeded": .int, "jobs": .int, "done": .flag,
          "open": .flag, "completion": .text, "follower": .int, "empty_at": .int,
        ]),
      TakenTable("batch_job", ["batch": .int, "job": .int]),
      TakenTable("output", ["id": .int, "bytes": .data]),
      TakenTable(
        "failure", ["job": .int, "number": .int, "attempt": .int, "at": .int, "message": .text, "code": .text]),
      TakenTable("progress", ["id": .int, "fraction": .double, "message": .text, "at": .int, "highest": .double]),
      TakenTable("crash", ["job": .int, "in_row": .int, "total": .int]),
      TakenTable("note", ["job": .int, "text": .text, "cause": .int]),
      TakenTable("step", ["job": .int, "name": .text, "value": .data]),
    ]

    fileprivate var insertSQL: String {
      let columns = columns.enumerated().map { index, column in
        (name: column.name, parameter: "$\(index + 1)", value: column.kind == .flag ? "\(column.name)<>0" : column.name)
      }
      let names = columns.map(\.name).joined(separator: ",")
      return """
        INSERT INTO §\(name)(\(names)) OVERRIDING SYSTEM VALUE SELECT \(columns.map(\.value).joined(separator: ","))
        FROM unnest(\(columns.map(\.parameter).joined(separator: ","))) u(\(names))
        """
    }
  }

  /// What two stores must have in common if one contains everything that the other does.
  package struct StoreSums: Equatable, Sendable {
    /// Jobs by the number of their state, rows by their table, and bytes.
    package var numbers: [String: Int64] = [:]
    package init() {}
  }

  /// The highest numbers that another store gave out, and when it noticed that its clock was set back.
  package struct GivenNumbers: Sendable {
    package var job, worker, batch: Int64
    package var epoch, epochAt, epochJob: Int64

    package init(job: Int64, worker: Int64, batch: Int64, epoch: Int64, epochAt: Int64, epochJob: Int64) {
      (self.job, self.worker, self.batch) = (job, worker, batch)
      (self.epoch, self.epochAt, self.epochJob) = (epoch, epochAt, epochJob)
    }
  }

  extension PostgresStore {
    private static let lockSQL = "LOCK TABLE §queue,§route,§job,§worker,§batch IN EXCLUSIVE MODE"
    private static let originSQL = "SELECT job FROM §origin WHERE source=$1"
    private static let isUsedSQL = """
      SELECT EXISTS(SELECT 1 FROM §queue) OR EXISTS(SELECT 1 FROM §job) OR EXISTS(SELECT 1 FROM §batch)
        OR EXISTS(SELECT 1 FROM §condition) OR EXISTS(SELECT 1 FROM §lane_width),EXISTS(SELECT 1 FROM §worker)
      """
    static let tallySQL = """
      INSERT INTO §tally SELECT route,0,count(*),count(*) FILTER(WHERE state=2),count(*) FILTER(WHERE state=3),
        count(*) FILTER(WHERE state=6),count(*) FILTER(WHERE state=7),count(*) FILTER(WHERE state=8),
        count(*) FILTER(WHERE state=9),count(*) FILTER(WHERE state=10) FROM §job GROUP BY route
      """
    private static let numbersSQL = """
      SELECT setval('§job_id',greatest($1,1),$1>0),setval('§worker_id',greatest($2,65537)),
        setval('§batch_id',greatest($3,1),$3>0),
        setval(pg_get_serial_sequence('§queue','id'),(SELECT coalesce(max(id),0)+1 FROM §queue),false),
        setval(pg_get_serial_sequence('§route','id'),(SELECT coalesce(max(id),0)+1 FROM §route),false)
      """
    /// Waits that were put right once are so here.
    private static let epochSQL =
      "UPDATE §meta SET changes=changes+1,epoch=epoch+$1,epoch_at=$2,epoch_job=$3 WHERE id=1"
    private static let noteSQL = "INSERT INTO §origin VALUES($1,$2,$3)"

    /// Copies everything from another store in one transaction: all of it with its numbers, or nothing. `rows` supplies
    /// the rows of a table, some at a time, and `sums` what they must add up to; `last` runs before the commit.
    /// Returns the last job that came if that was done before, else nil: `source` is the other store's name. The whole may
    /// be run again from its start.
    package func takeOver(
      from source: String, numbers: GivenNumbers, sums: StoreSums,
      last: @escaping @Sendable () throws -> Void,
      rows: @escaping @Sendable (TakenTable, ([TakenColumn]) throws -> Void) throws -> Void
    ) async throws -> JobID? {
      let name = engine.server.description
      return try await engine.write { transaction -> JobID? in
        let connection = transaction.connection
        transaction.begin()
        // `rows` and `last` may take their time.
        connection.send("SELECT set_config('idle_in_transaction_session_timeout','0',true)")
        connection.send(Self.lockSQL)
        var movedUpTo: Int64?
        var (isUsed, hasWorkers) = (false, false)
        connection.send(Self.originSQL, [.text(source)]) { rows in
          if rows.count > 0 { movedUpTo = rows.int(0, 0) }
        }
        connection.send(Self.isUsedSQL) { (isUsed, hasWorkers) = ($0.bool(0, 0), $0.bool(0, 1)) }
        try connection.sync()
        if let movedUpTo { return JobID(rawValue: movedUpTo) }
        guard !isUsed else {
          throw JobError(
            .wrongState,
            "\(name) has jobs, or settings, already: a store is moved to where there is nothing. Nothing was moved")
        }
        guard !hasWorkers else {
          throw JobError(.wrongState, "workers are at work on \(name): stop them first. Nothing was moved")
        }
        for table in TakenTable.all {
          try rows(table) { columns in
            connection.send(table.insertSQL, columns.map(\.value))
            try connection.sync()
          }
        }
        connection.send(Self.tallySQL)
        connection.send(Self.numbersSQL, [.int(numbers.job), .int(numbers.worker), .int(numbers.batch)])
        connection.send(Self.epochSQL, [.int(numbers.epoch), .int(numbers.epochAt), .int(numbers.epochJob)])
        connection.send(Self.noteSQL, [.text(source), .int(numbers.job), .int(transaction.now)])
        let here = try Self.sums(on: connection)
        guard here == sums else {
          let wrong = here.numbers.filter { sums.numbers[$0.key] != $0.value }.sorted { $0.key < $1.key }
          let words = wrong.map { "\($0.key) \($0.value) for \(sums.numbers[$0.key] ?? 0)" }.joined(separator: ", ")
          throw JobError(.storeFailed, "what came to \(name) is not what was sent: \(words). Nothing was moved")
        }
        try last()
        transaction.news.tell(.work)
        return nil
      }
    }

    private static func sums(on connection: Connection) throws -> StoreSums {
      let sums = Sums()
      for table in TakenTable.all {
        connection.send("SELECT count(*) FROM §\(table.name)") { sums.all.numbers[table.name] = $0.int(0, 0) }
      }
      connection.send("SELECT state,count(*) FROM §job GROUP BY state") { rows in
        for row in 0..<rows.count { sums.all.numbers["state \(rows.int(row, 0))"] = rows.int(row, 1) }
      }
      for (what, sql) in StoreSums.bytes {
        connection.send("SELECT coalesce(sum(\(sql.expression)),0)::bigint FROM §\(sql.table)") {
          sums.all.numbers[what] = $0.int(0, 0)
        }
      }
      try connection.sync()
      return sums.all
    }

    private final class Sums {
      var all = StoreSums()
    }
  }

  extension StoreSums {
    /// Sums that both databases can compute.
    package static let bytes: [String: (table: String, expression: String)] = [
      "bytes of payloads": ("spec", "length(payload)"), "bytes of outputs": ("output", "length(bytes)"),
      "attempts": ("job", "attempt"), "sum of ids": ("job", "id"), "needs": ("edge", "parent*5+need"),
      "crashes": ("crash", "total"),
    ]
  }
#endif
