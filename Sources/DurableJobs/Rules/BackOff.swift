import Foundation

/// Delays that grow by a factor up to a cap; half of each is random.
public struct BackOff: Hashable, Sendable {
  public var base: Duration
  public var factor: Double
  public var cap: Duration

  /// In seconds. A longer delay would not result in a date.
  private static let longest = 1e12

  public init(base: Duration, factor: Double, cap: Duration) {
    (self.base, self.factor, self.cap) = (base, factor, cap)
  }

  /// The delay after failure `number`, counted from 1; `random` is between 0 and 1.
  public func delay(number: Int, random: Double) -> Duration {
    let grown = base.seconds * pow(factor, Double(max(number, 1) - 1))
    let whole = grown > 0 ? max(min(grown, cap.seconds, Self.longest), 0) : 0
    return .milliseconds(Int64((whole * 500 * (1 + random)).rounded()))
  }
}
