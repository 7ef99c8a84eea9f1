import DurableJobs
import DurableJobsTesting
import Testing

@Suite struct BrokenStoreTests {
  /// Those of the cases that refuse the store.
  private func refusals(
    _ fault: FaultyStore.Fault?, of cases: [StoreConformance.Case] = StoreConformance.cases
  ) async -> [String] {
    let subject = StoreUnderTest { policy in
      let clock = ManualClock()
      return (FaultyStore(InMemoryStore(policy: policy, clock: clock), fault: fault), clock)
    }
    var refusals: [String] = []
    for conformanceCase in cases {
      do { try await conformanceCase.run(subject) } catch { refusals.append("\(conformanceCase): \(error)") }
    }
    return refusals
  }

  /// How the cases begin that are there to find the fault.
  private static func finder(of fault: FaultyStore.Fault) -> String {
    switch fault {
    case .noFence: "C12 A worker that lost its claim is refused its result"
    case .lostResult: "A job that succeeded keeps its output"
    case .wrongOrder: "Priority goes first, then the id"
    case .noRecovery: "C1 A job whose process died is back"
    case .attemptKept: "C1 A job whose process died is back"
    case .overCapacity: "A claim takes no more from a queue than it has room for"
    case .constraintsIgnored: "C32 What requires a condition that does not hold is not claimed"
    case .splitInsertion: "An insertion holds whole or not at all"
    case .earlySignals: "C66 "
    case .noSignals: "Every verb that changes a job tells so"
    case .stopForgotten: "A cancel or a suspension of a running job reaches its worker"
    case .deadlinesIgnored: "A job that has not ended by its deadline fails"
    case .stepsForgotten: "What a step gave is handed to the next attempt"
    case .keysIgnored: "C44 Of many who enqueue under one unique key at once"
    case .keysForEver: "Each way to end lets the unique key go"
    }
  }

  @Test("A broken store is refused by the conformance suite", arguments: FaultyStore.Fault.allCases)
  func brokenStore(fault: FaultyStore.Fault) async throws {
    let finders = StoreConformance.cases.filter { "\($0)".hasPrefix(Self.finder(of: fault)) }
    try #require(!finders.isEmpty)
    #expect(await refusals(fault, of: finders).count == finders.count)
  }

  @Test("A store that only stands between is not refused")
  func storeBetween() async {
    #expect(await refusals(nil) == [])
  }

  @Test("A call fails as often as it was told to, before it is done or after")
  func failures() async throws {
    let store = FaultyStore(InMemoryStore(clock: ManualClock()))
    let job = JobInsertion([NewJob(queue: "q", kind: "k", payload: .init())])
    store.fail(next: 2, .insert, with: JobError(.diskFull, "there is no room"))
    store.fail(.insert, with: JobError(.locked, "the answer is lost"), isDone: true)
    var codes: [JobError.Code] = []
    for _ in 0..<4 {
      do { _ = try await store.insert(job) } catch let error as JobError { codes.append(error.code) }
    }
    #expect(codes == [.diskFull, .diskFull, .locked])
    #expect(try await store.counts(where: .all) == JobCounts([.ready: 2]))
    #expect(store.calls(of: .insert) == 4)
  }
}
