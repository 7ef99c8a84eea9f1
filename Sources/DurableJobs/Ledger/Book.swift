import Foundation

/// What a verb has seen and decided: rows as they will be, over rows as they were. A row that is here is never replaced by
/// one that is loaded later.
struct Book {
  /// Milliseconds since 1970.
  let now: Int64
  private var rows: [JobID: RowChange] = [:]
  private var changed: [JobID] = []
  private var asked: Set<JobID> = []
  private var owners: [String: JobID] = [:]
  /// What is not about a job that stays.
  var changes = Changes()

  init(now: Int64) { self.now = now }

  var date: Date { Date(milliseconds: now) }

  /// Those that were not asked for yet, and now are.
  mutating func lacking(_ ids: [JobID]) -> [JobID] { ids.filter { asked.insert($0).inserted } }

  mutating func add(_ answer: LedgerReply) {
    for row in answer.jobs where rows[row.id] == nil { rows[row.id] = RowChange(row) }
    owners.merge(answer.owners) { known, _ in known }
  }

  subscript(id: JobID) -> JobRow? { rows[id]?.after }

  /// The unfinished job with this unique key. The key must have been asked for.
  func owner(of key: String) -> JobID? { owners[key] }

  mutating func change<R>(_ id: JobID, _ body: (inout RowChange) throws -> R) rethrows -> R? {
    guard let index = rows.index(forKey: id) else { return nil }
    let result = try body(&rows.values[index])
    if !rows.values[index].isTouched {
      rows.values[index].isTouched = true
      changed.append(id)
    }
    follow(at: index)
    return result
  }

  mutating func remove(_ id: JobID) {
    guard let row = rows.removeValue(forKey: id) else { return }
    changes.removed.append(row.before)
    if let key = row.before.unique, owners[key] == id { owners[key] = nil }
  }

  /// What follows from any change, whichever rule made it.
  private mutating func follow(at index: Dictionary<JobID, RowChange>.Index) {
    let change = rows.values[index]
    let (was, state) = (change.before.course.state, change.after.course.state)
    if state != .running, !change.isOwnEnd { rows.values[index].after.claim.void() }
    guard let key = change.before.unique, was.isFinished != state.isFinished else { return }
    if !state.isFinished {
      owners[key] = change.before.id
    } else if owners[key] == change.before.id {
      owners[key] = nil
    }
  }

  /// All that was decided.
  mutating func close() -> Changes {
    changes.jobs = changed.compactMap { rows[$0] }
    return changes
  }
}
