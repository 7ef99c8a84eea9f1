#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import DurableJobsPostgres
  import Foundation

  struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "migrate", abstract: "Make the tables of a store on a server, or bring them up to this version.",
      discussion: """
        Every command that stores something does this by itself, if its user may; where only another user may, that one runs \
        this. Any number of processes may do it at once. With --print the statements are printed, for who likes to run them by \
        hand: durable migrate --print | psql
        """)

    @Flag(help: "Print the SQL, and do nothing.") var print = false
    @Option(help: ArgumentHelp("Print what a store of this version lacks.", valueName: "version")) var from: Int64?
    @OptionGroup var options: StoreOptions

    func validate() throws {
      if print, options.json { throw ValidationError("--print prints SQL as it is; leave out --json") }
      if from != nil, !print { throw ValidationError("--from goes with --print; what a store lacks is found out") }
    }

    #if Postgres
      func run() async throws {
        if print {
          guard (0...PostgresStore.version).contains(from ?? 0) else {
            throw ValidationError("--from is \(from ?? 0); this program knows versions up to \(PostgresStore.version)")
          }
          var schema = PostgresStore.Configuration().schema
          if case .server(let place) = try options.place { schema = place.schema ?? schema }
          let script =
            from.map { PostgresStore.script(schema: schema, from: $0) } ?? PostgresStore.script(schema: schema)
          return Screen.out.write(Data("BEGIN;\n\(script)COMMIT;\n".utf8))
        }
        guard case .server(let place) = try options.place else {
          throw ValidationError(
            "a store in a file is brought up whenever it is opened; this is for one on a server: --store postgres://…")
        }
        let store = try await OpenStore.open(place, isMade: true)
        let (before, now) = (store.versionBefore, PostgresStore.version)
        await store.close()
        if options.json { return Screen.out.json(MigrationRecord(version: now, before: before)) }
        switch before {
        case nil: Screen.out.line("made, version \(now)")
        case now: Screen.out.line("version \(now): nothing to do")
        case let old?: Screen.out.line("version \(old) became \(now)")
        }
      }
    #else
      func run() async throws { throw StorePlace.notBuilt }
    #endif
  }

  private struct MigrationRecord: Encodable {
    var version: Int64
    /// Null where there was no store.
    @OrNull var before: Int64?
  }
#endif
