/// How much of a queue may run, counted over all processes on its store. See ``JobQueue/setLimits(_:)``.
public struct JobLimits: Hashable, Codable, Sendable, CustomStringConvertible {
  /// The most jobs that run at once; nil for no limit.
  public var running: Int?
  /// The highest rate at which attempts start; nil for no limit.
  public var rate: JobRate?

  public init(running: Int? = nil, rate: JobRate? = nil) { (self.running, self.rate) = (running, rate) }

  /// Reads stored values; nil, which is no limit, if no store could have written them.
  package init?(running: Int64?, count: Int64?, period: Int64?, burst: Int64?) {
    self.init(running: running.map { Int(clamping: $0) })
    if let count, let period, let burst {
      rate = JobRate(Int(clamping: count), per: .milliseconds(period), burst: Int(clamping: burst))
    }
    guard (try? check()) != nil else { return nil }
  }

  /// Throws ``JobError/Code/invalidArgument`` for limits that can't be stored.
  package func check() throws {
    if running == nil, rate == nil {
      throw JobError(.invalidArgument, "the limits limit nothing: name running jobs or a rate, or set none at all")
    }
    if let running, running < 1 {
      throw JobError(
        .invalidArgument, "the limit of running jobs is \(running); it must be at least 1. Pause a queue to run none")
    }
    try rate?.check()
  }

  /// For example "4 at once, 100 a minute and 10 in a row".
  public var description: String {
    let burst = rate.map { $0.burst > 1 ? " and \($0.burst) in a row" : "" } ?? ""
    return [running.map { "\($0) at once" }, rate.map { "\($0)\(burst)" }].compactMap(\.self).joined(separator: ", ")
  }
}

/// A number of starts per period, evenly spaced, with an optional burst after a rest.
public struct JobRate: Hashable, Codable, Sendable, CustomStringConvertible {
  public var count: Int
  /// The period, in whole milliseconds.
  public var period: Duration
  /// How many may start at once after a long rest. At least 1, the default, which spaces all of them evenly. In any
  /// span of time, no more start than the rate allows plus this many.
  public var burst: Int

  public init(_ count: Int, per period: Duration, burst: Int = 1) {
    (self.count, self.period, self.burst) = (count, period, burst)
  }

  /// Microseconds between two starts.
  package var interval: Int64 { max((period.milliseconds * 1000 + Int64(count) - 1) / Int64(count), 1) }
  package var depth: Int64 { interval * Int64(burst) }

  /// Bounds that keep the arithmetic within 64 bits.
  private static let most = 100_000
  private static let longest = Duration.seconds(366 * 86400)

  package func check() throws {
    func refuse(_ what: String) -> JobError { JobError(.invalidArgument, "the rate's \(what)") }
    guard (1...10 * Self.most).contains(count) else {
      throw refuse("number is \(count); it must be from 1 to \(10 * Self.most)")
    }
    guard period >= .milliseconds(1), period <= Self.longest else {
      throw refuse("period is \(period); it must be from a millisecond to 366 days")
    }
    guard (1...Self.most).contains(burst) else { throw refuse("burst is \(burst); it must be from 1 to \(Self.most)") }
  }

  /// For example "100 a minute".
  public var description: String {
    let units: [Duration: String] = [
      .seconds(1): "a second", .seconds(60): "a minute", .seconds(3600): "an hour", .seconds(86400): "a day",
    ]
    return "\(count) \(units[period] ?? "in \(period)")"
  }
}
