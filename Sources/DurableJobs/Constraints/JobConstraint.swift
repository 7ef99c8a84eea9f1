/// A named condition without which a job is not run: `requires: [.network, "vpn"]`.
///
/// It holds for a worker if that says so (``JobWorker/provide(_:_:)``), or if somebody set it for every process
/// (``JobQueue/setConstraint(_:satisfied:)``), which goes before what workers say. A job that waits for one is
/// ``JobState/ready`` and takes no slot: a worker for which the condition does not hold never looks at it.
public struct JobConstraint: RawRepresentable, Hashable, Comparable, Codable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// At most ``Limits/nameBytes``.
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }
  public init(stringLiteral name: String) { rawValue = name }

  /// Others can be reached.
  public static let network: JobConstraint = "network"
  /// It does not run on its battery.
  public static let externalPower: JobConstraint = "externalPower"
  /// There is enough room for files.
  public static let diskSpace: JobConstraint = "diskSpace"

  public var description: String { rawValue }
  public static func < (a: JobConstraint, b: JobConstraint) -> Bool { a.rawValue < b.rawValue }

  /// What becomes of a running job when something that it requires is lost.
  public enum Loss: String, Hashable, Codable, Sendable {
    case goesOn
    /// Its handler is cancelled, and the job goes back, its attempt given back.
    case interrupts
  }
}

extension [JobConstraint: Bool] {
  /// What holds for a worker for which `own` does: what was set for all goes first.
  package func holding(_ own: Set<JobConstraint>) -> Set<JobConstraint> {
    isEmpty ? own : own.filter { self[$0] ?? true }.union(lazy.filter(\.value).map(\.key))
  }
}

extension [StoreSetting] {
  /// What is set by hand of constraints.
  package var constraints: [JobConstraint: Bool] {
    reduce(into: [:]) { if case .constraint(let name, let isSatisfied) = $1 { $0[name] = isSatisfied } }
  }
}
