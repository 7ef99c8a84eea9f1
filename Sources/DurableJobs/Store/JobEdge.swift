import Foundation

/// A dependency of a job: an end of another job.
public struct JobEdge: Hashable, Codable, Sendable {
  public enum Target: Hashable, Codable, Sendable {
    /// A job of the same insertion, by its index, which is lower than that of the waiting job.
    case sibling(Int)
    case job(JobID)
    /// The newest unfinished job in the store with this ``JobTerms/key``, else the newest that succeeded, else the
    /// first to be enqueued later.
    case key(String)
  }

  public enum Condition: String, Codable, Hashable, Sendable, CaseIterable {
    case succeeded
    /// The job has ended in any way.
    case ended
    /// The job failed, or was skipped because another failed.
    case failed
  }

  public var target: Target
  public var condition: Condition
  /// The number under which the handler gets the other job's end: see ``ClaimedJob/inputs``. Nil for a mere dependency.
  public var slot: Int?

  public init(_ target: Target, _ condition: Condition = .succeeded, slot: Int? = nil) {
    (self.target, self.condition, self.slot) = (target, condition, slot)
  }

  package var job: JobID? { if case .job(let id) = target { id } else { nil } }

  /// The order in which edges are shown: keys last.
  package static func isBefore(_ a: JobEdge, _ b: JobEdge) -> Bool {
    func rank(_ edge: JobEdge) -> (Int64, String, Int, Int) {
      let key = if case .key(let key) = edge.target { key } else { "" }
      return (edge.job?.rawValue ?? .max, key, Condition.allCases.firstIndex(of: edge.condition) ?? 0, edge.slot ?? -1)
    }
    return rank(a) < rank(b)
  }
}

/// How a job ended, for a job that depends on it.
public enum JobEnd: Hashable, Sendable {
  case succeeded(output: Data?)
  case failed(JobFailure)
}
