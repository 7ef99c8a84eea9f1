import Foundation

/// How a job ended, for one that runs in either case: `@JobInput var upload: JobOutcome<RemoteID>`.
public enum JobOutcome<Output: Codable & Sendable>: Codable, Sendable {
  case succeeded(Output)
  /// Also if it was cancelled or skipped: ``JobFailure/state`` tells.
  case failed(JobFailure)

  /// Its output; throws its failure.
  public func get() throws(JobFailure) -> Output {
    switch self {
    case .succeeded(let output): return output
    case .failed(let failure): throw failure
    }
  }
}

extension JobOutcome: Equatable where Output: Equatable {}
extension JobOutcome: Hashable where Output: Hashable {}

/// What a ``JobInput`` can find in any end, for code that knows its type only when it runs.
protocol JobEndReader {
  init(_ end: JobEnd) throws
}

extension JobOutcome: JobEndReader {
  init(_ end: JobEnd) throws {
    switch end {
    case .succeeded(let output): self = .succeeded(try JobCoding.decodeOutput(output))
    case .failed(let failure): self = .failed(failure)
    }
  }
}
