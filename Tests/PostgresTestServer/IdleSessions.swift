#if Postgres
  import CPostgres
  import DurableJobs

  /// Connections on which tests asked for something, for the next ones: to make one takes a server far longer than to answer.
  final class IdleSessions: Sendable {
    /// The connection's address.
    private let idle = Lock<[(database: String, connection: UInt)]>([])
    private static let most = 16

    /// One on which nothing is left of what was done before; nil if there is none.
    func take(_ database: String) -> OpaquePointer? {
      while true {
        let next = idle.withLock { idle in
          idle.lastIndex { $0.database == database }.map { idle.remove(at: $0).connection }
        }
        guard let connection = next.flatMap({ OpaquePointer(bitPattern: $0) }) else { return nil }
        let result = PQexec(connection, "DISCARD ALL")
        defer { PQclear(result) }
        if PQresultStatus(result) == PGRES_COMMAND_OK { return connection }
        PQfinish(connection)
      }
    }

    /// One that is in a transaction, or lost, is ended, and the oldest of too many.
    func give(_ connection: OpaquePointer?, _ database: String) {
      guard PQtransactionStatus(connection) == PQTRANS_IDLE, let connection else { return PQfinish(connection) }
      let surplus = idle.withLock { idle in
        idle.append((database, UInt(bitPattern: connection)))
        return idle.count > Self.most ? idle.removeFirst().connection : nil
      }
      PQfinish(surplus.flatMap { OpaquePointer(bitPattern: $0) })
    }

    func end() {
      for (_, connection) in idle.exchange([]) { PQfinish(OpaquePointer(bitPattern: connection)) }
    }
  }
#endif
