import DurableJobs
import Foundation
import Testing

/// Filters of any size. What they match is in `JobValueTests`, and in the conformance suite.
@Suite struct JobFilterTests {
  private let job = JobSnapshot(id: JobID(rawValue: 7), queue: "q", kind: "k", state: .ready, createdAt: .distantPast)

  @Test("A filter of 200,000 terms, however it was joined, is refused in words and is let go of")
  func large() throws {
    let terms = (1...200_000).map { JobFilter.id(JobID(rawValue: $0)) }
    for filter in [
      terms.reduce(!.all, ||), terms.reduce(.all, &&), terms.reversed().reduce(!.all) { $1 || $0 },
      terms.reduce(.all) { !($0 || $1) }, terms.reduce(.all) { .tag("t") && ($0 || $1) },
      (1...20).reduce(terms[0]) { filter, _ in filter || filter },
    ] {
      let error = try #require(throws: JobError.self) { try filter.check() }
      #expect(error.code == .invalidArgument)
      #expect(error.message.contains("\(Limits.filterParts) parts"))
      #expect(!filter.matches(job) && !(!filter).matches(job))
      #expect(Set([filter, filter]).count == 1)
    }
  }

  @Test("A filter within the limits is taken, and says what it was joined of")
  func within() throws {
    let ids = (1...Int64(Limits.filterParts - 1)).map { JobFilter.id(JobID(rawValue: $0)) }
    for filter in [ids.reduce(!.all, ||), ids.reversed().reduce(!.all) { $1 || $0 }] {
      try filter.check()
      #expect(filter.matches(job))
      #expect(throws: JobError.self) { try (filter || .tag("t")).check() }
    }
    var nested = JobFilter.tag("t")
    for level in 2...Limits.filterDepth { nested = level % 2 == 0 ? nested || .key("k") : nested && .queue("q") }
    try nested.check()
    try (nested || .kind("l")).check()
    for deeper in [!nested, nested && .kind("l"), .kind("l") && nested] {
      #expect(throws: JobError.self) { try deeper.check() }
    }
    var negated = JobFilter.all
    for _ in 1...200_001 { negated = !negated }
    try negated.check()
    #expect(!negated.matches(job))
  }

  @Test("Any number of ids, queues or kinds is one part, and none is none")
  func sets() throws {
    let ids = JobFilter.ids((1...200_000).map { JobID(rawValue: $0) })
    try ids.check()
    #expect(ids.matches(job))
    #expect(JobFilter.queues(["p", "q"]).matches(job) && JobFilter.kinds(["k", "l"]).matches(job))
    for filter: JobFilter in [.ids([]), .queues([]), .kinds([])] { #expect(!filter.matches(job)) }
    #expect(JobFilter.ids([job.id]) == .id(job.id))
  }
}
