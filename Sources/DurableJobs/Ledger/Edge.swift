/// What one job needs of the end of another, as it is stored.
package struct Edge: Hashable, Sendable {
  package let parent: JobID
  package let child: JobID
  package let condition: JobEdge.Condition
  package let slot: Int?
  /// Its parent was removed, and had not ended so: it never will.
  package var isNever: Bool
  /// Of the parent, where edges were loaded by their child; nil if the parent is gone.
  package let parentState: JobState?

  package init(
    parent: JobID, child: JobID, condition: JobEdge.Condition, slot: Int?, isNever: Bool = false,
    parentState: JobState? = nil
  ) {
    self.parent = parent
    self.child = child
    self.condition = condition
    self.slot = slot
    self.isNever = isNever
    self.parentState = parentState
  }
}

extension JobEdge.Condition {
  /// Whether this is the end that it waits for.
  package func holds(after end: JobState) -> Bool {
    switch self {
    case .succeeded: end == .succeeded
    case .ended: end.isFinished
    case .failed: end == .failed || end == .skipped
    }
  }
}

/// Why a job is skipped: the end that it can't be run after.
struct BrokenNeed: Equatable {
  let job: JobID
  let reason: String

  init(job: JobID, reason: String) {
    self.job = job
    self.reason = reason
  }

  /// A job that was skipped itself hands on what skipped it.
  init(_ parent: JobRow) {
    let (course, name) = (parent.course, "job \(parent.id) (\(parent.kind))")
    job = course.cause ?? parent.id
    reason =
      switch course.state {
      case .skipped: course.reason ?? "\(name) was skipped"
      case .cancelled: "\(name) was cancelled"
      default: "\(name) \(course.state)"
      }
  }

  init(removed parent: JobID) {
    self.init(job: parent, reason: "job \(parent) was removed")
  }
}
