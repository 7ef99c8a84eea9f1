import Foundation
import Testing

@testable import DurableJobs

/// What an input stands for in a payload, what it makes its job wait for, and what it is when the job runs.
@Suite struct InputTests {
  let queue = JobQueue(store: InMemoryStore())
  var part: JobHandle<Part> { queue.handle(JobID(rawValue: 7), as: MakePart.self) }
  var other: JobHandle<Part> { queue.handle(JobID(rawValue: 8), as: MakePart.self) }

  @Test func `An input is stored as a slot, and its job waits for the end that it asks for`() throws {
    let job = try queue.prepare(
      Assemble(first: part.output, second: other.outcome, why: part.failure, name: "engine"))
    #expect(
      job.json == #"{"first":{"$input":0},"name":"engine","second":{"$outcome":1},"why":{"$failure":2}}"#)
    #expect(
      job.edges == [
        JobEdge(.job(part.id), .succeeded, slot: 0), JobEdge(.job(other.id), .ended, slot: 1),
        JobEdge(.job(part.id), .failed, slot: 2),
      ])
  }

  @Test func `The same end of the same job has one slot, also if it is waited for besides`() throws {
    let job = try queue.prepare(Join(parts: [part.output, other.output, part.output]), after: [part.id, other, part])
    #expect(job.json == #"{"parts":[{"$input":0},{"$input":1},{"$input":0}]}"#)
    #expect(job.edges == [JobEdge(.job(part.id), slot: 0), JobEdge(.job(other.id), slot: 1)])
  }

  @Test func `For its slot an input is compared with few others, however many there are`() {
    let inputs = (0..<10_000).map { Counted(number: $0) }
    var slots = Slots<Counted>()
    for (number, input) in (inputs + inputs).enumerated() { #expect(slots.number(of: input) == number % 10_000) }
    #expect(slots.elements == inputs)
    #expect(Counted.comparisons.value < 100_000)
  }

  private struct Counted: Hashable {
    static let comparisons = Lock(0)
    let number: Int

    static func == (a: Self, b: Self) -> Bool {
      comparisons.withLock { $0 += 1 }
      return a.number == b.number
    }
  }

  @Test func `A constant is stored as the value itself`() throws {
    let url = try #require(URL(string: "https://example.org/a?b=c"))
    let job = try queue.prepare(Keep(place: .constant(url), note: .constant(nil), count: .constant(3)))
    #expect(job.json == #"{"count":3,"note":null,"place":"https://example.org/a?b=c"}"#)
    #expect(job.edges.isEmpty)
    let kept = try JobCoding.decode(Keep.self, from: job.payload, inputs: [:])
    #expect(kept.place == url)
    #expect(kept.note == nil)
    #expect(kept.count == 3)
  }

  @Test(arguments: [
    #"{"$input":0}"#, #"{"$outcome":0}"#, #"{"$failure":0}"#, #"{"$constant":0}"#, #"{"$other":0}"#,
    #"{"$input":0,"x":1}"#,
    #"{"$constant":{"$input":0}}"#, #"{"$constant":{"$constant":{"$failure":1}}}"#, #"{"$input":{"$input":0}}"#, "{}",
  ])
  func `A constant that looks like an input, or like another constant, comes as it was given`(_ json: String) throws {
    let value = try JobCoding.decode(Tree.self, from: Data(json.utf8))
    let job = try queue.prepare(Grow(trunk: other.tree, trees: [.constant(value)]))
    #expect(job.edges == [JobEdge(.job(other.id), slot: 0)])
    let come = try JobCoding.decode(
      Grow.self, from: job.payload, inputs: [0: .succeeded(output: Data(#"{"secret":7}"#.utf8))])
    #expect(come.trunk == .node(["secret": .leaf(7)]))
    #expect(come.trees.map(\.value) == [value])
    #expect(try JobCoding.decode(Grow.self, from: job.payload).trees.map(\.value) == [value])
  }

  @Test func `A constant that was stored as it is decodes, also with a key that is another's now`() throws {
    let payload = Data(#"{"trees":[{"$constant":{"a":1}},{"$constant":3}],"trunk":{"a":1}}"#.utf8)
    let trees = try JobCoding.decode(Grow.self, from: payload, inputs: [:]).trees.map(\.value)
    #expect(trees == [.node(["$constant": .node(["a": .leaf(1)])]), .node(["$constant": .leaf(3)])])
  }

  @Test func `What came is read by its slot`() throws {
    let job = try queue.prepare(
      Assemble(first: part.output, second: other.outcome, why: part.failure, name: "engine"))
    let failure = JobFailure(job: part.id, kind: "make-part", message: "no steel", attempts: 2)
    var inputs: [Int: JobEnd] = [
      0: .succeeded(output: Data(#"{"number":1}"#.utf8)), 1: .succeeded(output: Data(#"{"number":2}"#.utf8)),
      2: .failed(failure),
    ]
    var assembled = try JobCoding.decode(Assemble.self, from: job.payload, inputs: inputs)
    #expect(assembled.first == Part(number: 1))
    #expect(assembled.second == .succeeded(Part(number: 2)))
    #expect(assembled.why == failure)
    inputs[1] = .failed(failure)
    assembled = try JobCoding.decode(Assemble.self, from: job.payload, inputs: inputs)
    #expect(throws: failure) { try assembled.second.get() }
  }

  @Test func `An output that is an outcome or a failure itself is an input like any other`() throws {
    let told = queue.handle(JobID(rawValue: 9), as: Tell.self)
    let job = try queue.prepare(Hear(what: told.output))
    let failure = JobFailure(job: part.id, kind: "make-part", message: "no steel", attempts: 2)
    let output = try JobCoding.encode(JobOutcome<Part>.failed(failure))
    let heard = try JobCoding.decode(Hear.self, from: job.payload, inputs: [0: .succeeded(output: output)])
    #expect(heard.what == .failed(failure))
  }

  @Test(arguments: [
    [0: JobEnd.succeeded(output: Data(#"{"name":"x"}"#.utf8))], [0: .succeeded(output: nil)], [:],
    [0: .failed(JobFailure(job: JobID(rawValue: 7), kind: "make-part", message: "no steel", attempts: 2))],
  ])
  func `What came and is no such value does not decode, and the words name the input`(_ inputs: [Int: JobEnd]) throws {
    let job = try queue.prepare(Join(parts: [part.output]))
    let error = #expect(throws: DecodingError.self) {
      try JobCoding.decode(Join.self, from: job.payload, inputs: inputs)
    }
    #expect(try #require(error).briefly.hasPrefix("what came is no Part: "))
    #expect(try #require(error).briefly.contains("at parts"))
  }

  @Test func `A payload that is looked at has no value for an input that is to come, and can't be stored again`() throws
  {
    let job = try queue.prepare(Keep(place: .constant(URL(filePath: "/a")), note: .constant("b"), count: part.number))
    let seen = try JobCoding.decode(Keep.self, from: job.payload)
    #expect(seen.$count.value == nil)
    #expect(seen.$note.value == "b")
    let error = #expect(throws: JobError.self) { try queue.prepare(seen) }
    #expect(error?.code == .notEncodable)
    #expect(error?.message.contains("an input at count: it has not come yet") == true)
  }

  @Test func `A payload is validated before it is stored, unless an input is still to come`() throws {
    #expect(throws: Checked.Wrong.self) { try queue.prepare(Checked(part: .constant(Part(number: 0)))) }
    #expect(try queue.prepare(Checked(part: .constant(Part(number: 1)))).edges.isEmpty)
    #expect(try queue.prepare(Checked(part: part.output)).edges.count == 1)
  }

  @Test func `Payloads with inputs can be compared`() {
    #expect(Join(parts: [part.output]) == Join(parts: [part.output]))
    #expect(Join(parts: [part.output]) != Join(parts: [other.output]))
    #expect(Join(parts: [.constant(Part(number: 1))]) != Join(parts: [part.output]))
  }

  @Test func `References of all sorts stand in one list`() throws {
    let job = try queue.prepare(
      MakePart(), after: [part, other.id, .end(of: part), .failure(of: other), .key("import-7"), .end(of: .key("k"))])
    #expect(
      job.edges == [
        JobEdge(.job(part.id)), JobEdge(.job(other.id)), JobEdge(.job(part.id), .ended),
        JobEdge(.job(other.id), .failed), JobEdge(.key("import-7")), JobEdge(.key("k"), .ended),
      ])
    let all = try queue.prepare(MakePart(), after: [part, other])
    #expect(all.edges.map(\.slot) == [nil, nil])
  }

  @Test func `A node outside its plan can't be waited for`() throws {
    var plan = JobPlan()
    let node = plan.add(MakePart())
    let error = #expect(throws: JobError.self) { try queue.prepare(Join(parts: [node.output])) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.hasPrefix("'join' waits for a node that is not in its plan.") == true)
  }
}

extension NewJob {
  fileprivate var json: String { String(decoding: payload, as: UTF8.self) }
}

extension JobHandle {
  /// An input of another type than the output has.
  fileprivate var number: JobInput<Int> { JobInput(awaiting: dependency) }
  fileprivate var tree: JobInput<Tree> { JobInput(awaiting: dependency) }
}

struct Part: Codable, Hashable {
  var number: Int
}

struct MakePart: JobPayload {
  typealias Output = Part
  static let kind = "make-part"
}

struct Assemble: JobPayload {
  @JobInput var first: Part
  @JobInput var second: JobOutcome<Part>
  @JobInput var why: JobFailure
  var name: String
  static let kind = "assemble"
}

struct Join: JobPayload, Equatable {
  typealias Output = Int
  var parts: [JobInput<Part>]
  static let kind = "join"
}

/// Any JSON of objects and numbers.
private indirect enum Tree: Codable, Hashable {
  case leaf(Int)
  case node([String: Tree])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .leaf(number)
    } else {
      self = .node(try container.decode([String: Tree].self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .leaf(let number): try container.encode(number)
    case .node(let children): try container.encode(children)
    }
  }
}

private struct Grow: JobPayload {
  @JobInput var trunk: Tree
  var trees: [JobInput<Tree>]
  static let kind = "grow"
}

private struct Keep: JobPayload {
  @JobInput var place: URL
  @JobInput var note: String?
  @JobInput var count: Int
  static let kind = "keep"
  func validate() throws { _ = count }
}

private struct Tell: JobPayload {
  typealias Output = JobOutcome<Part>
  static let kind = "tell"
}

private struct Hear: JobPayload {
  @JobInput var what: JobOutcome<Part>
  static let kind = "hear"
}

private struct Checked: JobPayload {
  struct Wrong: Error {}
  @JobInput var part: Part
  static let kind = "checked"
  func validate() throws { if part.number == 0 { throw Wrong() } }
}
