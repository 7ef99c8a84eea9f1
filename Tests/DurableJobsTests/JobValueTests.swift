import DurableJobs
import Foundation
import Testing

/// Values that have rules of their own: options, times, filters, texts, counts, ids.
@Suite struct JobValueTests {
  private let now = Date(milliseconds: 1_000_000)

  // MARK: Options

  @Test func `Counts are printed as words`() {
    #expect("\(JobCounts([.succeeded: 201, .ready: 2, .failed: 0]))" == "2 ready, 201 succeeded")
    #expect("\(JobCounts())" == "none")
  }

  @Test("Options that are set replace those that stood, the others stay, and tags add up")
  func options() {
    let kind = JobOptions(
      priority: .low, start: .after(.seconds(5)), maxAttempts: 3, timeout: .seconds(9), key: "k",
      unique: UniqueKey("u"), tags: ["a"])
    #expect(kind.overridden(by: JobOptions()) == kind)
    #expect(JobOptions().overridden(by: kind) == kind)
    let call = JobOptions(priority: .high, start: .now, tags: ["b"])
    let both = JobOptions(
      priority: .high, start: .now, maxAttempts: 3, timeout: .seconds(9), key: "k", unique: UniqueKey("u"),
      tags: ["a", "b"])
    #expect(kind.overridden(by: call) == both)
    #expect(kind.overridden(by: JobOptions(unique: UniqueKey("v"))).unique == UniqueKey("v"))
  }

  // MARK: Payloads

  private struct Words: JobPayload {
    static let kind = "words"
    var words: [String: Int]
  }

  @Test("C49 The bytes of a payload depend neither on the process nor on the order of its keys")
  func sortedKeys() throws {
    let words = Dictionary(uniqueKeysWithValues: (0..<9).map { ("k\($0)", $0) })
    let job = try JobQueue(store: InMemoryStore()).prepare(Words(words: words))
    #expect(
      String(decoding: job.payload, as: UTF8.self)
        == #"{"words":{"k0":0,"k1":1,"k2":2,"k3":3,"k4":4,"k5":5,"k6":6,"k7":7,"k8":8}}"#)
  }

  /// Notes whether it is encoded on the main actor's queue.
  private struct Placed: JobPayload {
    static let kind = "placed"
    static let mark = DispatchSpecificKey<Bool>()
    static let places = Lock<[Bool]>([])
    static var isOnMain: Bool { DispatchQueue.getSpecific(key: mark) ?? false }

    func encode(to encoder: any Encoder) throws {
      Self.places.withLock { $0.append(Self.isOnMain) }
      try Words(words: [:]).encode(to: encoder)
    }
  }

  @MainActor
  @Test("C62 Of 5,000 jobs that the main actor enqueues, none is encoded there")
  func mainActor() async throws {
    DispatchQueue.main.setSpecific(key: Placed.mark, value: true)
    let queue = JobQueue(store: InMemoryStore())
    try await queue.enqueue(contentsOf: Array(repeating: Placed(), count: 4_900))
    for _ in 0..<100 { try await queue.enqueue(Placed()) }
    #expect(Placed.isOnMain)
    #expect(Placed.places.withLock(\.self) == Array(repeating: false, count: 5_000))
  }

  // MARK: Times

  @Test("A time that is not ahead is now")
  func past() {
    for time: JobTime in [.now, .after(.zero), .after(.seconds(-1)), .at(now), .at(.distantPast)] {
      #expect(time.date(at: now) == nil, "\(time)")
    }
  }

  @Test("A time ahead is a date in whole milliseconds, and no wait is cut short")
  func ahead() {
    #expect(JobTime.after(.milliseconds(1500)).date(at: now) == Date(milliseconds: 1_001_500))
    #expect(JobTime.after(.nanoseconds(1)).date(at: now) == Date(milliseconds: 1_000_001))
    #expect(JobTime.at(Date(milliseconds: 2_000_000)).date(at: now) == Date(milliseconds: 2_000_000))
  }

  @Test("Times out of all bounds are dates far away, and trap nowhere")
  func bounds() throws {
    for time: JobTime in [
      .after(.seconds(Int64.max)), .after(.milliseconds(Int64.max)), .at(.distantFuture),
      .at(Date(timeIntervalSince1970: .infinity)),
    ] {
      let date = try #require(time.date(at: now), "\(time)")
      #expect(date > now && date.milliseconds <= 9_000_000_000_000_000)
    }
    #expect(JobTime.at(Date(timeIntervalSince1970: .nan)).date(at: now) == nil)
    #expect(JobTime.after(.seconds(Int64.min)).date(at: now) == nil)
  }

  // MARK: Filters

  private struct Photo: JobPayload {
    static let kind = "photo"
    static let formerKinds = ["image", "picture"]
  }

  @Test("A filter matches by what it names, and operators combine what they join")
  func filters() {
    let job = JobSnapshot(
      id: JobID(rawValue: 7), queue: "q", kind: "image", key: "key", tags: ["a", "b"], state: .running, createdAt: now)
    let yes: [JobFilter] = [
      .all, .id(JobID(rawValue: 7)), .queue("q"), .kind("image"), .state(.running), .tag("a"), .tag("b"), .key("key"),
      .kind(Photo.self),
    ]
    let no: [JobFilter] = [
      .id(JobID(rawValue: 8)), .queue("Q"), .kind("photo"), .state(.ready), .tag("c"), .tag("ab"), .key("ke"),
      .heldBy(.request),
    ]
    for filter in yes {
      #expect(filter.matches(job), "\(filter)")
      #expect(!(!filter).matches(job), "\(filter)")
      for other in no {
        #expect(!(filter && other).matches(job) && (filter || other).matches(job))
        #expect((filter && !other).matches(job) && !(!filter || other).matches(job))
      }
    }
    for filter in no { #expect(!filter.matches(job) && (!filter).matches(job), "\(filter)") }
  }

  // MARK: Texts

  @Test("A text is cut between two characters, and says that it was", arguments: ["x", "é", "€", "😀", "👨‍👩‍👧‍👦", "e\u{301}"])
  func cut(character: String) {
    for count in 0...40 {
      let text =
        String(repeating: "a", count: Limits.messageBytes - 20 + count % 7) + String(repeating: character, count: count)
      let cut = text.cutToMessage
      #expect(cut.utf8.count <= Limits.messageBytes)
      if text.utf8.count <= Limits.messageBytes {
        #expect(cut == text)
      } else {
        #expect(cut.hasSuffix(" …"))
        #expect(text.hasPrefix(cut.dropLast(2)))
        #expect(!cut.unicodeScalars.contains("\u{FFFD}"))
      }
    }
  }

  @Test("Progress is from 0 to 1, whatever is told")
  func progress() {
    #expect([-1, 0, 0.5, 1, 7, .infinity, .nan].map { JobProgress(fraction: $0).fraction } == [0, 0, 0.5, 1, 1, 0, 0])
  }

  @Test("A time that was taken before the newest one and is told after it is not taken for the newest")
  func seenTime() {
    var seen = SeenTime(latest: 0)
    seen.saw(10_000_000, .seconds(10))
    seen.saw(6_402_000, .seconds(12))
    seen.saw(10_001_000, .seconds(11))
    #expect(seen.setBack(at: 6_403_000, .seconds(13)) == 0)
    #expect(seen.setBacks == 1)
    #expect(seen.setBack(at: 2_803_000, .seconds(13)) == 3_600_000)
  }

  @Test("Clocks that drift apart are not taken for one that was set back, however long nobody looked")
  func drift() {
    var seen = SeenTime(latest: 0)
    seen.saw(10_000_000, .seconds(10))
    let hours = Duration.seconds(60 * 3600)
    let now = 10_000_000 + hours.milliseconds
    // By 20 ppm, and by as much as a clock is slewed at most.
    for drift in [4_300, 108_000] as [Int64] { #expect(seen.setBack(at: now - drift, .seconds(10) + hours) == 0) }
    #expect(seen.setBack(at: now - 3_600_000, .seconds(10) + hours) == 3_600_000)
  }

  // MARK: Counts and ids

  @Test("Counts of nothing are equal however they came about")
  func counts() {
    var counts = JobCounts([.ready: 2, .failed: 0])
    counts[.ready] -= 2
    #expect(counts == JobCounts())
    let mixed = JobCounts([.ready: 1, .suspended: 2, .succeeded: 4, .skipped: 8])
    #expect(mixed.total == 15)
    #expect(mixed.unfinished == 3)
  }

  @Test("C65 Ids go beyond 2⁵³ and come back from text and JSON as they were")
  func ids() throws {
    let id = JobID(rawValue: 1 << 53 + 1)
    #expect(JobID(id.description) == id)
    #expect(try JSONDecoder().decode([JobID].self, from: JSONEncoder().encode([id])) == [id])
    for text in ["", "0", "-1", "x", "9223372036854775808"] { #expect(JobID(text) == nil) }
  }

  @Test("A setting out of bounds is refused before it is stored, by a message that names it")
  func checks() throws {
    let long = String(repeating: "n", count: Limits.nameBytes + 1)
    for (job, word) in [
      (NewJob(queue: "", kind: "k", payload: Data()), "queue"),
      (NewJob(queue: "q", kind: long, payload: Data()), "kind"),
      (NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(key: long)), "key"),
      (NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(unique: UniqueKey(long))), "unique key"),
      (NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(tags: [""])), "tag"),
      (NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(maxAttempts: 0)), "maxAttempts"),
      (NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(timeout: .zero)), "timeout"),
    ] {
      let error = try #require(throws: JobError.self) { try job.check() }
      #expect(error.code == .invalidArgument)
      #expect(error.message.contains(word))
    }
    try NewJob(queue: "q", kind: String(repeating: "n", count: Limits.nameBytes), payload: Data()).check()
  }
}
