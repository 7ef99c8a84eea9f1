import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

/// Stores with random values in random columns, worked off by processes that may die of it.
@Suite struct FuzzTests {
  /// 1 to 150, or to what `DURABLE_FUZZ` says; `200-300` is from there to there.
  static let seeds: ClosedRange<Int> = {
    let words = ProcessInfo.processInfo.environment["DURABLE_FUZZ"]?.split(separator: "-").compactMap { Int($0) } ?? []
    guard let last = words.last, last >= 1 else { return 1...150 }
    return (words.count > 1 ? min(words[0], last) : 1)...last
  }()

  @Test
  func `Whatever a column holds, a store is worked off: nothing traps, nothing goes on for ever, what is whole ends`()
    async throws
  {
    let rest = Lock(Array(Self.seeds.reversed()))
    let lanes = 4
    let findings = try await withThrowingTaskGroup(of: [String].self) { group in
      for _ in 0..<lanes { group.addTask { try await Self.work(rest) } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(findings == [])
  }

  /// Has a process work through what is left, and another where that one died.
  private static func work(_ rest: Lock<[Int]>) async throws -> [String] {
    let folder = try StoreFolder(inMemory: true)
    var probe: ProcessProbe?
    var findings: [String] = []
    while let seed = rest.withLock({ $0.popLast() }) {
      do {
        if probe == nil {
          probe = try ProcessProbe("fuzz", folder.path)
          try await probe?.hear("ready")
        }
        let answer = try await probe?.ask("seed \(seed)", hear: "done") ?? []
        if answer.dropFirst().first == "found" { findings.append(answer.joined(separator: " ")) }
      } catch is ProcessProbe.Ended {
        findings.append("\(seed) trapped")
        probe = nil
      }
    }
    return findings
  }
}
