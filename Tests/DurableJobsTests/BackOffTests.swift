import DurableJobs
import Foundation
import Testing

@Suite struct BackOffTests {
  private struct Failure: Error {}

  @Test("Waits grow by the factor up to the cap, and half of each is random")
  func growth() {
    let backOff = BackOff(base: .seconds(1), factor: 3, cap: .seconds(20))
    #expect((1...5).map { backOff.delay(number: $0, random: 1) } == [1, 3, 9, 20, 20].map { .seconds($0) })
    #expect(
      (1...4).map { backOff.delay(number: $0, random: 0) } == [500, 1500, 4500, 10_000].map { .milliseconds($0) })
    #expect(backOff.delay(number: 2, random: 0.5) == .milliseconds(2250))
  }

  @Test(
    "Odd values give a wait that makes sense, and trap nowhere",
    arguments: [
      BackOff(base: .zero, factor: 2, cap: .seconds(1)), BackOff(base: .seconds(-5), factor: 2, cap: .seconds(1)),
      BackOff(base: .seconds(1), factor: .nan, cap: .seconds(1)),
      BackOff(base: .seconds(1), factor: -3, cap: .seconds(1)),
      BackOff(base: .seconds(1), factor: .infinity, cap: .seconds(1)),
      BackOff(base: .seconds(1), factor: 2, cap: .seconds(-1)),
    ])
  func oddValues(backOff: BackOff) {
    for number in [Int.min, -1, 0, 1, 2, 3, 1000, .max] {
      let delay = backOff.delay(number: number, random: 1)
      #expect(delay >= .zero && delay <= .seconds(1))
    }
  }

  @Test("A cap beyond all dates is no error")
  func hugeCap() {
    let backOff = BackOff(base: .seconds(1), factor: 10, cap: .seconds(Int64.max))
    #expect(backOff.delay(number: 400, random: 1) >= .seconds(1_000_000_000))
  }

  @Test("A policy gives up when the attempts are used up, whatever it decides otherwise")
  func attempts() {
    let policy = RetryPolicy.constant(.seconds(5))
    func decision(_ number: Int) -> RetryPolicy.Decision {
      policy.decision(after: RetryPolicy.Attempt(number: number, maxAttempts: 2, error: Failure()))
    }
    #expect(decision(1) == .retry(after: .seconds(5)))
    #expect(decision(2) == .fail)
    let once = RetryPolicy.Attempt(number: 1, maxAttempts: 10, error: Failure())
    #expect(RetryPolicy.never.decision(after: once) == .fail)
  }

  @Test("C38 Jobs that failed together come back apart, within half of the wait")
  func spread() throws {
    let policy = RetryPolicy.exponential(base: .seconds(8), factor: 2, cap: .seconds(100))
    let attempt = RetryPolicy.Attempt(number: 2, maxAttempts: 9, error: Failure())
    let delays = (0..<200).compactMap { _ -> Duration? in
      if case .retry(let delay) = policy.decision(after: attempt) { delay } else { nil }
    }
    #expect(delays.count == 200)
    #expect(delays.allSatisfy { $0 >= .seconds(8) && $0 <= .seconds(16) })
    #expect(Set(delays).count > 100)
  }

  @Test("A choice by error goes before the policy, which decides where there is none")
  func byError() {
    let policy = RetryPolicy.constant(.seconds(5)).byError { $0 is Failure ? .fail : nil }
    func decision(_ error: any Error) -> RetryPolicy.Decision {
      policy.decision(after: RetryPolicy.Attempt(number: 1, maxAttempts: 3, error: error))
    }
    #expect(decision(Failure()) == .fail)
    #expect(decision(CancellationError()) == .retry(after: .seconds(5)))
  }
}
