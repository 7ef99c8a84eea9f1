import DurableJobs
import DurableJobsTesting
import Testing

@Suite struct RandomHistoryTests {
  @Test("A store in memory does in random lives what it has to", arguments: 1...40)
  func wholeStore(seed: Int) async throws {
    try await RandomHistory(seed: UInt64(seed)).run(ConformanceTests.subject)
  }

  /// All but those that show only in signals.
  private static let visibleFaults = FaultyStore.Fault.allCases.filter { $0 != .earlySignals && $0 != .noSignals }

  @Test("Random lives tell a broken store from a whole one", arguments: visibleFaults)
  func brokenStore(fault: FaultyStore.Fault) async throws {
    let subject = StoreUnderTest { policy in
      let clock = ManualClock()
      return (FaultyStore(InMemoryStore(policy: policy, clock: clock), fault: fault), clock)
    }
    #expect(await seedOfDifference(in: 1...20) { try await $0.run(subject) } != nil)
  }

  /// Stores share the rules by which they decide. So what finds a rule that is wrong is the oracle alone, and this shows
  /// that histories come to where each rule decides.
  @Test("Random lives tell a wrong rule from the right one", arguments: foundRules)
  func wrongRule(rule: WrongRule) async throws {
    let first = Self.finders[rule].map { [$0] } ?? []
    let seed = await seedOfDifference(in: first + Array(1...900)) {
      try await $0.run(ConformanceTests.subject, wrong: rule)
    }
    try await RandomHistory(seed: try #require(seed)).run(ConformanceTests.subject)
    print("\(rule) is found by seed \(seed!), with which the right one passes")
  }

  /// No seed up to 900 comes to where a job returns to a need that was broken meanwhile, and tells this rule: a conformance
  /// case of edges does.
  private static let foundRules = WrongRule.allCases.filter { $0 != .returnedGoesOn }

  /// The first seeds that find what is seldom decided, so that they are tried first. Where other histories come of them by
  /// now, the search begins at 1.
  private static let finders: [WrongRule: UInt64] = [
    .anyProgressForgives: 81, .failedHeadKeepsItsCatchOut: 181, .failedHeadLetsGo: 17,
    .lostClaimIsFollowed: 81, .onlyRowsOfDeathsEnd: 22, .overdueRetries: 17, .begunIsOverdue: 17,
    .renewalEndsNoDoubt: 24, .resumeForgetsTime: 38, .retriedBringsNoKey: 27, .retryForgetsSteps: 15,
    .retryKeepsCrashes: 15, .retryKeepsDeadline: 103, .retryLeavesSkipped: 33, .retryOpensBatch: 19,
    .retryTakesKey: 24, .successLosesToCancel: 32, .successorKeepsKey: 32, .suspensionBeatsCancel: 22,
    .wakeEndsAnyWait: 14, .windowEndsWithJob: 32, .workersWordGoesFirst: 30,
  ]

  /// The first seed whose history ends in a difference.
  private func seedOfDifference(
    in seeds: some Sequence<UInt64>, _ run: (RandomHistory) async throws -> Void
  ) async -> UInt64? {
    for seed in seeds {
      do { try await run(RandomHistory(seed: seed)) } catch { return error is Difference ? seed : nil }
    }
    return nil
  }
}
