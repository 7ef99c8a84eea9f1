#if HTTP
  import DurableJobs

  extension RetryPolicy {
    /// How long is waited after attempt `number`, however many there may be.
    func backOff(after number: Int, _ error: any Error) -> Duration {
      guard case .retry(let time) = decision(after: Attempt(number: number, maxAttempts: .max, error: error)) else {
        return .zero
      }
      return time
    }
  }

  extension JobExit {
    /// A wait that ends early when a condition that the job requires holds again.
    var asBackOff: JobExit {
      var exit = self
      exit.isBackOff = true
      return exit
    }
  }
#endif
