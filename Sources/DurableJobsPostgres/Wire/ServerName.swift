#if Postgres
  import CPostgres
  import DurableJobs
  import Foundation

  /// Where a store is: a libpq connection string, in either of its forms, also with several hosts. Its description has
  /// no password.
  struct ServerName: Sendable, CustomStringConvertible {
    private let string: String
    let description: String
    let hasPassword: Bool
    /// Whether there are several hosts: another may lead soon, if none does now.
    let hasSeveralHosts: Bool
    /// What libpq uses if the string says nothing: a host that is silent for long is given up.
    private static let defaults = [
      "connect_timeout": "5", "application_name": "durable_jobs", "tcp_user_timeout": "30000", "keepalives_idle": "30",
    ]

    /// Throws `JobError.Code.invalidArgument` if libpq can't read it.
    init(_ string: String) throws {
      self.string = string
      guard let options = PQconninfoParse(string, nil) else {
        throw JobError(
          .invalidArgument,
          "the connection string can't be read. It is postgres://user@host:5432/database, or host=… user=… dbname=…")
      }
      defer { PQconninfoFree(options) }
      var values: [String: String] = [:]
      var option = options
      while let keyword = option.pointee.keyword {
        if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
        option += 1
      }
      let user = values["user"].map { "\($0)@" } ?? ""
      let port = values["port"].map { ":\($0)" } ?? ""
      let host = values["host"] ?? values["hostaddr"] ?? ""
      let database = values["dbname"] ?? ""
      hasSeveralHosts = host.contains(",")
      // The folder of a socket can't be written in the place of a host.
      description =
        host.hasPrefix("/")
        ? "postgres://\(user)\(port)/\(database)?host=\(host)" : "postgres://\(user)\(host)\(port)/\(database)"
      hasPassword = values["password"] != nil || values["sslpassword"] != nil
    }

    /// Blocks until it has connected, or knows that it can't. Must never run on Swift's pool.
    func connect() throws -> OpaquePointer {
      let given = Self.defaults.sorted { $0.key < $1.key }
      let keywords = given.map(\.key) + ["dbname", "client_encoding"]
      let values = given.map(\.value) + [string, "UTF8"]
      let connection = Self.withCStrings(keywords) { keywords in
        Self.withCStrings(values) { values in PQconnectdbParams(keywords, values, 1) }
      }
      guard let connection else { throw PostgresFailure(.lost, "there was not enough memory for a connection") }
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
