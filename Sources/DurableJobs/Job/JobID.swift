/// A job's number in its store. Numbers ascend in the order of enqueueing and are never reused.
public struct JobID: RawRepresentable, Hashable, Comparable, Codable, Sendable, LosslessStringConvertible {
  public let rawValue: Int64

  public init(rawValue: Int64) { self.rawValue = rawValue }

  public init?(_ description: String) {
    guard let rawValue = Int64(description), rawValue > 0 else { return nil }
    self.rawValue = rawValue
  }

  public var description: String { String(rawValue) }

  public static func < (a: JobID, b: JobID) -> Bool { a.rawValue < b.rawValue }
}
