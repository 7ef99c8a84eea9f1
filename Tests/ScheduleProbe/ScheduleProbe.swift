import DurableJobs
import DurableJobsSQLite
import DurableJobsSchedules
import Foundation
import Logging

#if Postgres
  import DurableJobsPostgres
#endif

/// A process that ticks, for tests to kill. Its clock goes twenty times as fast as others, from a moment that all of its kind
/// share, and is a bit ahead or behind.
///
/// STORE is a file; or a connection string to a PostgreSQL server, a space and `schema=` with the name of a schema.
///
///     ScheduleProbe work STORE ORIGIN SKEW      ORIGIN in seconds since 1970, SKEW in milliseconds
///     ScheduleProbe declare STORE               a hundred times; prints what each did
@main struct ScheduleProbe {
  struct Tick: JobPayload {
    static let kind = "tick"
  }

  static func main() async throws {
    LoggingSystem.bootstrap(SwiftLogNoOpLogHandler.init)
    let arguments = CommandLine.arguments
    let clock =
      arguments[1] == "work" ? FastClock(origin: Double(arguments[3])!, skew: Double(arguments[4])! / 1000) : nil
    let queue = JobQueue(store: try await store(at: arguments[2], clock: clock))
    switch arguments[1] {
    case "work":
      let worker = JobWorker(queue)
      worker.register(JobSchedule.self)
      worker.register(Tick.self) { _, _ in }
      try await worker.run()
    case "declare":
      for _ in 0..<100 {
        print(try await queue.schedule("hourly", .cron("@hourly", timeZone: "UTC"), Tick()))
      }
    default:
      fatalError("unknown mode \(arguments[1])")
    }
  }
}

private func store(at path: String, clock: FastClock?) async throws -> any JobStore {
  var policy = StorePolicy()
  policy.doubtInterval = .milliseconds(100)
  policy.crashBackOff = BackOff(base: .milliseconds(40), factor: 2, cap: .milliseconds(500))
  #if Postgres
    if path.contains("schema=") {
      let parts = path.split(separator: " schema=")
      var configuration = PostgresStore.Configuration()
      (configuration.schema, configuration.policy) = (String(parts[1]), policy)
      configuration.clock = clock
      return try await PostgresStore(String(parts[0]), configuration: configuration)
    }
  #endif
  var configuration = SQLiteStore.Configuration()
  configuration.busyTimeout = .seconds(864_000)
  configuration.policy = policy
  if let clock { configuration.clock = clock }
  return try SQLiteStore(path: path, configuration: configuration)
}

private struct FastClock: JobClock {
  static let speed = 20.0
  let origin: Double
  let skew: Double
  private let system = SystemClock()

  init(origin: Double, skew: Double) { (self.origin, self.skew) = (origin, skew) }

  var now: Date {
    Date(timeIntervalSince1970: origin + (system.now.timeIntervalSince1970 - origin) * Self.speed + skew)
  }
  var uptime: Duration { system.uptime * Self.speed }
  func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> any JobTimer {
    system.schedule(at: due / Self.speed, action)
  }
}
