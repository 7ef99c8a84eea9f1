/// Waits that grow by a factor up to a cap, half of each random.
public struct BackOff: Hashable, Sendable {
  public var base: Duration
  public var factor: Double
  public var cap: Duration

  public init(base: Duration, factor: Double, cap: Duration) {
    self.base = base
    self.factor = factor
    self.cap = cap
  }

  /// The wait after failure `number`, from 1; `random` is between 0 and 1.
  public func delay(number: Int, random: Double) -> Duration {
    var whole = base.seconds
    for _ in 1..<max(number, 1) where whole < cap.seconds { whole *= factor }
    whole = min(max(whole, 0), cap.seconds)
    return .milliseconds(Int64((whole * 500 * (1 + random)).rounded()))
  }
}
