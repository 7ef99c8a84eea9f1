import DurableJobs
import Foundation

/// The job that is measured: nothing to do, and about 100 bytes of JSON.
struct Noop: Job, Equatable {
  var account = "c-0012345678"
  var index: Int
  var isUrgent = false
  var note = "abcdefghijklmnopqrstuvwx"
  var rank: Int
  static let kind = "noop"

  init(_ index: Int, priorities: Int) {
    self.index = index
    rank = Int((UInt64(index) &* 0x9E37_79B9_7F4A_7C15) >> 33) % priorities
  }

  var options: JobOptions { JobOptions(priority: JobPriority(rawValue: rank)) }

  func run(in context: JobContext) async throws {}
}

extension JobQueue {
  /// Stores `count` no-op jobs, 1,000 a transaction.
  func fill(_ count: Int, from start: Int = 0, priorities: Int, options: JobOptions = JobOptions()) async throws {
    for first in stride(from: start, to: start + count, by: 1000) {
      let batch = (first..<min(first + 1000, start + count)).map { Noop($0, priorities: priorities) }
      try await enqueue(contentsOf: batch, options: options)
    }
  }
}
