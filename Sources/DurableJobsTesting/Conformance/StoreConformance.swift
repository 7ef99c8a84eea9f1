import DurableJobs

/// What every store must do, as cases that any test framework can run:
///
///     @Test(arguments: StoreConformance.cases)
///     func `the store does what every store has to`(_ conformanceCase: StoreConformance.Case) async throws {
///       try await conformanceCase.run(mine)
///     }
///
/// A case throws ``Difference`` if the store behaves differently. It moves time by hand, and waits for nothing else.
public enum StoreConformance {
  /// One promise, and a test of it.
  public struct Case: Sendable, CustomStringConvertible {
    /// The sentence that must hold.
    public let name: String
    /// What a store must be able to do for the case to make sense.
    public let needs: Set<StoreUnderTest.Capability>
    private let body: @Sendable (StoreUnderTest) async throws -> Void

    init(
      _ name: String, needs: Set<StoreUnderTest.Capability> = [],
      _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) {
      self.name = name
      self.needs = needs
      self.body = body
    }

    public var description: String { name }

    /// Runs the case on a fresh store. If the store lacks what the case needs, it is skipped, which is printed.
    public func run(_ subject: StoreUnderTest) async throws {
      let lacking = needs.subtracting(subject.capabilities).map(\.rawValue).sorted()
      guard lacking.isEmpty else {
        print("skipped: \(name) (the store lacks: \(lacking.joined(separator: ", ")))")
        return
      }
      try await body(subject)
    }
  }

  public static let cases: [Case] =
    insertionCases + uniqueCases + claimCases + orderCases + settlementCases + fenceCases + changeCases + stopCases
    + crashCases + edgeCases + laneCases + constraintCases + followUpCases + stepCases + deadlineCases + batchCases
    + limitCases + laneRateCases + leaseCases + timeCases + queryCases
    + explanationCases
    + idlenessCases
    + signalCases + watchCases + nameCases
    + reopeningCases
}

/// A kind of store to test.
public struct StoreUnderTest: Sendable {
  /// What not every store can do.
  public enum Capability: String, Sendable, CaseIterable {
    /// What was stored is still there when the store is opened again.
    case reopens
  }

  public let capabilities: Set<Capability>
  let make: @Sendable (StorePolicy) async throws -> (store: any JobStore, clock: ManualClock)
  let reopen: (@Sendable (any JobStore) async throws -> any JobStore)?

  /// `make` returns a fresh, empty store that follows the policy and takes its time from the clock. `reopen` closes a
  /// store that `make` returned, as when a process ends, and opens it again.
  public init(
    make: @escaping @Sendable (StorePolicy) async throws -> (store: any JobStore, clock: ManualClock),
    reopen: (@Sendable (any JobStore) async throws -> any JobStore)? = nil
  ) {
    capabilities = reopen == nil ? [] : [.reopens]
    self.make = make
    self.reopen = reopen
  }
}

/// What a store did, where something else was expected.
public struct Difference: Error, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}

func same<T: Equatable>(_ actual: T, _ expected: T, _ what: String) throws {
  guard actual != expected else { return }
  throw Difference("\(what): \(actual), and not \(expected)")
}

func holds(_ condition: Bool, _ what: String) throws {
  guard !condition else { return }
  throw Difference("does not hold: \(what)")
}

/// A value that must exist for a case to continue.
func present<T>(_ value: T?, _ what: String) throws -> T {
  guard let value else { throw Difference("\(what): there is none") }
  return value
}

/// Expects `body` to be refused with this code.
func refused(_ code: JobError.Code, _ what: String, _ body: () async throws -> Void) async throws {
  _ = try await refusal(code, what, body)
}

/// The words with which `body` must be refused.
func refusal(_ code: JobError.Code, _ what: String, _ body: () async throws -> Void) async throws -> String {
  do {
    try await body()
  } catch let error as JobError {
    try same(error.code, code, "\(what) is refused as")
    return error.message
  }
  throw Difference("\(what) is not refused")
}
