#if Postgres
  import CPostgres
  import DurableJobs
  import Foundation

  #if canImport(Darwin)
    import Darwin
  #else
    import Glibc
  #endif

  /// How to wait for what comes over a connection: none of libpq's own calls does so with a limit.
  extension Libpq {
    enum Wait {
      /// There is something to read, or room to write.
      case came
      /// There may be.
      case mayHaveCome
      case isOver
    }

    /// libpq reads no more of a record of TLS than it has room for. OpenSSL keeps the rest, of which the socket knows
    /// nothing, and which is lost to who waits for that alone: so after something was read, it is asked again this soon.
    private static let glance = Duration.milliseconds(50)

    /// Waits that long, or without end, for something to read, for room if there is something to write, or till there is
    /// something to read in `other`. `hasRead`: something was read since the last wait that ended without.
    static func wait(
      on connection: OpaquePointer, for duration: Duration?, hasRead: Bool = true, writing: Bool = false,
      or other: Int32 = -1
    ) -> Wait {
      let glance = hasRead && PQsslInUse(connection) == 1 ? Self.glance : nil
      let longest = [duration, glance].compactMap(\.self).min()
      let events = Int16(POLLIN) | (writing ? Int16(POLLOUT) : 0)
      var files = [
        pollfd(fd: PQsocket(connection), events: events, revents: 0),
        pollfd(fd: other, events: Int16(POLLIN), revents: 0),
      ]
      let count = poll(&files, 2, longest.map { Int32(clamping: max($0.milliseconds, 0)) } ?? -1)
      if count > 0 { return .came }
      return count < 0 || longest != duration ? .mayHaveCome : .isOver
    }

    /// Has libpq read what has come. False if the connection is lost. Half of the longest record fits in its buffer.
    static func read(_ connection: OpaquePointer) -> Bool {
      PQconsumeInput(connection) == 1 && (PQsslInUse(connection) == 0 || PQconsumeInput(connection) == 1)
    }
  }
#endif
