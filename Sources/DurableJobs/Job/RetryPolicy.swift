/// Whether, and when, a failed attempt is followed by another. How many there are in all is an option of the job:
/// ``JobOptions/maxAttempts``.
public struct RetryPolicy: Sendable {
  /// An attempt that failed.
  public struct Attempt: Sendable {
    /// Which it was, from 1.
    public let number: Int
    public let maxAttempts: Int
    public let error: any Error

    public init(number: Int, maxAttempts: Int, error: any Error) {
      self.number = number
      self.maxAttempts = maxAttempts
      self.error = error
    }
  }

  public enum Decision: Hashable, Sendable {
    /// Again, this long from now. Fails the job instead if its attempts are used up.
    case retry(after: Duration)
    /// Fails the job for good.
    case fail
  }

  private let decide: @Sendable (Attempt) -> Decision

  public init(decide: @escaping @Sendable (Attempt) -> Decision) { self.decide = decide }

  package func decision(after attempt: Attempt) -> Decision {
    attempt.number >= attempt.maxAttempts ? .fail : decide(attempt)
  }

  /// Waits that grow: `base` after the first attempt, `factor` times longer after each, never more than `cap`. Half of
  /// each wait is random, so that jobs that failed together come back apart.
  ///
  /// "Equal jitter" of Marc Brooker, *Exponential Backoff and Jitter*, 2015.
  public static func exponential(
    base: Duration = Defaults.backOffBase, factor: Double = Defaults.backOffFactor,
    cap: Duration = Defaults.backOffCap
  ) -> RetryPolicy {
    RetryPolicy { attempt in
      .retry(
        after: BackOff(base: base, factor: factor, cap: cap)
          .delay(number: attempt.number, random: .random(in: 0...1)))
    }
  }

  public static func constant(_ delay: Duration) -> RetryPolicy { RetryPolicy { _ in .retry(after: delay) } }

  /// The first attempt that fails is the last.
  public static let never = RetryPolicy { _ in .fail }

  /// Asks `choose` first; where it answers nil, this policy decides.
  public func byError(_ choose: @escaping @Sendable (any Error) -> Decision?) -> RetryPolicy {
    let decide = decide
    return RetryPolicy { choose($0.error) ?? decide($0) }
  }
}
