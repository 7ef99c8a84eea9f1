import DurableJobs
import Foundation

/// A random life of a store: producers, workers, people and clocks in any order, made from a number.
///
/// The store is held against an oracle that derives from all that happened what every answer has to be, and compares all
/// jobs after each step. The same seed makes the same history, as far as the store draws the same waits after crashes.
public struct RandomHistory: Sendable, CustomStringConvertible {
  public let seed: UInt64
  public let steps: Int

  public init(seed: UInt64, steps: Int = 200) {
    self.seed = seed
    self.steps = steps
  }

  public var description: String { "history \(seed) of \(steps) steps" }

  static var policy: StorePolicy {
    var policy = StorePolicy()
    policy.maxCrashesInRow = 4
    policy.maxCrashes = 5
    policy.crashBackOff = BackOff(base: .seconds(2), factor: 3, cap: .seconds(5))
    policy.retention = .seconds(300)
    policy.failedRetention = .seconds(900)
    return policy
  }

  /// Throws ``Difference`` at the first step at which the store does otherwise than it has to, with all that led to it.
  public func run(_ subject: StoreUnderTest) async throws { try await run(subject, wrong: nil) }

  /// With an oracle that is wrong, if that is asked for.
  package func run(_ subject: StoreUnderTest, wrong: WrongRule?) async throws {
    let (store, clock) = try await subject.make(Self.policy)
    var run = HistoryRun(store: store, clock: clock, oracle: Oracle(policy: Self.policy, wrong: wrong))
    var random = SeededNumbers(seed: seed)
    var past: [String] = []
    for number in 1...max(steps, 1) {
      let step = HistoryStep.random(for: run, &random)
      past.append("\(number): \(step)")
      do {
        try await run.take(step)
      } catch {
        throw Difference("seed \(seed), step \(number): \(error)\nAll steps:\n" + past.joined(separator: "\n"))
      }
    }
  }
}

/// Numbers that look random and follow from a seed: SplitMix64 of Steele, Lea and Flood, 2014.
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
  mutating func pick<T>(_ choices: [T]) -> T { choices.randomElement(using: &self)! }
}
