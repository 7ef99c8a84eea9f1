import DurableJobs
import DurableJobsTesting
import Testing

@Suite struct ConformanceTests {
  static let subject = StoreUnderTest { policy in
    let clock = ManualClock()
    return (InMemoryStore(policy: policy, clock: clock), clock)
  }

  @Test("The store in memory does what every store has to", arguments: StoreConformance.cases)
  func storeInMemory(conformanceCase: StoreConformance.Case) async throws {
    try await conformanceCase.run(Self.subject)
  }
}
