import DurableJobs
import Foundation

/// A random life of a store: producers, workers, people and clocks in any order, made from a number.
///
/// It is led on a store and on an `InMemoryStore` side by side, each with its own clock, and after every step what they
/// answer is compared. The same seed always makes the same history.
public struct RandomHistory: Sendable, CustomStringConvertible {
  public let seed: UInt64
  public let steps: Int

  public init(seed: UInt64, steps: Int = 200) {
    self.seed = seed
    self.steps = steps
  }

  public var description: String { "history \(seed) of \(steps) steps" }

  /// Crashes cost no wait here: the wait is random, and the two stores would choose two.
  static var policy: StorePolicy {
    var policy = StorePolicy()
    policy.maxCrashesInRow = 3
    policy.maxCrashes = 5
    policy.crashBackOff.base = .zero
    policy.retention = .seconds(300)
    policy.failedRetention = .seconds(900)
    return policy
  }

  /// Throws ``Difference`` at the first step at which the store and the model differ, with all that led to it.
  public func run(_ subject: StoreUnderTest) async throws {
    let (store, clock) = try await subject.make(Self.policy)
    let modelClock = ManualClock(now: clock.now)
    let model = InMemoryStore(policy: Self.policy, clock: modelClock)
    var random = SeededNumbers(seed: seed)
    var pair = StorePair(
      model: StorePair.Side(store: model, clock: modelClock), subject: StorePair.Side(store: store, clock: clock))
    var past: [String] = []
    for number in 1...max(steps, 1) {
      let step = HistoryStep.random(for: pair, &random)
      past.append("\(number): \(step)")
      do {
        try await pair.take(step)
        if number.isMultiple(of: 5) || number == steps { try await pair.compareAll() }
      } catch {
        throw Difference("seed \(seed), step \(number): \(error)\nAll steps:\n" + past.joined(separator: "\n"))
      }
    }
  }
}

/// Numbers that look random and follow from a seed: SplitMix64 of Steele, Lea and Flood, 2014.
package struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
  mutating func pick<T>(_ choices: [T]) -> T { choices.randomElement(using: &self)! }
}
