import DurableJobs
import DurableJobsTesting
import Testing

@Suite struct RandomHistoryTests {
  @Test("Two stores in memory lead the same random lives", arguments: 1...20)
  func sameLives(seed: Int) async throws {
    try await RandomHistory(seed: UInt64(seed)).run(ConformanceTests.subject)
  }

  /// All but those that show only in signals, or when an insertion is refused.
  private static let visibleFaults: [FaultyStore.Fault] = [
    .noFence, .lostResult, .wrongOrder, .noRecovery, .attemptKept, .overCapacity, .stopForgotten, .keysIgnored,
    .keysForEver,
  ]

  @Test("Random lives tell a broken store from a whole one", arguments: visibleFaults)
  func brokenStore(fault: FaultyStore.Fault) async throws {
    let subject = StoreUnderTest { policy in
      let clock = ManualClock()
      return (FaultyStore(InMemoryStore(policy: policy, clock: clock), fault: fault), clock)
    }
    var isFound = false
    for seed in UInt64(1)...20 where !isFound {
      do { try await RandomHistory(seed: seed).run(subject) } catch is Difference { isFound = true }
    }
    #expect(isFound)
  }
}
