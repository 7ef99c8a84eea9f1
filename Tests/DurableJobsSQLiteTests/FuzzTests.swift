import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

/// Stores with random values in random columns, worked off by processes that may die of it.
@Suite struct FuzzTests {
  /// 1 to 200, or to what `DURABLE_FUZZ` says; `200-300` is from there to there.
  static let seeds: ClosedRange<Int> = {
    let words = ProcessInfo.processInfo.environment["DURABLE_FUZZ"]?.split(separator: "-").compactMap { Int($0) } ?? []
    guard let last = words.last, last >= 1 else { return 1...200 }
    return (words.count > 1 ? min(words[0], last) : 1)...last
  }()

  @Test
  func `Whatever a column holds, a store is worked off: nothing traps, nothing goes on for ever, what is whole ends`()
    async throws
  {
    let course = Lock(Course())
    let lanes = 4
    try await withThrowingTaskGroup { group in
      for _ in 0..<lanes { group.addTask { try await Self.work(course) } }
      try await group.waitForAll()
    }
    #expect(course.value.findings == [])
  }

  /// How far it is. A seed that never ends is among those under way in the last line that was printed.
  private struct Course {
    var rest = Array(FuzzTests.seeds.reversed())
    var underWay: Set<Int> = []
    var findings: [String] = []

    mutating func next() -> Int? {
      let next = rest.popLast()
      if let next { underWay.insert(next) }
      if !underWay.isEmpty { print("seeds \(underWay.sorted()) under way") }
      return next
    }

    mutating func end(_ seed: Int, finding: String?) {
      underWay.remove(seed)
      guard let finding else { return }
      findings.append(finding)
      print("DURABLE_FUZZ=\(seed)-\(seed) finds: \(finding)")
    }
  }

  /// Has a process work through what is left, and another where that one died.
  private static func work(_ course: Lock<Course>) async throws {
    let folder = try StoreFolder(inMemory: true)
    var probe: ProcessProbe?
    while let seed = course.withLock({ $0.next() }) {
      var finding: String?
      do {
        if probe == nil {
          probe = try ProcessProbe("fuzz", folder.path)
          try await probe?.hear("ready")
        }
        let answer = try await probe?.ask("seed \(seed)", hear: "done") ?? []
        if answer.dropFirst().first == "found" { finding = answer.joined(separator: " ") }
      } catch is ProcessProbe.Ended {
        finding = "\(seed) trapped"
        probe = nil
      }
      course.withLock { [finding] in $0.end(seed, finding: finding) }
    }
  }
}
