import Foundation

/// The terms of a job that its hot row does not have, as compact JSON; NULL if all are the defaults.
package struct StoredTerms: Codable, Equatable, Sendable {
  package var maxAttempts: Int?
  /// In milliseconds.
  package var timeout: Int64?
  package var key: String?
  /// A unique key. Its policy matters only when the job is inserted.
  package var unique: String?
  package var uniqueUntil: Int64?
  package var tags: [String]?
  package var lane: String?
  package var laneLetsNextRun: Bool?
  package var batch: Int64?
  /// The batch that it follows.
  package var follows: Int64?
  package var startBy: Int64?
  package var endBy: Int64?
  /// Losing what it requires interrupts it. What it requires is stored in its route.
  package var interrupts: Bool?
}

extension StoredTerms {
  package static let defaults = StoredTerms()

  // Assigned one by one, so many properties would be copied once more.
  package init(_ terms: borrowing JobTerms, _ unique: KeyHold?) {
    let deadline = terms.deadline?.date.milliseconds
    let isToStart = if case .start = terms.deadline { true } else { false }
    self.init(
      maxAttempts: terms.maxAttempts == Defaults.maxAttempts ? nil : terms.maxAttempts,
      timeout: terms.timeout?.milliseconds, key: terms.key, unique: unique?.key, uniqueUntil: unique?.until,
      tags: terms.tags.isEmpty ? nil : terms.tags.sorted(), lane: terms.lane?.name.composed,
      laneLetsNextRun: terms.lane?.failedHead == .letsNextRun ? true : nil, follows: terms.follows?.rawValue,
      startBy: isToStart ? deadline : nil, endBy: isToStart ? nil : deadline,
      interrupts: terms.whenLost == .interrupts ? true : nil)
  }

  /// Throws if this type did not write the text.
  package init(text: String?) throws {
    self = try text.map { try JSONDecoder().decode(StoredTerms.self, from: Data($0.utf8)) } ?? .defaults
  }

  package var text: String? {
    get throws {
      guard self != Self.defaults else { return nil }
      return String(decoding: try JobCoding.encode(self), as: UTF8.self)
    }
  }

  package var keyHold: KeyHold? { unique.map { KeyHold(key: $0, until: uniqueUntil) } }
  package var jobLane: JobLane? {
    lane.map { JobLane($0, failedHead: laneLetsNextRun == true ? .letsNextRun : .holds) }
  }
  package var deadline: JobDeadline? {
    endBy.map { .end(by: .at(Date(milliseconds: $0))) } ?? startBy.map { .start(by: .at(Date(milliseconds: $0))) }
  }
  /// The batch that its handler knows of.
  package var knownBatch: BatchID? { (batch ?? follows).map(BatchID.init(rawValue:)) }
  package var attempts: Int { maxAttempts ?? Defaults.maxAttempts }
  package var duration: Duration? { timeout.map { .milliseconds($0) } }
}

extension JobPriority {
  /// A lower rank goes first.
  package var rank: Int64 { -Int64(max(rawValue, -.max)) }
  /// The stored value: its negative must be representable too.
  package var stored: Int64 { -rank }
}
