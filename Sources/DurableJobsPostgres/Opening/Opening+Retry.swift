#if Postgres
  import DurableJobs
  import Foundation

  extension Opening {
    /// How long to try if nobody has answered so far: it may be the wrong place, or a server between two lives.
    private static let firstPatience = Duration.seconds(1)

    /// Connects, and opens the store: again, until the call's limit, if the server is being stopped or started, or the
    /// connection is lost on the way. A migration of which nothing was heard is there, or is done again as a whole.
    static func open(
      _ server: ServerName, seed: Int64, configuration: PostgresStore.Configuration, clock: ServerClock?
    ) throws -> Found {
      let start = SystemClock().uptime
      let deadline = start + configuration.callLimit
      var isServerThere = false
      var attempt = 0
      while true {
        do {
          let connection = try Connection(server, configuration)
          isServerThere = true
          connection.deadline = deadline
          return try Opening(
            connection: connection, schema: configuration.schema, seed: seed, configuration: configuration
          ).open(clock)
        } catch let failure as PostgresFailure where failure.endsConnection && failure.mayPass(on: server) {
          if failure.isFromServer { isServerThere = true }
          let end = isServerThere ? deadline : min(deadline, start + firstPatience)
          let rest = end - SystemClock().uptime
          guard failure.kind != .timedOut, rest > .zero else { throw failure }
          attempt += 1
          let longest = min(0.02 * Double(1 << min(attempt, 6)), 1, rest.seconds)
          Thread.sleep(forTimeInterval: .random(in: longest / 2...longest))
        }
      }
    }
  }
#endif
