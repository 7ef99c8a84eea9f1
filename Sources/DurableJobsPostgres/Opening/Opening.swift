#if Postgres
  import DurableJobs
  import Foundation

  /// Checks whether there is a store and whether it is usable, and creates one if there is none.
  struct Opening {
    let connection: Connection
    let schema: String
    let seed: Int64
    let configuration: PostgresStore.Configuration

    static let serverSQL = """
      SELECT current_setting('server_encoding'),current_setting('fsync')::boolean,pg_is_in_recovery(),
        floor(extract(epoch FROM clock_timestamp())*1000)::bigint,
        current_setting('default_transaction_read_only')::boolean
      """
    static let findSQL = """
      SELECT EXISTS(SELECT 1 FROM pg_namespace WHERE nspname=$1),
        EXISTS(SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid=c.relnamespace WHERE n.nspname=$1 AND c.relname='meta'),
        (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid=c.relnamespace
          WHERE n.nspname=$1 AND c.relname IN('meta','job','spec','route','tally','worker')
            AND (c.relname<>'meta' OR EXISTS(
              SELECT 1 FROM pg_attribute a WHERE a.attrelid=c.oid AND a.attname='epoch_job'))),
        (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid=c.relnamespace WHERE n.nspname=$1)
      """
    static let versionSQL = "SELECT version FROM §meta WHERE id=1"
    static let tableSQL = "'§meta'::regclass::oid::bigint"
    static let stateSQL = """
      SELECT greatest(
          coalesce((SELECT created_at FROM §spec WHERE id>m.epoch_job ORDER BY id DESC LIMIT 1),m.epoch_at),
          (SELECT max(j.entered_at) FROM §route r CROSS JOIN LATERAL(
            (SELECT entered_at,run_at,links FROM §job WHERE route=r.id AND state=3 ORDER BY rank LIMIT 50)
            UNION ALL
            (SELECT entered_at,run_at,links FROM §job WHERE route=r.id AND state=3 ORDER BY rank DESC LIMIT 50)) j
          WHERE j.run_at-j.entered_at BETWEEN 0 AND \(SeenTime.mostApart) AND j.links&\(Links.dated.rawValue)=0)),
        m.epoch,m.identity::text,\(tableSQL)
      FROM §meta m WHERE id=1
      """

    struct Found {
      /// The version of the store that was found; nil if there was none.
      var before: Int64?
      /// The version that the store was last seen at.
      var latest: Int64
      var epoch: Int64
      var identity: String
      var table: Int64
      /// Nil if this machine keeps nothing beside stores.
      var home: StoreHome?
    }

    func open(_ clock: ServerClock?) throws -> Found {
      try checkServer(clock)
      var before = try version()
      if before ?? 0 < Schema.version { before = try migrate(from: before) }
      var found = try read()
      found.before = before
      if configuration.folder != nil { found.home = try home() }
      return found
    }

    /// Returns the version of the store that it found, which may be another process's work since `seen`.
    private func migrate(from seen: Int64?) throws -> Int64? {
      guard configuration.makesTables, seen != nil || configuration.makesStore else { throw refusal(seen) }
      connection.isCreating = true
      defer { connection.isCreating = false }
      connection.send("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
      connection.send("SELECT pg_advisory_xact_lock($1)", [.int(seed)])
      try connection.sync()
      do {
        // Another process may have done it meanwhile.
        let before = try version()
        if before == nil, try !hasSchema() { connection.send(Schema.creation(of: schema), isFixed: false) }
        try change(Schema.statements(schema, from: before ?? 0))
        connection.send("COMMIT")
        try connection.sync()
        return before
      } catch {
        connection.send("ROLLBACK")
        try? connection.sync()
        guard let seen, (error as? PostgresFailure)?.sqlState == "42501" else { throw error }
        throw JobError(
          .unusableFile,
          "the store in the schema \(schema) is of version \(seen), and only who owns its tables can make it \(Schema.version): "
            + "have that user run `durable migrate`", cause: error)
      }
    }

    /// A waiting table lock blocks all later ones, and somebody may read from the table for hours: so the lock is tried
    /// briefly, and again after a pause in which the others go on.
    private func change(_ statements: [String]) throws {
      while true {
        connection.send("SAVEPOINT durable_jobs", isFixed: false)
        connection.send("SET LOCAL lock_timeout='200ms'", isFixed: false)
        do {
          for statement in statements { connection.send(statement, isFixed: false) }
          return try connection.sync()
        } catch let failure as PostgresFailure where failure.sqlState == "55P03" {
          connection.send("ROLLBACK TO SAVEPOINT durable_jobs", isFixed: false)
          try connection.sync()
          guard connection.deadline > SystemClock().uptime else { throw failure }
          Thread.sleep(forTimeInterval: .random(in: 0.2...0.6))
        }
      }
    }

    private func refusal(_ seen: Int64?) -> JobError {
      guard let seen else {
        return JobError(
          .notAStore,
          "there is no store in the schema \(schema), and none is to be made. `PostgresStore.script` has the statements",
          cause: NoStore())
      }
      return JobError(
        .unusableFile,
        "the store in the schema \(schema) is of version \(seen), and this library needs \(Schema.version): run `durable migrate`"
      )
    }

    static func check(version: Int) throws {
      guard version < Schema.oldestServer else { return }
      throw JobError(
        .unusableFile,
        "the server is PostgreSQL \(version / 10_000); a store needs \(Schema.oldestServer / 10_000) or newer")
    }

    private func checkServer(_ clock: ServerClock?) throws {
      try Self.check(version: connection.serverVersion)
      var (encoding, isDurable, isFollowing, isReadOnly) = ("", true, false, false)
      // What came late says little of the time. The first statement of a session takes longer than the next.
      for attempt in 0..<3 where attempt == 0 || clock?.estimate?.isSure == false {
        let sent = SystemClock().uptime
        connection.send(Self.serverSQL) { rows in
          (encoding, isDurable, isFollowing) = (rows.text(0, 0) ?? "", rows.bool(0, 1), rows.bool(0, 2))
          isReadOnly = rows.bool(0, 4)
          _ = clock?.heard(rows.int(0, 3), since: sent)
        }
        try connection.sync()
      }
      guard encoding == "UTF8" else {
        throw JobError(
          .unusableFile,
          "the database has the encoding \(encoding), and a store needs UTF8: `createdb -E UTF8 -T template0`")
      }
      guard !isFollowing else { throw PostgresFailure(.sqlState("25006"), "it follows another server") }
      guard !isReadOnly else { throw PostgresFailure.fenced }
      guard isDurable || configuration.acceptsWeakDurability else {
        throw JobError(
          .weakDurability,
          "the server runs with fsync=off: a commit would not survive a power cut. Turn it on, or say that this is accepted"
        )
      }
    }

    private func home() throws -> StoreHome {
      var home = StoreHome(database: 0)
      var isReadable = false
      connection.send(StoreHome.databasesSQL, isFixed: false) { rows in
        home.database = rows.int(0, 0)
        home.databases = Set((rows.text(0, 1) ?? "").split(separator: " ").compactMap { Int64($0) })
        isReadable = rows.bool(0, 2)
      }
      try connection.sync()
      guard isReadable else { return home }
      connection.send(StoreHome.systemSQL, isFixed: false) { home.system = $0.text(0, 0) }
      // Not every service that hosts servers tells.
      do { try connection.sync() } catch let failure as PostgresFailure where !failure.endsConnection {}
      return home
    }

    private func hasSchema() throws -> Bool {
      var has = false
      connection.send("SELECT EXISTS(SELECT 1 FROM pg_namespace WHERE nspname=$1)", [.text(schema)]) {
        has = $0.bool(0, 0)
      }
      try connection.sync()
      return has
    }

    /// Nil if there is no store.
    private func version() throws -> Int64? {
      var (hasSchema, hasMeta, known, all) = (false, false, 0, 0)
      connection.send(Self.findSQL, [.text(schema)]) { rows in
        (hasSchema, hasMeta, known, all) = (rows.bool(0, 0), rows.bool(0, 1), rows.count(0, 2), rows.count(0, 3))
      }
      try connection.sync()
      guard hasSchema, all > 0 else { return nil }
      guard hasMeta, known == 6 else {
        throw JobError(
          .notAStore,
          "the schema \(schema) is no store: it has tables of something else. It was left as it is; choose another schema"
        )
      }
      var version: Int64?
      connection.send(Self.versionSQL, isFixed: false) { rows in if rows.count == 1 { version = rows.int(0, 0) } }
      try connection.sync()
      guard let version else {
        throw JobError(.notAStore, "the schema \(schema) is no store: its table 'meta' is empty")
      }
      guard version > 0 else {
        throw JobError(
          .notAStore,
          "the store in the schema \(schema) is damaged: its version is \(version). Restore it, or choose another")
      }
      guard version <= Schema.version else {
        throw JobError(
          .newerVersion,
          "the store in the schema \(schema) is of version \(version), and this library knows \(Schema.version). It was "
            + "left as it is; update the library")
      }
      return version
    }

    private func read() throws -> Found {
      var found: Found?
      connection.send(Self.stateSQL, isFixed: false) { rows in
        found = Found(
          latest: rows.int(0, 0), epoch: rows.int(0, 1), identity: rows.text(0, 2) ?? "", table: rows.int(0, 3))
      }
      try connection.sync()
      guard let found else { throw JobError(.notAStore, "the schema \(schema) is no store") }
      return found
    }
  }

  /// There is no store, and none was to be created.
  package struct NoStore: Error {}
#endif
