#if Postgres
  import CPostgres
  import DurableJobs
  import Foundation

  /// Where a store is: a libpq connection string, in either of its forms, also with several hosts. Its description has
  /// no password.
  struct ServerName: Sendable, CustomStringConvertible {
    private let string: String
    let description: String
    /// Whether there are several hosts: another may lead soon, if none does now.
    var hasSeveralHosts: Bool { hosts.withLock { $0 > 1 } }
    /// As the string has it, until libpq has told what it makes of that: they may also stand in the environment, or with a
    /// service.
    private let hosts: Lock<Int>
    /// How many seconds each may take. As libpq has it, none or less is without end; nil if that is no number.
    private let patience: Int?
    /// What libpq uses if the string says nothing: a host that is silent for long is given up.
    private static let defaults = [
      "connect_timeout": "5", "application_name": "durable_jobs", "tcp_user_timeout": "30000", "keepalives_idle": "30",
    ]

    /// Throws `JobError.Code.invalidArgument` if libpq can't read it, or if a part of it that is shown may have a password.
    init(_ string: String) throws {
      self.string = string
      guard let values = try Self.checkedValues(of: string) else {
        throw JobError(
          .invalidArgument,
          "the connection string can't be read. It is postgres://user@host:5432/database, or host=… user=… dbname=…")
      }
      let user = values["user"].map { "\($0)@" } ?? ""
      let port = values["port"].map { ":\($0)" } ?? ""
      guard port.allSatisfy({ $0.isWholeNumber || ":, ".contains($0) }) else { throw Self.unescaped }
      let host = values["host"] ?? values["hostaddr"] ?? ""
      let database = values["dbname"] ?? ""
      hosts = Lock(Self.count(host))
      patience = Int(values["connect_timeout"] ?? Self.defaults["connect_timeout"] ?? "")
      // The folder of a socket can't be written in the place of a host.
      description =
        host.hasPrefix("/")
        ? "postgres://\(user)\(port)/\(database)?host=\(host)" : "postgres://\(user)\(host)\(port)/\(database)"
    }

    private static let unescaped = JobError(
      .invalidArgument,
      "the connection string can't be told apart: in a user's name or a password write / as %2F, @ as %40, ? as %3F and : as %3A"
    )

    /// What the string says, which has no password in the place of something that is shown, here or by the server. Nil if libpq
    /// can't read it. What it throws quotes nothing.
    @discardableResult
    static func checkedValues(of string: String) throws -> [String: String]? {
      try checkUser(of: string)
      try Libpq.require()
      guard let options = PQconninfoParse(string, nil) else { return nil }
      defer { PQconninfoFree(options) }
      let values = Self.values(options)
      // What is not given may stand in the environment.
      let usual = PQconndefaults()
      defer { PQconninfoFree(usual) }
      let all = (usual.map(Self.values) ?? [:]).merging(values) { $1 }
      for name in ["dbname", "host", "hostaddr", "user", "service"] {
        guard let value = all[name], value.contains("://") || name == "dbname" && value.contains("=") else { continue }
        throw JobError(
          .invalidArgument,
          "\(name), as given or in the environment, is a connection string itself: give that one alone, or a mere name")
      }
      return values
    }

    /// libpq has the password end at the first `@` and all of that at the first `/`. What is left of a password is part of
    /// another thing then, which is shown.
    private static func checkUser(of string: String) throws {
      guard let scheme = string.prefixMatch(of: /postgres(ql)?:\/\//) else { return }
      let rest = string[scheme.range.upperBound...]
      let user = rest.prefix { $0 != "@" && $0 != "/" }
      // A password may have a '?' in it.
      let isUser = user.endIndex < rest.endIndex && rest[user.endIndex] == "@"
      let place = isUser ? rest[user.endIndex...].dropFirst() : rest
      let (beforeParameters, parameters) =
        place.firstIndex(of: "?").map { (place[..<$0], place[$0...].dropFirst()) } ?? (place, "")
      guard !beforeParameters.contains("@"),
        parameters.isEmpty || parameters.split(separator: "&").allSatisfy({ $0.contains("=") })
      else { throw unescaped }
    }

    private static func values(_ options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
      var values: [String: String] = [:]
      var option = options
      while let keyword = option.pointee.keyword {
        if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
        option += 1
      }
      return values
    }

    private static func count(_ hosts: String) -> Int {
      hosts.split(separator: ",", omittingEmptySubsequences: false).count
    }

    private func learnHosts(_ connection: OpaquePointer) {
      guard let options = PQconninfo(connection) else { return }
      defer { PQconninfoFree(options) }
      let values = Self.values(options)
      hosts.withLock { $0 = Self.count(values["host"] ?? values["hostaddr"] ?? "") }
    }

    /// How many seconds each host gets of `limit`. Nil if the string is to decide, as libpq refuses what it says.
    func connectTimeout(within limit: Duration) -> Int? {
      guard let patience else { return nil }
      // Older versions of libpq make two of one.
      let part = max(2, Int((min(limit.seconds, 1e6) / Double(hosts.withLock(\.self))).rounded(.up)))
      return patience > 0 ? min(patience, part) : part
    }

    /// Blocks until it has connected, or knows that it can't: if hosts are silent, about as long as `limit`, of which each
    /// gets its part. Must never run on Swift's pool.
    func connect(within limit: Duration? = nil) throws -> OpaquePointer {
      var given = Self.defaults.sorted { $0.key < $1.key }
      // The first that answers may be one that follows.
      if hasSeveralHosts { given.append(("target_session_attrs", "read-write")) }
      var keywords = given.map(\.key) + ["dbname", "client_encoding"]
      var values = given.map(\.value) + [string, "UTF8"]
      if let timeout = limit.flatMap(connectTimeout(within:)) {
        // What comes last counts.
        keywords.append("connect_timeout")
        values.append("\(timeout)")
      }
      let connection = Self.withCStrings(keywords) { keywords in
        Self.withCStrings(values) { values in PQconnectdbParams(keywords, values, 1) }
      }
      guard let connection else { throw PostgresFailure(.lost, "there was not enough memory for a connection") }
      learnHosts(connection)
      guard PQstatus(connection) != CONNECTION_OK else { return connection }
      var failure = PostgresFailure(.lost, String(cString: PQerrorMessage(connection)))
      if failure.isInUnknownWords(of: self) {
        // Servers speak many languages. libpq shows the code of a refusal only to who asked for that, and nobody can ask
        // before the first attempt.
        PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
        PQreset(connection)
        PQsetErrorVerbosity(connection, PQERRORS_DEFAULT)
        guard PQstatus(connection) != CONNECTION_OK else { return connection }
        failure = failure.withCode(in: String(cString: PQerrorMessage(connection)))
          .granting(to: connection, in: "", creating: false, connecting: true)
      }
      PQfinish(connection)
      throw failure
    }

    /// With a null pointer for nil, and one more at the end.
    static func withCStrings<R>(_ strings: [String?], _ body: ([UnsafePointer<CChar>?]) -> R) -> R {
      let copies = strings.map { $0.flatMap { strdup($0) } }
      defer { copies.forEach { free($0) } }
      return body(copies.map { UnsafePointer($0) } + [nil])
    }
  }
#endif
