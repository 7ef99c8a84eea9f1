/// The state of a row that is no longer a job. It keeps the highest id from being assigned again.
package let stubCode: Int64 = 11

/// What a job's hot row knows about the tables beside it, and about what was asked of its worker.
package struct Links: OptionSet {
  package let rawValue: Int64

  package init(rawValue: Int64) { self.rawValue = rawValue }

  /// It is the parent or the child of rows in `durable_edge`.
  package static let children = Links(rawValue: 1)
  package static let parents = Links(rawValue: 64)
  package static let lane = Links(rawValue: 2)
  /// It has a seat in its lane, even if it failed and holds the lane.
  package static let seated = Links(rawValue: 4096)
  package static let afterFailure = Links(rawValue: 8192)
  /// Its terms have a unique key: it has a row in `durable_uniq` while it is unfinished, or longer.
  package static let unique = Links(rawValue: 8)
  package static let cancelAsked = Links(rawValue: 16)
  package static let suspendAsked = Links(rawValue: 256)
  /// A row in `durable_crash`.
  package static let crash = Links(rawValue: 512)
  /// A row in `durable_note`.
  package static let note = Links(rawValue: 1024)
  /// It has steps, in `durable_step`.
  package static let steps = Links(rawValue: 32)
  /// It has a row in `durable_deadline`.
  package static let deadline = Links(rawValue: 16384)
  package static let overdueAsked = Links(rawValue: 65536)
  package static let backOff = Links(rawValue: 32768)
  package static let dated = Links(rawValue: 2048)
  package static let paced = Links(rawValue: 524288)

  /// Its handler suspended it, or its payload could not be read. Otherwise a person did.
  package static let heldByHandler = Links(rawValue: 131072)
  package static let undecodable = Links(rawValue: 262144)
  package static let held: Links = [.heldByHandler, .undecodable]

  /// Ending it takes more than one statement.
  package static let slow: Links = [.children, .lane, .steps]
  package static let stopAsked: Links = [.cancelAsked, .suspendAsked, .overdueAsked]

  package init(_ hold: JobHold) { self = hold == .handler ? .heldByHandler : hold == .undecodable ? .undecodable : [] }
  package var hold: JobHold? { contains(.heldByHandler) ? .handler : contains(.undecodable) ? .undecodable : nil }

  package var stopReason: StopReason? {
    contains(.cancelAsked)
      ? .cancelled : contains(.overdueAsked) ? .overdue : contains(.suspendAsked) ? .suspended : nil
  }

  package init(_ course: JobCourse, unique: KeyHold?, isInLane: Bool, seat: Bool?, hasParents: Bool, hasChildren: Bool)
  {
    self = unique == nil ? [] : .unique
    if isInLane { insert(.lane) }
    if seat == true { insert(.seated) }
    if hasParents { insert(.parents) }
    if hasChildren { insert(.children) }
    if course.stopAsked == .cancelled { insert(.cancelAsked) }
    if course.stopAsked == .suspended { insert(.suspendAsked) }
    if course.stopAsked == .overdue { insert(.overdueAsked) }
    if course.crashes > 0 { insert(.crash) }
    if course.reason != nil { insert(.note) }
    if course.isDated { insert(.dated) }
    if course.isBackOff { insert(.backOff) }
    if course.isPaced == true { insert(.paced) }
    if course.isAfterFailure { insert(.afterFailure) }
    if course.state == .suspended, let hold = course.heldBy { formUnion(Links(hold)) }
  }
}
