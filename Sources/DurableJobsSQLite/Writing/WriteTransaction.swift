import DurableJobs
import Foundation

/// One transaction of the writer, in which any number of callers take part. The verbs are in its extensions.
///
/// What it finds out for after the commit is collected here, and is nothing if it is rolled back.
final class WriteTransaction {
  let connection: WriterConnection
  let memory: WriterMemory
  let policy: StorePolicy
  /// The store's time, the same for the whole transaction.
  let now: Int64
  /// Whether to collect transitions.
  private let isHeard: Bool
  /// Changes of counts, by route: jobs in all, then by the code of each state.
  private var tallies: [Int64: [Int64]] = [:]
  private(set) var transitions: [JobTransition] = []
  /// What other processes should hear.
  private(set) var news: ForeignChange = []
  /// What this process should hear that is in no transition.
  var localNews: ForeignChange = []
  /// Rows of workers that gave a sign of life.
  var signsOfLife: [Int64] = []
  /// Damaged rows that were met.
  var unreadable: [JobID] = []
  private var afterCommit: [() -> Void] = []
  private var undo: [() -> Void] = []
  /// Rows of workers that were looked at in this transaction, and whether they still stand.
  var standing: [Int64: Bool] = [:]

  init(connection: WriterConnection, memory: WriterMemory, policy: StorePolicy, now: Int64, isHeard: Bool) {
    self.connection = connection
    self.memory = memory
    self.policy = policy
    self.now = now
    self.isHeard = isHeard
  }

  var date: Date { Date(milliseconds: now) }

  func onCommit(_ body: @escaping () -> Void) { afterCommit.append(body) }
  func onRollback(_ body: @escaping () -> Void) { undo.append(body) }

  /// Says that a job came into a state, or left one for nothing.
  func moved(_ id: Int64, route: Int64, from old: JobState?, to new: JobState?, concernsClaim: Bool = false) throws {
    count(route, from: old, to: new)
    switch new {
    case .ready, .scheduled: news.insert(old == .running ? [.work, .results] : .work)
    case .running: if old == .running { news.insert(concernsClaim ? [.results, .stops] : .results) }
    default: news.insert(.results)
    }
    if concernsClaim { news.insert(.stops) }
    guard isHeard, let route = try memory.routes.route(route, on: connection), let state = new ?? old else { return }
    transitions.append(
      JobTransition(
        id: JobID(rawValue: id), queue: route.queue, kind: route.kind, state: state, concernsClaim: concernsClaim,
        isRemoved: new == nil))
  }

  func count(_ route: Int64, from old: JobState?, to new: JobState?, number: Int64 = 1) {
    guard old != new else { return }
    var tally = tallies[route] ?? [Int64](repeating: 0, count: 11)
    tallies[route] = nil  // so that the array is changed in its place
    if let old { tally[Int(old.code)] -= number } else { tally[0] += number }
    if let new { tally[Int(new.code)] += number } else { tally[0] -= number }
    tallies[route] = tally
  }

  func addNews(_ change: ForeignChange) { news.insert(change) }

  /// Writes the counts, one row for each route that changed. The last thing before COMMIT.
  func writeCounts() throws {
    for (route, tally) in tallies {
      // Ready and running are not stored.
      let stored = [0, 2, 3, 6, 7, 8, 9, 10].map { tally[$0] }
      guard stored.contains(where: { $0 != 0 }) else { continue }
      let statement = try connection[.count]
      statement.bind(1, route)
      for (index, number) in stored.enumerated() { statement.bind(Int32(index + 2), number) }
      try statement.run()
      FaultPoint.countsWritten.reach()
    }
  }

  func committed() {
    for action in afterCommit { action() }
  }

  func rolledBack() {
    for action in undo.reversed() { action() }
    memory.routes.forget()
  }
}
