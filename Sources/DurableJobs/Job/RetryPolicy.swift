/// Decides whether and when a failed attempt is followed by another, up to the job's ``JobOptions/maxAttempts``.
public struct RetryPolicy: Sendable {
  /// A failed attempt.
  public struct Attempt: Sendable {
    /// The attempt's number, starting at 1.
    public let number: Int
    public let maxAttempts: Int
    public let error: any Error

    public init(number: Int, maxAttempts: Int, error: any Error) {
      (self.number, self.maxAttempts, self.error) = (number, maxAttempts, error)
    }
  }

  public enum Decision: Hashable, Sendable {
    /// Try again after this delay. Fails the job instead if no attempts are left.
    case retry(after: Duration)
    /// Fail the job permanently.
    case fail
  }

  private let decide: @Sendable (Attempt) -> Decision

  public init(decide: @escaping @Sendable (Attempt) -> Decision) { self.decide = decide }

  package func decision(after attempt: Attempt) -> Decision {
    attempt.number >= attempt.maxAttempts ? .fail : decide(attempt)
  }

  /// Exponential back-off: `base` after the first attempt, `factor` times longer after each further one, at most `cap`.
  /// Half of each delay is random, so that jobs that failed together do not all return at once.
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

  /// Never retries: the first attempt that fails is the last.
  public static let never = RetryPolicy { _ in .fail }

  /// Calls `choose` first; where it returns nil, this policy decides.
  public func byError(_ choose: @escaping @Sendable (any Error) -> Decision?) -> RetryPolicy {
    let decide = decide
    return RetryPolicy { choose($0.error) ?? decide($0) }
  }
}
