#if Postgres
  import CPostgres
  import DurableJobs
  import Foundation

  /// What the server or libpq reported, before it is worded for people.
  struct PostgresFailure: Error {
    enum Kind: Equatable {
      /// The server's five-letter SQLSTATE, such as `40P01`.
      case sqlState(String)
      /// The connection is gone, or could not be made.
      case lost
      /// The server did not answer in time.
      case timedOut
    }

    let kind: Kind
    let message: String
    /// What gives the right that is missing, if that is known.
    var grant: String?
    /// What helps where the server answered, but not in time.
    var advice: String?

    /// The server could be written, and is not to be.
    static let fenced = PostgresFailure(.sqlState("25006"), "its administrator has made it read-only")

    init(_ kind: Kind, _ message: String) {
      self.kind = kind
      self.message = message.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    init(_ result: OpaquePointer, on connection: OpaquePointer) {
      func field(_ code: Int32) -> String? { PQresultErrorField(result, code).map { String(cString: $0) } }
      let state = field(67)  // PG_DIAG_SQLSTATE, 'C'
      let words = [field(77), field(68)].compactMap(\.self).joined(separator: ": ")  // 'M', 'D'
      if let state {
        self.init(.sqlState(Self.state(state, from: field(82))), words)  // PG_DIAG_SOURCE_FUNCTION, 'R'
      } else {
        let isLost = PQstatus(connection) != CONNECTION_OK
        self.init(isLost ? .lost : .sqlState("XX000"), String(cString: PQresultErrorMessage(result)))
      }
    }

    /// A standby server refuses a transaction that may write as a feature that it does not have, in any language: it is the
    /// check of a setting that says so.
    static func state(_ state: String, from function: String?) -> String {
      state == "0A000" && function == "call_bool_check_hook" ? "25006" : state
    }

    /// With the statement that gives the right which the server says is missing. It does not say which in other languages.
    func granting(
      to connection: OpaquePointer, in schema: String, creating isCreating: Bool, connecting isConnecting: Bool = false
    ) -> PostgresFailure {
      guard sqlState == "42501", let found = message.firstMatch(of: /permission denied for ([a-z]+) "?(\w+)/) else {
        return self
      }
      let right: String
      switch found.1 {
      case "database":
        let database = Schema.quoted(String(cString: PQdb(connection)))
        right = "\(isConnecting ? "CONNECT" : "CREATE") ON DATABASE \(database)"
      case "schema": right = "\(isCreating ? "USAGE, CREATE" : "USAGE") ON SCHEMA \(schema)"
      case "table": right = "ALL ON ALL TABLES IN SCHEMA \(schema)"
      case "sequence": right = "ALL ON ALL SEQUENCES IN SCHEMA \(schema)"
      case "function": right = "EXECUTE ON FUNCTION \(found.2)"
      default: return self
      }
      var copy = self
      copy.grant = "GRANT \(right) TO \(Schema.quoted(String(cString: PQuser(connection))))"
      return copy
    }

    /// The message without line breaks; libpq starts a continued line with a tab.
    var line: String {
      message.split(whereSeparator: \.isNewline).map { line in
        let words = line.trimmingCharacters(in: .whitespaces)
        return line.hasPrefix("\t") ? words.prefix(1).lowercased() + words.dropFirst() : words
      }.joined(separator: "; ")
    }

    var sqlState: String? { if case .sqlState(let state) = kind { state } else { nil } }

    /// The transaction conflicted with another, or found the server's table of locks full, and may succeed when it is run
    /// again.
    var isCollision: Bool { ["40P01", "40001", "55P03", "53200"].contains(sqlState) }

    /// It took too long, or waited too long for a lock: something smaller may do better.
    var isOfTime: Bool { kind == .timedOut || ["55P03", "57014"].contains(sqlState) }

    /// The connection is of no more use: it is gone, or leads to a server that is shutting down or read-only.
    var endsConnection: Bool {
      switch kind {
      case .lost, .timedOut: true
      case .sqlState(let state): state.hasPrefix("57P") || state.hasPrefix("08") || ["25006", "53300"].contains(state)
      }
    }

    /// Whether the server may be usable again soon.
    func mayPass(on server: ServerName) -> Bool {
      switch JobError(self, server: server.description).code {
      case .storeFailed: true
      // None of them leads until one is promoted.
      case .readOnly: server.hasSeveralHosts
      default: false
      }
    }

    /// Whether there is a server that can't be used yet, or no more: libpq mostly has only words for that.
    var isFromServer: Bool {
      if let sqlState { return sqlState.hasPrefix("57P") || ["53300", "25006"].contains(sqlState) }
      let words = [
        "not yet accepting connections", "terminating connection", "too many clients", "connection slots",
        "closed the connection", "reset by peer", "read-only", "hot standby",
      ]
      return (Self.betweenLives + words).contains(where: message.contains)
    }

    fileprivate static let betweenLives = ["starting up", "shutting down", "recovery mode"]

    /// Whether a server refuses a connection, and says why in no words that are known here. What libpq says itself has no
    /// severity, after which there are two spaces.
    func isInUnknownWords(of server: ServerName) -> Bool {
      kind == .lost && message.contains(":  ") && mayPass(on: server) && !isFromServer
    }

    /// `verbose`: as libpq shows the same with codes. Of several hosts, one that may be usable soon is enough.
    func withCode(in verbose: String) -> PostgresFailure {
      let codes = verbose.matches(of: #/:  ([0-9A-Z]{5}): /#).map { String($0.1) }
      guard let code = codes.first(where: { $0.hasPrefix("57P") }) ?? codes.last else { return self }
      return PostgresFailure(.sqlState(code), message)
    }
  }

  extension JobError {
    /// `error` as callers of a store on `server` get it.
    init(_ error: any Error, server: String) {
      switch error {
      case let error as JobError: self = error
      case let error as PostgresFailure: self.init(failure: error, server: server)
      case is UnknownOutcome:
        self.init(
          .storeFailed,
          "the store \(server) did not answer a commit, and nobody could tell since whether that came, and came to the standbys "
            + "that must have it: look before you repeat it", cause: error)
      default: self.init(.storeFailed, "the store \(server) failed: \(error.briefly)", cause: error)
      }
    }

    private init(failure: PostgresFailure, server: String) {
      let (code, text): (Code, String) =
        switch failure.kind {
        case .timedOut:
          (
            .storeFailed,
            "the store \(server) did not answer in time: \(failure.line). "
              + (failure.advice ?? "Look whether the server is up and can be reached, and try again")
          )
        case .lost: Self.unreachable(failure.line, server)
        case .sqlState("42501"):
          (
            .unusableFile,
            "the store \(server) lacks a right: \(failure.line). \(failure.grant.map { "Have its owner run: \($0)" } ?? "Grant it")"
          )
        case .sqlState(let state): Self.refused(state, failure.line, server)
        }
      self.init(code, text, cause: failure)
    }

    /// libpq has no code for why it could not connect.
    private static func unreachable(_ words: String, _ server: String) -> (Code, String) {
      if words.contains("authentication failed") || words.contains("no password supplied") {
        return (.unusableFile, "the store \(server) refused the log-in: \(words). Check the user and the password")
      }
      if words.contains("does not exist"), words.contains("database") {
        return (.unusableFile, "the store \(server) is missing: \(words). Create it with `createdb`")
      }
      if words.contains("does not exist"), words.contains("role") {
        return (.unusableFile, "the store \(server) refused the log-in: \(words). Create it with `createuser`")
      }
      if words.contains("could not translate host name") {
        return (.unusableFile, "the store \(server) is on a host that nobody knows: \(words)")
      }
      // Waiting improves neither a certificate nor what a server allows.
      if words.contains("certificate") || words.contains("SSL was required") {
        return (
          .unusableFile,
          "the store \(server) can't be reached as its TLS parameters ask: \(words). Check the host's name, sslmode and sslrootcert"
        )
      }
      if words.contains("pg_hba.conf") {
        return (
          .unusableFile,
          "the store \(server) refused the log-in: \(words). Check the user, the database, and sslmode; or allow it in pg_hba.conf"
        )
      }
      if words.contains("read-only") || words.contains("hot standby") {
        return (.readOnly, "the store \(server) can't be written: \(words). Name the server that leads")
      }
      if PostgresFailure.betweenLives.contains(where: words.contains) {
        return (.storeFailed, "the store \(server) is being stopped or started: \(words). Try again")
      }
      return (.storeFailed, "the store \(server) can't be reached: \(words)")
    }

    private static func refused(_ state: String, _ words: String, _ server: String) -> (Code, String) {
      switch state {
      case "40P01", "40001", "55P03":
        (.locked, "the store \(server) is so busy that others always came first (\(words)). Try again")
      case "53200":
        (
          .storeFailed,
          "the store \(server) has no room for more locks, or no memory: \(words). Raise max_locks_per_transaction, or do less at once"
        )
      case "53100": (.diskFull, "there is no room for the store \(server): nothing was stored (\(words))")
      case "53300":
        (
          .storeFailed,
          "the store \(server) has no connection free: \(words). Ask for fewer, or raise max_connections"
        )
      case "25006":
        (.readOnly, "the store \(server) can't be written: \(words). Name the server that leads")
      case "3D000": (.unusableFile, "the store \(server) is missing: \(words). Create it with `createdb`")
      case "28P01", "28000":
        (.unusableFile, "the store \(server) refused the log-in: \(words). Check the user and the password")
      case "42P01", "42703", "3F000":
        (.notAStore, "the store \(server) is not as it was made: \(words). Restore it, or choose another schema")
      case "42P05", "26000":
        (
          .unusableFile,
          "the store \(server) is behind a transaction pooler (\(words)). Say so: add durable_pooled=yes to the parameters of "
            + "what is given to `durable --store`, or set `isPooled` in the store's configuration"
        )
      case "57P01", "57P02", "57P03":
        (.storeFailed, "the store \(server) is being stopped or started: \(words). Try again")
      case "57014": (.storeFailed, "the store \(server) did not answer in time: \(words). Try again")
      default: (.storeFailed, "the store \(server) failed: \(words) (\(state))")
      }
    }
  }
#endif
