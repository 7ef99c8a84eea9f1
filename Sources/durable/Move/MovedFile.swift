#if Shell && Postgres
  import DurableJobs
  import DurableJobsPostgres
  import DurableJobsSQLite
  import Foundation
  import GRDB

  /// A store in a file whose rows are read to be written elsewhere. Nobody writes to it meanwhile, or works on it then.
  final class MovedFile: Sendable {
    private let database: DatabaseQueue
    private let path: String
    private let hold = Lock(Hold.none)

    private enum Hold {
      case none, here
      /// By an earlier move that did not come to its end: the server that it went to may have all of it.
      case before
    }

    /// Rows are handed over so many at once, or after so many bytes.
    private static let mostRows = 1000
    private static let mostBytes = 8 << 20

    /// Waits for who writes just now.
    init(path: String) throws {
      self.path = path
      var configuration = Configuration()
      configuration.busyMode = .timeout(10)
      configuration.allowsUnsafeTransactions = true
      database = try Self.translating(path) { try DatabaseQueue(path: path, configuration: configuration) }
      try use { db in
        try db.execute(sql: "PRAGMA synchronous = FULL")
        try db.beginTransaction(.immediate)
      }
    }

    /// What the server says is no matter of the file's.
    private static func translating<R>(_ path: String, _ body: () throws -> R) throws -> R {
      do { return try body() } catch let error as DatabaseError {
        let told = JobError(error, path: path)
        throw JobError(told.code, "\(told.message). \(MoveCommand.undone)", cause: told.cause)
      }
    }

    private func use<R>(_ body: (Database) throws -> R) throws -> R {
      try Self.translating(path) { try database.writeWithoutTransaction(body) }
    }

    // MARK: Pauses

    /// What a move has paused has this number, so that who repeats it knows the others.
    private static let held = 2

    private static func has(_ paused: Int, _ db: Database) throws -> Bool {
      try Bool.fetchOne(db, sql: "SELECT EXISTS(SELECT 1 FROM durable_queue WHERE paused=\(paused))") ?? false
    }

    /// Commits the change. Processes keep in memory what is paused, until `changes` differs.
    private static func set(_ paused: Int, of before: Int, _ db: Database) throws {
      try db.execute(sql: "UPDATE durable_queue SET paused=\(paused) WHERE paused=\(before)")
      try db.execute(sql: "UPDATE durable_meta SET changes=(changes&0xffffffff)+1 WHERE id=1")
      try db.commit()
    }

    /// Pauses its queues, and has that on the disk: whatever becomes of this process, nobody goes on here with what is on
    /// the server. The file is locked again after that, but others may have written to it in between.
    func pause() throws {
      try use { db in
        if try Self.has(Self.held, db) { hold.withLock { $0 = .before } }
        while try Self.has(0, db) {
          try Self.set(Self.held, of: 0, db)
          hold.withLock { if $0 == .none { $0 = .here } }
          try db.beginTransaction(.immediate)
        }
      }
    }

    /// Ends that, where nothing is on the server. False where an earlier move has left it so: nobody knows here what became
    /// of that, and perhaps it went to another server.
    func unpause() throws -> Bool {
      let hold = hold.withLock(\.self)
      if hold == .here {
        try use { db in
          // One in which SQLite met damage takes no change any more.
          if db.isInsideTransaction { try db.rollback() }
          try db.beginTransaction(.immediate)
          try Self.set(0, of: Self.held, db)
        }
      }
      return hold != .before
    }

    /// Leaves its queues paused for good.
    func close() throws {
      try use { try Self.set(1, of: Self.held, $0) }
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
          case ("queue", "paused"): "paused=1"
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
      try use { db in
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
      try use { db in
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
      try use { db in
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
