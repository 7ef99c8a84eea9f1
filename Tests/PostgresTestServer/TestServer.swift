#if Postgres
  import CPostgres
  import DurableJobs
  import DurableJobsPostgres
  import Foundation
  import TestProcesses

  /// A PostgreSQL server of the tests' own, on a socket in a folder that goes with it.
  ///
  /// A shell stands between: it starts and stops the server as it is told, and when the test process ends, however that ends,
  /// it ends the server and deletes the folder. Servers refuse to run as root, so the shell is another user then.
  package final class TestServer: Sendable {
    /// One for all tests that let it live.
    package static let shared = Result { try TestServer(of: "", following: nil, copying: nil, isApart: false) }

    package let folder: String
    private let commands: FileHandle
    private let answers: Lock<FileHandle>
    /// It ends when its input does.
    private let shell: ChildProcess
    private let sessions = IdleSessions()
    package var pid: pid_t { shell.pid }

    private static let script = """
      trap '' INT TERM HUP
      exec 2>/dev/null
      cd /
      parent=/tmp
      if [ -w /dev/shm ]; then parent=/dev/shm; fi
      folder=$(mktemp -d $parent/durable-pg.XXXXXX) || exit 1
      pid=
      # One that was killed leaves processes which hold its memory for a moment more: then it is tried again.
      start() {
        tries=0
        until [ $tries -gt 0 ] && "$1/pg_isready" -q -h "$folder" -d postgres; do
          if [ -z "$pid" ] || ! kill -0 $pid 2>/dev/null; then
            tries=$((tries + 1))
            if [ $tries -gt 100 ]; then echo "failed: $(tail -n 3 "$folder/log" | tr '\\n' ' ')"; return; fi
            "$1/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c max_connections=1000 \\
              -c log_min_messages=log -c deadlock_timeout=100ms $2 >>"$folder/log" 2>&1 &
            pid=$!
          fi
          sleep 0.05
        done
        echo "ready $folder"
      }
      # Others are copies of what the first one was before its first start.
      make() {
        if [ -n "$3" ]; then
          "$1/pg_basebackup" -h "$3" -U postgres -D "$folder/data" -R -X stream -c fast
        elif [ -n "$4" ]; then
          cp -Rp "$4/new" "$folder/data"
        else
          "$1/initdb" -D "$folder/new" -U postgres -A trust -E UTF8 --no-locale -N &&
            sed -i -e '1i local all locked,sealed scram-sha-256' -e '1i host all all 10.231.0.0/16 trust' \\
              "$folder/new/pg_hba.conf" && cp -Rp "$folder/new" "$folder/data"
        fi >"$folder/log" 2>&1
      }
      if ! make "$1" "$2" "$3" "$4"; then
        echo "failed: $(tail -n 3 "$folder/log" | tr '\\n' ' ')"
      else
        while read -r command; do
          case $command in
            start) start "$1" "$2" ;;
            kill) kill -9 $pid; wait $pid 2>/dev/null; echo gone ;;
            follow) touch "$folder/data/standby.signal"; echo gone ;;
            lead) rm -f "$folder/data/standby.signal"; echo gone ;;
            promote) "$1/pg_ctl" promote -w -D "$folder/data" >>"$folder/log" 2>&1; echo gone ;;
            stop) kill -INT $pid; wait $pid 2>/dev/null; echo gone ;;
          esac
        done
        if [ -n "$pid" ]; then kill -QUIT $pid 2>/dev/null; wait $pid 2>/dev/null; fi
      fi
      rm -rf "$folder"
      """

    package struct Missing: Error, CustomStringConvertible {
      package let description: String
    }

    /// `options`: of the server's own. `other`: the one that it follows, as a copy of it. `isApart`: in a network of its own, see
    /// ``TestNetwork``.
    package convenience init(
      options: String = "", following other: TestServer? = nil, isApart: Bool = false
    ) throws {
      try self.init(of: options, following: other, copying: Self.shared.get(), isApart: isApart)
    }

    private init(of options: String, following other: TestServer?, copying first: TestServer?, isApart: Bool) throws {
      let binaries = try Self.findBinaries()
      let (input, output) = (Pipe(), Pipe())
      let command = ["sh", "-c", Self.script, "sh", binaries, options, other?.folder ?? "", first?.folder ?? ""]
      let asOther = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
      shell = try ChildProcess(
        "/usr/bin/env", (isApart ? ["unshare", "-n"] : []) + (geteuid() == 0 ? asOther + command : command),
        input: input.fileHandleForReading.fileDescriptor, output: output.fileHandleForWriting.fileDescriptor)
      try input.fileHandleForReading.close()
      try output.fileHandleForWriting.close()
      commands = input.fileHandleForWriting
      answers = Lock(output.fileHandleForReading)
      folder = try Self.tell("start", commands, answers)
    }

    deinit {
      sessions.end()
      try? commands.close()
      shell.wait()
    }

    package func start() throws { _ = try Self.tell("start", commands, answers) }
    /// As a power cut would: the server has no time for anything.
    package func kill() throws { _ = try Self.tell("kill", commands, answers) }
    /// Whether it follows another server from its next start on, and can't be written.
    package func follow(_ follows: Bool) throws { _ = try Self.tell(follows ? "follow" : "lead", commands, answers) }
    /// Has it lead, which followed another one.
    package func promote() throws { _ = try Self.tell("promote", commands, answers) }
    package func stop() throws { _ = try Self.tell("stop", commands, answers) }

    private static func tell(_ command: String, _ commands: FileHandle, _ answers: Lock<FileHandle>) throws -> String {
      try answers.withLock { answers in
        try commands.write(contentsOf: Data("\(command)\n".utf8))
        var line: [UInt8] = []
        while let byte = try answers.read(upToCount: 1)?.first, byte != 10 { line.append(byte) }
        let text = String(decoding: line, as: UTF8.self)
        if text == "gone" { return "" }
        guard text.hasPrefix("ready ") else { throw Missing(description: "the server did not begin: \(text)") }
        return String(text.dropFirst(6))
      }
    }

    private static func findBinaries() throws -> String {
      let root = "/usr/lib/postgresql"
      let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap(Int.init).sorted()
      let folders =
        versions.reversed().map { "\(root)/\($0)/bin" } + ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"]
      guard let found = folders.first(where: { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }) else {
        throw Missing(description: "PostgreSQL's server is missing (initdb, postgres): run `make setup`")
      }
      return found
    }

    // MARK: Stores

    package func string(user: String = "postgres", database: String = "postgres", more: String = "") -> String {
      // Hundreds of tests connect at once.
      "host=\(folder) user=\(user) dbname=\(database) connect_timeout=60 \(more)"
    }

    package static func schema() -> String { "t_" + UUID().uuidString.lowercased().replacing("-", with: "") }

    package func store(
      _ schema: String = TestServer.schema(), _ more: String = "", clock: (any JobClock)? = nil,
      _ change: (inout PostgresStore.Configuration) -> Void = { _ in }
    ) async throws -> PostgresStore {
      var configuration = PostgresStore.Configuration()
      configuration.schema = schema
      configuration.connections = 2
      configuration.clock = clock
      change(&configuration)
      return try await PostgresStore(string(more: more), configuration: configuration)
    }

    /// Makes a database, and gives its name.
    package func database() throws -> String {
      let name = "d" + UUID().uuidString.lowercased().replacing("-", with: "")
      try psql("CREATE DATABASE \(name)")
      return name
    }

    /// Runs `body` while a transaction stands open that has done `sql`.
    package func holding<R>(_ sql: String, database: String, _ body: () async throws -> R) async throws -> R {
      let connection = PQconnectdb(string(database: database))
      defer { PQfinish(connection) }
      let result = PQexec(connection, "BEGIN; \(sql)")
      defer { PQclear(result) }
      guard [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(PQresultStatus(result)) else {
        throw Missing(description: String(cString: PQerrorMessage(connection)))
      }
      // What it had locked is free once this returns, which is not so where the server finds out by itself.
      defer { PQclear(PQexec(connection, "ROLLBACK")) }
      return try await body()
    }

    /// How statements change jobs.
    package enum Change: String {
      case update = "NEW"
      case delete = "OLD"
    }

    /// Has each statement that changes more than `most` jobs so wait for a lock of `table`.
    package func delay(
      _ change: Change, ofMoreThan most: Int, byLockOf table: String, schema: String, database: String = "postgres"
    ) throws {
      try psql(
        """
        CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF (SELECT count(*) FROM changed)>\(most) THEN LOCK TABLE "\(schema)".\(table); END IF;
          RETURN NULL;
        END $$;
        CREATE TRIGGER slow AFTER \(change) ON job REFERENCING \(change.rawValue) TABLE AS changed FOR EACH STATEMENT
          EXECUTE FUNCTION slow();
        """, schema: schema, database: database)
    }

    /// Runs SQL as another program might, and gives the rows as text.
    @discardableResult
    package func psql(_ sql: String, schema: String = "public", database: String = "postgres") throws -> [[String]] {
      let connection = sessions.take(database) ?? PQconnectdb(string(database: database))
      defer { sessions.give(connection, database) }
      PQclear(PQexec(connection, "SET search_path=\"\(schema)\""))
      let result = PQexec(connection, sql)
      defer { PQclear(result) }
      guard [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(PQresultStatus(result)), let result else {
        throw Missing(description: String(cString: PQerrorMessage(connection)))
      }
      return (0..<PQntuples(result)).map { row in
        (0..<PQnfields(result)).map { String(cString: PQgetvalue(result, row, $0)) }
      }
    }
  }
#endif
