/// What one job needs of the end of another, as it is stored.
package struct Edge: Hashable, Codable, Sendable {
  package let parent: JobID
  package let child: JobID
  package let condition: JobEdge.Condition
  package let slot: Int?
  /// Its parent was removed without having ended as needed: the need will never be met.
  package var isNever = false
  /// ``JobCourse/end`` of the parent, where edges were loaded by their child; nil if the parent is gone.
  package var parentState: JobState?
}

extension Edge {
  /// Added to the stored number of a need that will never be met.
  package static let never: Int64 = 4

  /// Nil if `need` is not the number of a need.
  package init?(parent: JobID, child: JobID, need: Int64, slot: Int64, parentState: JobState? = nil) {
    guard let condition = JobEdge.Condition.stored.first(where: { $0.need == need % Self.never }) else { return nil }
    self.init(
      parent: parent, child: child, condition: condition, slot: slot < 0 ? nil : Int(truncatingIfNeeded: slot),
      isNever: need > Self.never, parentState: parentState)
  }
}

extension JobEdge.Condition {
  /// By their stored numbers, from 1.
  fileprivate static let stored: [Self] = [.succeeded, .ended, .failed]
  package var need: Int64 { Int64(Self.stored.firstIndex(of: self)! + 1) }

  /// Whether this ``JobCourse/end`` is the one it waits for.
  package func holds(after end: JobState) -> Bool {
    switch self {
    case .succeeded: end == .succeeded
    case .ended: end.isFinished
    case .failed: end == .failed
    }
  }
}

/// Why a job is skipped: the end after which it can't run.
struct BrokenNeed: Equatable {
  let job: JobID
  let reason: String
  var isAfterFailure = false

  /// A job that was skipped itself passes on what caused that.
  init(_ course: JobCourse, of id: JobID, kind: String) {
    let name = "job \(id) (\(kind))"
    job = course.cause ?? id
    isAfterFailure = course.end == .failed
    reason =
      switch course.state {
      case .skipped: course.reason ?? "\(name) was skipped"
      case .cancelled: "\(name) was cancelled"
      default: "\(name) \(course.state)"
      }
  }

  init(removed parent: JobID) {
    job = parent
    reason = "job \(parent) was removed"
  }
}
