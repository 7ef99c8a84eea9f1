import Foundation

/// A parameter of a job that another job provides: its output, its outcome or its failure.
///
///     struct FetchAvatar: Job {
///       @JobInput var session: Session
///       var size: Int
///       static let kind = "fetch-avatar"
///       func run(in context: JobContext) async throws -> Avatar { try await server.avatar(of: session, size: size) }
///     }
///     try await queue.enqueue(FetchAvatar(session: login.output, size: 64))
///
/// A job depends on the jobs that its inputs come from, and runs only once all of them have values, so its handler can
/// always read them. An input that does not decode as `Value` suspends the job, as such a payload does. A constant is
/// stored as the plain value, so a property can be turned into an input while jobs with it are in the store.
///
/// Until then an input from another job has no value: ``JobPayload/options-swift.property`` must not read it, and in a
/// payload from ``JobQueue/jobs(of:where:detail:order:after:limit:)``, `$session.value` is nil.
@propertyWrapper
public struct JobInput<Value: Codable & Sendable>: Codable, Sendable {
  fileprivate enum Content: Sendable {
    case value(Value)
    /// To be stored as a slot of the job that it is part of.
    case awaited(JobDependency)
    /// Decoded before the value was available.
    case open(slot: Int)
  }

  private let content: Content

  private init(_ content: Content) { self.content = content }
  init(awaiting dependency: JobDependency) { self.init(.awaited(dependency)) }

  /// An input whose value is already known.
  public static func constant(_ value: Value) -> Self { Self(.value(value)) }

  /// The value, for use in a handler. Reading it before it is available traps.
  public var wrappedValue: Value {
    guard let value else {
      fatalError("This \(JobInput.self) is read before it has come. Handlers find it; '$name.value' is nil until then.")
    }
    return value
  }

  public var projectedValue: JobInput<Value> { self }

  /// The value, or nil if it is not available yet.
  public var value: Value? { if case .value(let value) = content { value } else { nil } }
}

extension JobInput.Content: Equatable where Value: Equatable {}
extension JobInput.Content: Hashable where Value: Hashable {}
extension JobInput: Equatable where Value: Equatable {}
extension JobInput: Hashable where Value: Hashable {}

// MARK: Coding

extension JobInput {
  public func encode(to encoder: any Encoder) throws {
    let inputs = encoder.userInfo[.collectedInputs] as? InputCollector
    switch (content, inputs) {
    case (.value(let value), _):
      if Mark.isOne(value, inputs) {
        var container = encoder.container(keyedBy: InputKey.self)
        try container.encode(value, forKey: .constant)
      } else {
        var container = encoder.singleValueContainer()
        try container.encode(value)
      }
    case (.awaited(let dependency), let inputs?):
      var container = encoder.container(keyedBy: InputKey.self)
      try container.encode(inputs.slot(for: dependency), forKey: InputKey(dependency.condition))
    case (.awaited, nil), (.open, _):
      inputs?.meetOpenInput()
      throw EncodingError.invalidValue(
        "an input",
        EncodingError.Context(
          codingPath: encoder.codingPath,
          debugDescription: "it has not come yet, and only the job that it was made for can be stored with it"))
    }
  }

  public init(from decoder: any Decoder) throws {
    guard let (key, slot) = InputKey.slot(in: decoder) else {
      self.init(.value(try Mark.wrapped(in: decoder) ?? decoder.singleValueContainer().decode(Value.self)))
      return
    }
    guard let inputs = decoder.userInfo[.jobInputs] as? [Int: JobEnd] else {
      self.init(.open(slot: slot))
      return
    }
    do { self.init(.value(try Self.value(of: inputs[slot], key.condition))) } catch {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: "what came is no \(Value.self): \(error.briefly)"))
    }
  }

  private static func value(of end: JobEnd?, _ condition: JobEdge.Condition) throws -> Value {
    var value: Any?
    switch (condition, end) {
    case (.succeeded, .succeeded(let output)): return try JobCoding.decodeOutput(output)
    case (.failed, .failed(let failure)): value = failure
    case (.ended, let end?): value = try (Value.self as? any JobEndReader.Type)?.init(end)
    default: break
    }
    guard let value = value as? Value else { throw JobError(.notDecodable, end.map { "\($0)" } ?? "nothing has come") }
    return value
  }
}

/// The stored form of an input without a value: `{"$input":0}`, where the number is the slot of its edge.
private struct InputKey: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }

  init(_ condition: JobEdge.Condition) {
    switch condition {
    case .succeeded: stringValue = "$input"
    case .ended: stringValue = "$outcome"
    case .failed: stringValue = "$failure"
    }
  }

  var condition: JobEdge.Condition { JobEdge.Condition.allCases.first { InputKey($0).stringValue == stringValue }! }

  /// Wraps a constant that would be mistaken for an input: `{"$constant":{"$input":0}}`.
  static let constant = InputKey(stringValue: "$constant")
  static let all = JobEdge.Condition.allCases.map { InputKey($0) } + [constant]

  static func slot(in decoder: any Decoder) -> (InputKey, Int)? {
    guard let container = try? decoder.container(keyedBy: InputKey.self), container.allKeys.count == 1,
      let key = JobEdge.Condition.allCases.map({ InputKey($0) }).first(where: { container.contains($0) }),
      let slot = try? container.decode(Int.self, forKey: key)
    else { return nil }
    return (key, slot)
  }
}

/// Whether a value is an object whose only key is one of ours, which no unwrapped constant may be. `$constant` around
/// anything else is an ordinary value, perhaps stored by a program that did not know the key.
private struct Mark: Decodable {
  let isOne: Bool

  init(from decoder: any Decoder) {
    let keys = (try? decoder.container(keyedBy: InputKey.self))?.allKeys ?? []
    isOne = keys.count == 1 && InputKey.all.contains { $0.stringValue == keys[0].stringValue }
  }

  /// Whether a constant would be stored as such an object.
  static func isOne(_ value: some Encodable, _ inputs: InputCollector?) -> Bool {
    let encoder = JobCoding.encoder
    if let inputs { encoder.userInfo[.collectedInputs] = inputs }
    guard let json = try? encoder.encode(value), json.starts(with: Data(#"{"$"#.utf8)) else { return false }
    return (try? JSONDecoder().decode(Mark.self, from: json))?.isOne ?? false
  }

  /// The constant, if the stored object wraps one.
  static func wrapped<Value: Decodable>(in decoder: any Decoder) throws -> Value? {
    guard let container = try? decoder.container(keyedBy: InputKey.self), container.allKeys.count == 1,
      let mark = try? container.decode(Mark.self, forKey: .constant), mark.isOne
    else { return nil }
    return try container.decode(Value.self, forKey: .constant)
  }
}

/// Encodes payloads and collects what each of them waits for.
struct PayloadEncoder {
  private let encoder = JobCoding.encoder
  private let inputs = InputCollector()

  init() { encoder.userInfo[.collectedInputs] = inputs }

  /// Those that nobody uses now: to make one costs as much as to encode a small payload.
  private static let idle = Lock<[PayloadEncoder]>([])

  static func lent<R>(to body: (PayloadEncoder) throws -> R) rethrows -> R {
    let encoder = idle.withLock { $0.popLast() } ?? PayloadEncoder()
    defer { idle.withLock { $0.append(encoder) } }
    return try body(encoder)
  }

  /// `hasOpen`: whether some input has no value yet.
  func encode(_ value: some Encodable) -> (payload: Result<Data, any Error>, inputs: [JobDependency], hasOpen: Bool) {
    let payload = Result { try encoder.encode(value) }
    let (inputs, hasOpen) = inputs.take()
    return (payload, inputs, hasOpen)
  }
}

/// The inputs of a payload that is being encoded.
private final class InputCollector: @unchecked Sendable {
  // Checked by hand: only used by the one who encodes, during the call.
  @exclusivity(unchecked) private var slots = Slots<JobDependency>()
  @exclusivity(unchecked) private var hasOpen = false

  func take() -> (dependencies: [JobDependency], hasOpen: Bool) {
    defer { (slots, hasOpen) = (Slots(), false) }
    return (slots.elements, hasOpen)
  }

  func slot(for dependency: JobDependency) -> Int {
    meetOpenInput()
    return slots.number(of: dependency)
  }

  func meetOpenInput() { hasOpen = true }
}

/// Numbers from 0, one for each element.
struct Slots<Element: Hashable> {
  private(set) var elements: [Element] = []
  private var numbers: [Element: Int] = [:]

  mutating func number(of element: Element) -> Int {
    if let number = numbers[element] { return number }
    numbers[element] = elements.count
    elements.append(element)
    return elements.count - 1
  }
}

extension CodingUserInfoKey {
  static let collectedInputs = CodingUserInfoKey(rawValue: "DurableJobs.collectedInputs")!
  static let jobInputs = CodingUserInfoKey(rawValue: "DurableJobs.jobInputs")!
}
