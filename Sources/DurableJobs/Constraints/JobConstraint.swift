/// A named condition that must hold for a job to run: `requires: [.network, "vpn"]`.
///
/// It holds for a worker that says so (``JobWorker/provide(_:_:)``), or if it was set for every process
/// (``JobQueue/setConstraint(_:satisfied:)``), which takes precedence. A job that waits for a condition is
/// ``JobState/ready`` and uses no slot: a worker for which the condition does not hold never reads it.
public struct JobConstraint: RawRepresentable, Hashable, Comparable, Codable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The name, at most ``Limits/nameBytes``.
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral name: String) { rawValue = name }

  /// Other machines can be reached. The system's monitors of this and those below are in `DurableJobsSystem`:
  /// `worker.provideSystemConstraints(of: folder)`.
  public static let network: JobConstraint = "network"
  /// The machine is not running on battery.
  public static let externalPower: JobConstraint = "externalPower"
  /// There is enough free disk space.
  public static let diskSpace: JobConstraint = "diskSpace"

  public var description: String { rawValue }
  public static func < (a: JobConstraint, b: JobConstraint) -> Bool { a.rawValue < b.rawValue }

  /// What happens to a running job when a condition that it requires stops holding.
  public enum Loss: String, Hashable, Codable, Sendable {
    case goesOn
    /// The handler is cancelled, and the job becomes ready again and keeps its attempt.
    case interrupts
  }
}

extension [JobConstraint: Bool] {
  /// The conditions that hold for a worker that reports `own`, after applying what was set for all.
  package func holding(_ own: Set<JobConstraint>) -> Set<JobConstraint> {
    isEmpty ? own : own.filter { self[$0] ?? true }.union(lazy.filter(\.value).map(\.key))
  }
}

extension [StoreSetting] {
  /// The conditions that were set by hand.
  package var constraints: [JobConstraint: Bool] {
    reduce(into: [:]) { if case .constraint(let name, let isSatisfied) = $1 { $0[name] = isSatisfied } }
  }
}
