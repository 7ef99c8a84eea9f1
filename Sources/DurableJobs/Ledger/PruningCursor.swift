/// How far a process has looked for jobs past their retention. A pass covers all ids, in bites; the next pass need not
/// begin before the first of those that it left expires.
package struct PruningCursor: Sendable {
  /// How often the clock had been set back when this was computed.
  package var setBacks = 0
  /// When the next pass begins.
  package var nextPass: Int64 = .min
  /// Ids up to here have been examined.
  package var id: Int64 = .min
  /// The earliest expiry of a job that this pass left, or that may have ended after it was examined.
  package var earliest: Int64 = .max

  package init(setBacks: Int = 0, nextPass: Int64 = .min) { (self.setBacks, self.nextPass) = (setBacks, nextPass) }
}

/// One bite of a pass: at most as many jobs past their retention as were requested, oldest first.
package struct PruningPass: Sendable {
  /// Rows examined in one bite at most: some milliseconds of reading.
  package static let mostRows = 20_000
  package var rows = mostRows

  package private(set) var jobs: [JobID] = []
  /// Batches that were done without jobs, so that no job's removal removes them.
  package private(set) var batches: [BatchID] = []
  package private(set) var hasMore = false
  /// Where to continue once these are deleted.
  package private(set) var cursor: PruningCursor
  package let isDue: Bool
  private let policy: StorePolicy
  private let now: Int64
  package let limit: Int
  private var count = 0

  /// `setBacks`: how often the clock has been set back so far.
  package init(from cursor: PruningCursor, setBacks: Int, policy: StorePolicy, now: Int64, limit: Int) {
    self.cursor = cursor.setBacks == setBacks ? cursor : PruningCursor(setBacks: setBacks)
    (self.policy, self.now, self.limit) = (policy, now, limit)
    isDue = self.cursor.id > .min || now >= self.cursor.nextPass
    // What ends from now on can't expire before this.
    if isDue, self.cursor.id == .min { self.cursor.earliest = now + policy.leastRetention.milliseconds }
  }

  package var isFull: Bool { max(jobs.count, batches.count) >= limit }

  /// Whether ``look(at:state:kind:enteredAt:hold:)`` needs to know kinds.
  package var asksForKinds: Bool { !policy.retentionOfKind.isEmpty }

  /// The next job by id, with the code of its state, and with its unique key if it succeeded with one.
  package mutating func look(
    at id: Int64, state: Int64, kind: String?, enteredAt: Int64, hold: () throws -> KeyHold?
  ) rethrows {
    count += 1
    cursor.id = id
    guard let state = JobState(code: state), var expiry = policy.expiry(of: state, kind, enteredAt: enteredAt) else {
      return
    }
    if expiry <= now, state == .succeeded, let until = try hold()?.until, until != KeyHold.stored {
      expiry = max(expiry, until)
    }
    if expiry <= now { jobs.append(JobID(rawValue: id)) } else { cursor.earliest = min(cursor.earliest, expiry) }
  }

  /// The next batch that was done without jobs, oldest first.
  package mutating func look(at batch: BatchID, emptyAt: Int64) {
    let expiry = policy.expiry(of: .succeeded, nil, enteredAt: emptyAt) ?? .max
    if expiry <= now { batches.append(batch) } else { cursor.earliest = min(cursor.earliest, expiry) }
  }

  /// There are no more rows, or enough were examined.
  package mutating func end() {
    guard isDue else { return }
    hasMore = isFull
    if !hasMore, count < rows { cursor = PruningCursor(setBacks: cursor.setBacks, nextPass: cursor.earliest) }
  }
}
