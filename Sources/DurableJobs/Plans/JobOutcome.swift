/// How a job ended, for a job that runs either way: `@JobInput var upload: JobOutcome<RemoteID>`.
public enum JobOutcome<Output: Codable & Sendable>: Codable, Sendable {
  case succeeded(Output)
  /// The job failed, was cancelled or was skipped: ``JobFailure/state`` says which.
  case failed(JobFailure)

  /// Returns the output or throws the failure.
  public func get() throws(JobFailure) -> Output {
    switch self {
    case .succeeded(let output): return output
    case .failed(let failure): throw failure
    }
  }
}

extension JobOutcome: Equatable where Output: Equatable {}
extension JobOutcome: Hashable where Output: Hashable {}

/// A ``JobInput`` value that can be made from any end of a job, for code that knows its type only at run time.
protocol JobEndReader { init(_ end: JobEnd) throws }

extension JobOutcome: JobEndReader {
  init(_ end: JobEnd) throws {
    switch end {
    case .succeeded(let output): self = .succeeded(try JobCoding.decodeOutput(output))
    case .failed(let failure): self = .failed(failure)
    }
  }
}
