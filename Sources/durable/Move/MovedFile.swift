#if Shell && Postgres
  import DurableJobs
  import DurableJobsPostgres
  import Foundation
  import GRDB

  /// A store in a file whose rows are read to be written elsewhere. Nobody writes to it meanwhile, or works on it then.
  final class MovedFile: Sendable {
    private let database: DatabaseQueue

    /// Rows are handed over so many at once, or after so many bytes.
    private static let mostRows = 1000
    private static let mostBytes = 8 << 20

    /// Waits for who writes just now.
    init(path: String) throws {
      var configuration = Configuration()
      configuration.busyMode = .timeout(10)
      configuration.allowsUnsafeTransactions = true
      database = try DatabaseQueue(path: path, configuration: configuration)
      try database.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
    }

    /// Pauses its queues in the transaction in which it was read: a worker that has waited for its turn meanwhile finds
    /// nothing to do.
    func close() throws {
      try database.writeWithoutTransaction { db in
        try db.execute(sql: "UPDATE durable_queue SET paused=1 WHERE paused=0")
        try db.commit()
      }
      try database.close()
    }

    // MARK: Rows

    /// Where the rows of a table stand, and columns that have another name or form.
    private static func query(_ table: TakenTable) -> String {
      let source = table.name == "condition" ? "durable_constraint" : "durable_\(table.name)"
      let columns = table.columns.map { column in
        let value =
          switch (table.name, column.name) {
          case ("job", "batch"): "(SELECT batch FROM durable_batch_job WHERE job=t.id)"
          case ("spec", "lane"): "options->>'$.lane'"
          case ("spec", "deadline"): "coalesce(options->>'$.startBy',options->>'$.endBy')"
          case ("spec", "payload"): "coalesce(payload,x'')"
          case ("worker", "host"): "coalesce(host,'')"
          case ("worker", "pid"): "coalesce(pid,0)"
          case ("batch", "done"): "done=1"
          case ("batch", "open"): "done=2"
          default: column.name
          }
        // As a text, it would end at a character 0.
        return column.kind == .text ? "CAST(\(value) AS BLOB)" : value
      }
      // One row of a job that is gone stays, so that its number is not given out again.
      let rest = table.name == "job" ? " WHERE state<>11" : ""
      return "SELECT \(columns.joined(separator: ",")) FROM \(source) t\(rest)"
    }

    func read(_ table: TakenTable, _ put: ([TakenColumn]) throws -> Void) throws {
      try database.writeWithoutTransaction { db in
        let rows = try Row.fetchCursor(db, sql: Self.query(table))
        var bite = Bite(table)
        while let row = try rows.next() {
          bite.add(row)
          guard bite.rows >= Self.mostRows || bite.bytes >= Self.mostBytes else { continue }
          try put(bite.columns)
          bite = Bite(table)
        }
        if bite.rows > 0 { try put(bite.columns) }
      }
    }

    private struct Bite {
      var columns: [TakenColumn]
      var rows = 0
      var bytes = 0

      init(_ table: TakenTable) {
        columns = table.columns.map { column in
          switch column.kind {
          case .int, .flag: .ints([])
          case .double: .doubles([])
          case .text: .texts([])
          case .data: .datas([])
          }
        }
      }

      mutating func add(_ row: Row) {
        rows += 1
        for index in columns.indices {
          switch columns[index] {
          case .ints(var values):
            columns[index] = .ints([])
            values.append(row[index])
            columns[index] = .ints(values)
          case .doubles(var values):
            columns[index] = .doubles([])
            values.append(row[index])
            columns[index] = .doubles(values)
          case .texts(var values):
            columns[index] = .texts([])
            let data: Data? = row[index]
            values.append(data.map { String(decoding: $0, as: UTF8.self) })
            bytes += data?.count ?? 0
            columns[index] = .texts(values)
          case .datas(var values):
            columns[index] = .datas([])
            let data: Data? = row[index]
            values.append(data)
            bytes += data?.count ?? 0
            columns[index] = .datas(values)
          }
        }
      }
    }

    // MARK: Numbers

    func numbers() throws -> GivenNumbers {
      try database.writeWithoutTransaction { db in
        func given(_ sql: String) throws -> Int64 { try Int64.fetchOne(db, sql: sql) ?? 0 }
        return GivenNumbers(
          job: try given("SELECT max(id) FROM durable_job"),
          worker: try given("SELECT seq FROM sqlite_sequence WHERE name='durable_worker'"),
          batch: try given("SELECT seq FROM sqlite_sequence WHERE name='durable_batch'"),
          epoch: try given("SELECT epoch FROM durable_meta"), epochAt: try given("SELECT epoch_at FROM durable_meta"),
          epochJob: try given("SELECT epoch_job FROM durable_meta"))
      }
    }

    func sums() throws -> StoreSums {
      try database.writeWithoutTransaction { db in
        var sums = StoreSums()
        func count(_ what: String, _ sql: String) throws { sums.numbers[what] = try Int64.fetchOne(db, sql: sql) ?? 0 }
        for table in TakenTable.all { try count(table.name, "SELECT count(*) FROM (\(Self.query(table)))") }
        for row in try Row.fetchAll(db, sql: "SELECT state,count(*) FROM durable_job WHERE state<>11 GROUP BY state") {
          sums.numbers["state \(row[0] as Int64)"] = row[1]
        }
        for (what, sql) in StoreSums.bytes {
          let rest = sql.table == "job" ? " WHERE state<>11" : ""
          try count(what, "SELECT coalesce(sum(\(sql.expression)),0) FROM durable_\(sql.table)\(rest)")
        }
        return sums
      }
    }
  }
#endif
