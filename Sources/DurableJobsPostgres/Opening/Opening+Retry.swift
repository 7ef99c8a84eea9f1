#if Postgres
  import DurableJobs
  import Foundation

  extension Opening {
    /// How long to try. If nobody has answered so far, it may be the wrong place, or a server between two lives. A call
    /// may be given days, for the rows of a large store: for a server that does not come back, they are too long.
    static func patience(callLimit: Duration, isServerThere: Bool) -> Duration {
      min(callLimit, isServerThere ? .seconds(30) : .seconds(1))
    }

    /// Connects, and opens the store: again, for a while, if the server is being stopped or started, or the connection is
    /// lost on the way. A migration of which nothing was heard is there, or is done again as a whole.
    static func open(
      _ server: ServerName, seed: Int64, configuration: PostgresStore.Configuration, clock: ServerClock?
    ) throws -> Found {
      let start = SystemClock().uptime
      var isServerThere = false
      var attempt = 0
      while true {
        do {
          let connection = try Connection(server, configuration, until: start + configuration.callLimit)
          isServerThere = true
          return try Opening(
            connection: connection, schema: configuration.schema, seed: seed, configuration: configuration
          ).open(clock)
        } catch let failure as PostgresFailure where failure.endsConnection && failure.mayPass(on: server) {
          if failure.isFromServer { isServerThere = true }
          let patience = patience(callLimit: configuration.callLimit, isServerThere: isServerThere)
          let rest = start + patience - SystemClock().uptime
          guard failure.kind != .timedOut, rest > .zero else { throw failure }
          attempt += 1
          let longest = min(0.02 * Double(1 << min(attempt, 6)), 1, rest.seconds)
          Thread.sleep(forTimeInterval: .random(in: longest / 2...longest))
        }
      }
    }
  }
#endif
