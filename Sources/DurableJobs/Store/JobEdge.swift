import Foundation

/// What a job waits for: an end of another job.
public struct JobEdge: Hashable, Codable, Sendable {
  public enum Target: Hashable, Codable, Sendable {
    /// A job of the same insertion, by its place, which is before the one that waits.
    case sibling(Int)
    case job(JobID)
    /// The newest unfinished job of the store with this ``JobTerms/key``; else the newest that succeeded; else the first
    /// that is enqueued later.
    case key(String)
  }

  public enum Condition: String, Codable, Hashable, Sendable, CaseIterable {
    case succeeded
    /// However it ends.
    case ended
    /// It failed, or was skipped because another failed.
    case failed
  }

  public var target: Target
  public var condition: Condition
  /// Under which number the end of the other is handed to this job: see ``ClaimedJob/inputs``. Nil if it is only waited for.
  public var slot: Int?

  public init(_ target: Target, _ condition: Condition = .succeeded, slot: Int? = nil) {
    self.target = target
    self.condition = condition
    self.slot = slot
  }
}

extension JobEdge {
  package var job: JobID? { if case .job(let id) = target { id } else { nil } }

  package func isBefore(_ other: JobEdge) -> Bool { Self.isBefore(self, other) }

  /// As they are told of a job: keys last.
  package static func isBefore(_ a: JobEdge, _ b: JobEdge) -> Bool {
    func rank(_ edge: JobEdge) -> (Int64, String, Int, Int) {
      let key = if case .key(let key) = edge.target { key } else { "" }
      return (edge.job?.rawValue ?? .max, key, Condition.allCases.firstIndex(of: edge.condition) ?? 0, edge.slot ?? -1)
    }
    return rank(a) < rank(b)
  }
}

/// How a job ended, for one that needs it.
public enum JobEnd: Hashable, Sendable {
  case succeeded(output: Data?)
  case failed(JobFailure)
}
