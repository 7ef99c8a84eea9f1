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

  /// Throws ``Difference`` at the first step at which the store does otherwise than it has to, with all that led to it.
  public func run(_ subject: StoreUnderTest) async throws { try await run(subject, wrong: nil) }

  /// With an oracle that is wrong, if that is asked for.
  package func run(_ subject: StoreUnderTest, wrong: WrongRule?) async throws {
    var maker = HistoryMaker(seed: seed)
    let (store, clock) = try await subject.make(maker.policy)
    var run = HistoryRun(store: store, clock: clock, oracle: Oracle(policy: maker.policy, wrong: wrong))
    var past: [String] = []
    for number in 1...max(steps, 1) {
      let step = maker.step(of: run)
      past.append("\(number): \(step)")
      do {
        try await run.take(step)
      } catch {
        throw Difference("seed \(seed), step \(number): \(error)\nAll steps:\n" + past.joined(separator: "\n"))
      }
    }
  }
}
