import Foundation

/// The stored part of a job: its parameters, without the code that runs it.
///
/// The payload is stored as JSON. A process that only enqueues needs nothing more. The code is supplied by
/// ``JobWorker/register(_:retry:handler:)``, or by ``Job`` where data and code live in one type.
public protocol JobPayload: Codable, Sendable {
  /// What the handler returns: `Void`, or any type that is `Codable` and `Sendable`.
  associatedtype Output: Sendable = Void

  /// The stable name of this kind of job. It is stored: the Swift type may be renamed, but this may not.
  static var kind: String { get }

  /// Earlier names of this kind; a worker that knows the kind runs their jobs too. None by default.
  static var formerKinds: [String] { get }

  /// When to retry a failed attempt. It is not stored: a new version of the program may use another policy for existing
  /// jobs. The maximum number of attempts is stored with each job: see ``options-swift.type.property``.
  static var retry: RetryPolicy { get }

  /// The options stored with each job of this kind. Options passed to a call take precedence.
  static var options: JobOptions { get }

  /// Options that depend on the payload. By default the same as ``options-swift.type.property``.
  var options: JobOptions { get }

  /// How the output is stored. Provided for `Codable` outputs and for `Void`.
  static var outputCoding: OutputCoding<Output> { get }

  /// Checks the payload before the job is stored, where throwing rejects it, and before each run, where throwing fails
  /// it for good. A job with a ``JobInput`` that has no value yet is only checked before each run, once all have one.
  func validate() throws
}

/// A job whose code is in the same type as its payload.
public protocol Job: JobPayload {
  associatedtype Output

  /// Does the work. It may be called more than once: again after it throws, as the kind's ``JobPayload/retry`` says,
  /// and again if the process dies before the result is stored.
  func run(in context: JobContext) async throws -> Output
}

extension JobPayload {
  public static var formerKinds: [String] { [] }
  public static var retry: RetryPolicy { .exponential() }
  public static var options: JobOptions { JobOptions() }
  public var options: JobOptions { Self.options }
  public func validate() throws {}

  @available(
    *, unavailable,
    message: """
      Output must be Void or Codable and Sendable. In a module whose default isolation is the main actor, declare the \
      output type 'nonisolated'.
      """
  )
  public static var outputCoding: OutputCoding<Output> { fatalError("unavailable") }
}

/// How the output of a kind is stored.
public struct OutputCoding<Output: Sendable>: Sendable {
  package let encode: @Sendable (Output) throws -> Data?
  package let decode: @Sendable (Data?) throws -> Output
}

extension JobPayload where Output == Void {
  public static var outputCoding: OutputCoding<Void> { OutputCoding(encode: { _ in nil }, decode: { _ in }) }
}

extension JobPayload where Output: Codable {
  public static var outputCoding: OutputCoding<Output> {
    OutputCoding(encode: { try JobCoding.encode($0) }, decode: { try JobCoding.decodeOutput($0) })
  }
}

/// A job as it is stored, for callers that have no Swift type for it, such as a shell.
public struct UntypedJob: Sendable {
  public let kind: String
  /// The payload's bytes: JSON, unless whoever enqueued it chose otherwise.
  public let payload: Data
}

/// The JSON that jobs are stored as: keys are sorted, so that equal payloads are equal bytes in every process.
enum JobCoding {
  private static let decoder = JSONDecoder()
  static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }

  static func encode(_ value: some Encodable) throws -> Data { try encoder.encode(value) }

  /// `inputs`: the values of the payload's inputs, if they are known.
  static func decode<T: Decodable>(_ type: T.Type, from data: Data, inputs: [Int: JobEnd]? = nil) throws -> T {
    guard let inputs, mayHaveOpen(data) else { return try decoder.decode(type, from: data) }
    let decoder = JSONDecoder()
    decoder.userInfo = [.jobInputs: inputs]
    return try decoder.decode(type, from: data)
  }

  /// An open input has a key with a dollar sign, or with that in its escaped form.
  private static func mayHaveOpen(_ data: Data) -> Bool {
    data.withUnsafeBytes { data in
      data.baseAddress.map { memchr($0, 0x24, data.count) != nil || memchr($0, 0x5C, data.count) != nil } ?? false
    }
  }

  static func decodeOutput<T: Decodable>(_ output: Data?) throws -> T {
    try decode(T.self, from: output ?? Data("null".utf8))
  }
}
