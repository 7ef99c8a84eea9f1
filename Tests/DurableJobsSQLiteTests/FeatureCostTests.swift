import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

/// What each feature adds to what a job costs, at 100 jobs a commit: statements, and steps of SQLite's virtual machine.
@Suite struct FeatureCostTests {
  enum Feature: String, CaseIterable {
    case plain, lane, unique, batch, key, tag, requires, deadline

    func terms(_ number: Int) -> JobTerms {
      switch self {
      case .plain, .batch: JobTerms()
      case .lane: JobTerms(lane: JobLane("l\(number)"))
      case .unique: JobTerms(unique: UniqueKey("u\(number)"))
      case .key: JobTerms(key: "k\(number)")
      case .tag: JobTerms(tags: ["t\(number)"])
      case .requires: JobTerms(requires: ["c"])
      case .deadline: JobTerms(deadline: .end(by: .after(.seconds(3600))))
      }
    }

    /// Statements a job may cost to be stored, and to be settled and followed by the next claim, with its share of
    /// BEGIN, COMMIT and what else is once a transaction.
    var statements: (enqueue: Double, turn: Double) {
      switch self {
      case .plain: (2.03, 2.07)
      case .lane: (4.03, 5.07)
      case .unique: (4.03, 3.07)
      case .batch: (3.05, 2.09)
      case .key: (3.04, 2.07)
      case .tag: (3.03, 2.07)
      case .requires: (2.05, 2.07)
      case .deadline: (3.03, 3.07)
      }
    }
  }

  private func insertion(_ feature: Feature, _ numbers: Range<Int>) -> JobInsertion {
    JobInsertion(
      numbers.map { .plain(terms: feature.terms($0)) }, batch: feature == .batch ? .new(name: "b", whenDone: nil) : nil)
  }

  private func cost(of feature: Feature) async throws -> (enqueue: StatementWork, turn: StatementWork) {
    let folder = try StoreFolder()
    let store = try folder.store()
    _ = try await store.insert(insertion(feature, 0..<100))
    let (enqueue, _) = try await store.work { try await store.insert(insertion(feature, 100..<200)) }
    var request = ClaimRequest.of(100)
    request.satisfied = ["c"]
    let next = request
    let first = try await store.claim(next)
    let (turn, second) = try await store.work {
      try await store.settle(first.jobs.map { $0.settled() }, thenClaim: next)
    }
    #expect(second.claimed?.jobs.count == 100)
    await store.close()
    return (enqueue, turn)
  }

  @Test("A job costs no more statements than its features are worth", arguments: Feature.allCases)
  func statements(feature: Feature) async throws {
    let (enqueue, turn) = try await cost(of: feature)
    let line = [enqueue, turn].map { "\(Double($0.runs) / 100) statements, \($0.steps / 100) steps" }
    print("\(feature.rawValue), a job at 100 a commit: enqueued \(line[0]); settled, and the next claimed \(line[1])")
    #expect(Double(enqueue.runs) / 100 <= feature.statements.enqueue)
    #expect(Double(turn.runs) / 100 <= feature.statements.turn)
  }

  @Test func `A plain job pays for none of them: its steps are those of its own rows`() async throws {
    let (enqueue, turn) = try await cost(of: .plain)
    #expect(enqueue.steps / 100 <= 56, "\(enqueue.steps)")
    #expect(turn.steps / 100 <= 120, "\(turn.steps)")
    #expect((enqueue.rows, turn.rows) == (0, 0), "no value is made of its row")
  }

  @Test func `A failure costs its row beside what a success does`() async throws {
    let folder = try StoreFolder()
    let store = try folder.store()
    _ = try await store.insert(insertion(.plain, 0..<200))
    let (first, second) = (try await store.claim(.of(100)), try await store.claim(.of(100)))
    for (jobs, result, most) in [
      (first, ClaimSettlement.Result.retry(.after(.seconds(60)), message: "no"), 3.0),
      (second, .failed(message: "no"), 3),
    ] {
      let (work, _) = try await store.work {
        try await store.settle(jobs.jobs.map { $0.settled(result) }, thenClaim: nil)
      }
      print("a failure, a job at 100 a commit: \(Double(work.runs) / 100) statements, \(work.steps / 100) steps")
      #expect(Double(work.runs) / 100 <= most + 0.05)
      #expect(work.rows == 100, "else no row is counted")
    }
  }
}
