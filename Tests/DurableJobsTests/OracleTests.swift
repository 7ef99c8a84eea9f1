import DurableJobs
import DurableJobsTesting
import Testing

@Suite struct OracleTests {
  @Test("A wrong rule is told from the right one by random lives", arguments: WrongRule.allCases)
  func wrongRule(rule: WrongRule) async throws {
    var seeds: [UInt64] = []
    for seed in UInt64(1)...40 {
      do { try await RandomHistory(seed: seed).run(ConformanceTests.subject, wrong: rule) } catch is Difference {
        seeds.append(seed)
      }
    }
    print("FOUND", rule, seeds.count, seeds.first ?? 0)
    #expect(!seeds.isEmpty)
  }
}
