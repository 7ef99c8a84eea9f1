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
    try require(
      running != nil || rate != nil, "the limits limit nothing: name running jobs or a rate, or set none at all")
    let most = running ?? .max
    try require(most >= 1, "the limit of running jobs is \(most); it must be at least 1. Pause a queue to run none")
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

  package func check() throws {
    // Bounds that keep the arithmetic within 64 bits.
    let (most, longest) = (100_000, Duration.seconds(366 * 86400))
    try require((1...10 * most).contains(count), "the rate's number is \(count); it must be from 1 to \(10 * most)")
    let isPeriod = (.milliseconds(1)...longest).contains(period)
    try require(isPeriod, "the rate's period is \(period); it must be from a millisecond to 366 days")
    try require((1...most).contains(burst), "the rate's burst is \(burst); it must be from 1 to \(most)")
  }

  /// For example "100 a minute".
  public var description: String {
    let units: [Duration: String] = [
      .seconds(1): "a second", .seconds(60): "a minute", .seconds(3600): "an hour", .seconds(86400): "a day",
    ]
    return "\(count) \(units[period] ?? "in \(period)")"
  }
}
