#if Postgres
  import DurableJobs
  import Foundation

  /// Looks whether there is a store and whether it can be one, and makes it if there is none.
  struct Opening {
    let connection: Connection
    let schema: String
    let seed: Int64
    let configuration: PostgresStore.Configuration

    static let serverSQL = """
      SELECT current_setting('server_encoding'),current_setting('fsync')::boolean,pg_is_in_recovery(),
        floor(extract(epoch FROM clock_timestamp())*1000)::bigint
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
    static let versionSQL = """
      SELECT version,coalesce((SELECT created_at FROM §spec WHERE id>m.epoch_job ORDER BY id DESC LIMIT 1),m.epoch_at),
        m.epoch
      FROM §meta m WHERE id=1
      """

    /// What the store was last seen at.
    func open(_ clock: ServerClock?) throws -> (latest: Int64, epoch: Int64) {
      try checkServer(clock)
      if try !isThere() {
        connection.send("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
        connection.send("SELECT pg_advisory_xact_lock($1)", [.int(seed)])
        try connection.sync()
        do {
          // Somebody else may have made it meanwhile.
          if try !isThere() { try make() }
          connection.send("COMMIT")
          try connection.sync()
        } catch {
          connection.send("ROLLBACK")
          try? connection.sync()
          throw error
        }
      }
      return try read()
    }

    static func check(version: Int) throws {
      guard version < Schema.oldestServer else { return }
      throw JobError(
        .unusableFile,
        "the server is PostgreSQL \(version / 10_000); a store needs \(Schema.oldestServer / 10_000) or newer")
    }

    private func checkServer(_ clock: ServerClock?) throws {
      try Self.check(version: connection.serverVersion)
      var (encoding, isDurable, isFollowing) = ("", true, false)
      let sent = SystemClock().uptime
      connection.send(Self.serverSQL) { rows in
        (encoding, isDurable, isFollowing) = (rows.text(0, 0) ?? "", rows.bool(0, 1), rows.bool(0, 2))
        _ = clock?.heard(rows.int(0, 3), since: sent)
      }
      try connection.sync()
      guard encoding == "UTF8" else {
        throw JobError(
          .unusableFile,
          "the database has the encoding \(encoding), and a store needs UTF8: `createdb -E UTF8 -T template0`")
      }
      guard !isFollowing else {
        throw JobError(.readOnly, "the server follows another one and can't be written. Name the server that leads")
      }
      guard isDurable || configuration.acceptsWeakDurability else {
        throw JobError(
          .weakDurability,
          "the server runs with fsync=off: a commit would not survive a power cut. Turn it on, or say that this is accepted"
        )
      }
    }

    private func isThere() throws -> Bool {
      var (hasSchema, hasMeta, known, all) = (false, false, 0, 0)
      connection.send(Self.findSQL, [.text(schema)]) { rows in
        (hasSchema, hasMeta, known, all) = (rows.bool(0, 0), rows.bool(0, 1), rows.count(0, 2), rows.count(0, 3))
      }
      try connection.sync()
      guard hasSchema, all > 0 else { return false }
      guard hasMeta, known == 6 else {
        throw JobError(
          .notAStore,
          "the schema \(schema) is no store: it has tables of something else. It was left as it is; choose another schema"
        )
      }
      return true
    }

    private func make() throws {
      guard configuration.makesTables else {
        throw JobError(
          .notAStore,
          "there is no store in the schema \(schema), and none is to be made. `PostgresStore.script` has the statements"
        )
      }
      for statement in Schema.script(schema) { connection.send(statement, isFixed: false) }
      try connection.sync()
    }

    private func read() throws -> (latest: Int64, epoch: Int64) {
      var found: (version: Int64, latest: Int64, epoch: Int64)?
      connection.send(Self.versionSQL, isFixed: false) { rows in
        if rows.count == 1 { found = (rows.int(0, 0), rows.int(0, 1), rows.int(0, 2)) }
      }
      try connection.sync()
      guard let found else { throw JobError(.notAStore, "the schema \(schema) is no store: its table 'meta' is empty") }
      guard found.version <= Schema.version else {
        throw JobError(
          .newerVersion,
          "the store in the schema \(schema) is of version \(found.version), and this library knows \(Schema.version). It was "
            + "left as it is; update the library")
      }
      return (found.latest, found.epoch)
    }
  }
#endif
