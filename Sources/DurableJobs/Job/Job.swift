import Foundation

/// What is stored of a job: its parameters, without the code that runs it.
///
/// The payload is kept as JSON. A process that only enqueues needs nothing more; the code comes with
/// ``JobWorker/register(_:retry:handler:)``, or with ``Job`` where data and code live in one type.
public protocol JobPayload: Codable, Sendable {
  /// What the handler returns: `Void`, or anything that is `Codable` and `Sendable`.
  associatedtype Output: Sendable = Void

  /// The stable name of this kind of job. It is stored, so the type may be renamed, and this not.
  static var kind: String { get }

  /// Names that this kind had before; a worker that knows the kind runs their jobs too. None by default.
  static var formerKinds: [String] { get }

  /// When a failed attempt is followed by another. The worker asks it, so a new version of the program may answer
  /// differently for jobs that are stored already. How many attempts there are is stored with each: see ``options-swift.type.property``.
  static var retry: RetryPolicy { get }

  /// What is stored with each job of the kind. A call's own options go before these.
  static var options: JobOptions { get }

  /// The same where it depends on the payload. ``options-swift.type.property`` by default.
  var options: JobOptions { get }

  /// Provided for outputs that are `Codable`, and for `Void`.
  static var outputCoding: OutputCoding<Output> { get }

  /// Asked before the job is stored, where a throw refuses it, and before each run, where a throw fails it for good. A job
  /// with a ``JobInput`` that has not come yet is only asked before each run, when all have.
  func validate() throws
}

/// A job with its code in the same type.
public protocol Job: JobPayload {
  associatedtype Output

  /// Does the work. It may run more than once: again after a throw, as the kind's ``JobPayload/retry`` says, and again
  /// if the process dies before the result is stored.
  func run(in context: JobContext) async throws -> Output
}

extension JobPayload {
  public static var formerKinds: [String] { [] }
  public static var retry: RetryPolicy { .exponential() }
  public static var options: JobOptions { JobOptions() }
  public var options: JobOptions { Self.options }
  public func validate() throws {}
}

/// How the output of a kind is stored.
public struct OutputCoding<Output: Sendable>: Sendable {
  package let encode: @Sendable (Output) throws -> Data?
  package let decode: @Sendable (Data?) throws -> Output
}

extension JobPayload where Output == Void {
  public static var outputCoding: OutputCoding<Void> {
    OutputCoding(encode: { _ in nil }, decode: { _ in })
  }
}

extension JobPayload where Output: Codable {
  public static var outputCoding: OutputCoding<Output> {
    OutputCoding(
      encode: { try JobCoding.encode($0) },
      decode: { try JobCoding.decodeOutput($0) })
  }
}

extension JobPayload {
  @available(
    *, unavailable,
    message: """
      Output must be Void or Codable and Sendable. In a module whose default isolation is the main actor, declare the \
      output type 'nonisolated'.
      """
  )
  public static var outputCoding: OutputCoding<Output> { fatalError("unavailable") }
}

/// A job as it is stored, for faces that know no Swift type for it: a shell, tasks named by a string.
public struct UntypedJob: Sendable {
  public let kind: String
  /// JSON, unless whoever enqueued it chose otherwise.
  public let payload: Data
}

/// JSON as jobs are stored: keys in order, so that equal payloads are equal bytes in every process.
enum JobCoding {
  static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }

  static func encode(_ value: some Encodable) throws -> Data { try encoder.encode(value) }

  /// `inputs`: what came for a payload's inputs, if that is known.
  static func decode<T: Decodable>(_ type: T.Type, from data: Data, inputs: [Int: JobEnd]? = nil) throws -> T {
    let decoder = JSONDecoder()
    // An input that is still open has a key with a dollar; a payload without one is spared what a decoder costs with it.
    if let inputs, data.contains(where: { $0 == UInt8(ascii: "$") || $0 == UInt8(ascii: "\\") }) {
      decoder.userInfo = [.jobInputs: inputs]
    }
    return try decoder.decode(type, from: data)
  }

  static func decodeOutput<T: Decodable>(_ output: Data?) throws -> T {
    try decode(T.self, from: output ?? Data("null".utf8))
  }
}
