/// What a transaction has to count, once before its COMMIT, and to announce after it, from its changes to rows.
package struct LedgerNews {
  /// Changes of counts, by route: all jobs first, then by the code of each state.
  package private(set) var tallies: [Int64: [Int64]] = [:]
  private static let noTally = [Int64](repeating: 0, count: 11)
  package private(set) var batches: [BatchID: BatchTally] = [:]
  package private(set) var transitions: [JobTransition] = []
  /// What other processes should hear.
  package private(set) var elsewhere: ForeignChange = []
  /// What this process should hear that is not in a transition.
  package var here: ForeignChange = []
  /// Whether anything in this process wants to hear of each job.
  package let isHeard: Bool

  package init(isHeard: Bool) { self.isHeard = isHeard }

  /// A job entered a state, or was removed from one. `place` gives its queue and kind, called if anything needs them.
  package mutating func moved(
    _ id: JobID, route: Int64, in batch: BatchID? = nil, from old: JobState?, to new: JobState?,
    concernsClaim: Bool = false, place: () throws -> (queue: String, kind: String)?
  ) rethrows {
    count(route, from: old, to: new)
    moved(in: batch, from: old, to: new)
    switch new {
    case .ready, .scheduled: elsewhere.insert(old == .running ? [.work, .results] : .work)
    case .running: if old == .running { elsewhere.insert(.results) }
    default: elsewhere.insert(.results)
    }
    if concernsClaim { elsewhere.insert(.stops) }
    guard isHeard, let state = new ?? old, let place = try place() else { return }
    transitions.append(
      JobTransition(
        id: id, queue: place.queue, kind: place.kind, state: state, concernsClaim: concernsClaim, isRemoved: new == nil)
    )
  }

  package mutating func touch(_ batch: BatchID) { batches[batch] = batches[batch] ?? BatchTally() }

  /// A batch was closed, which may complete it although no job moves.
  package mutating func closed(_ batch: BatchID) {
    touch(batch)
    tell(.results)
  }

  package mutating func takeBatches() -> [BatchID: BatchTally] { exchange(&batches, with: [:]) }

  package mutating func moved(in batch: BatchID?, from old: JobState?, to new: JobState?) {
    guard let batch, old != new else { return }
    batches[batch, default: BatchTally()].move(from: old, to: new)
  }

  package mutating func moved(_ change: RowChange, place: () throws -> (queue: String, kind: String)?) rethrows {
    let (before, after) = (change.before, change.after)
    try moved(
      before.id, route: before.route, in: before.batch, from: before.course.state, to: after.course.state,
      concernsClaim: change.concernsClaim, place: place)
  }

  /// Jobs that came due, or were given another time: too many to name.
  package mutating func movedMany(_ number: Int, route: Int64, from old: JobState, to new: JobState) {
    guard number > 0 else { return }
    count(route, from: old, to: new, number: Int64(number))
    tell(.work)
  }

  /// Announces something that is not in a transition.
  package mutating func tell(_ change: ForeignChange) {
    elsewhere.formUnion(change)
    here.formUnion(change)
  }

  private mutating func count(_ route: Int64, from old: JobState?, to new: JobState?, number: Int64 = 1) {
    guard old != new else { return }
    func change(_ tally: inout [Int64]) {
      if let old { tally[Int(old.code)] -= number } else { tally[0] += number }
      if let new { tally[Int(new.code)] += number } else { tally[0] -= number }
    }
    change(&tallies[route, default: Self.noTally])
  }
}
