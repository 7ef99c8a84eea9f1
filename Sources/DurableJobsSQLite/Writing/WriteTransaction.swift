import DurableJobs
import Foundation

/// One transaction of the writer, in which any number of callers take part: the rows that the rules see. How it does what
/// they ask for is in its extensions.
///
/// What it finds out for after the commit is collected here, and is nothing if it is rolled back.
final class WriteTransaction {
  let connection: WriterConnection
  let memory: WriterMemory
  let policy: StorePolicy
  let process: OwnProcess
  /// The store's time, the same for the whole transaction, in milliseconds since 1970.
  let now: Int64
  var news: LedgerNews
  /// Rows of workers that gave a sign of life.
  var signsOfLife: [Int64] = []
  /// Damaged rows that were met.
  var unreadable: [JobID] = []
  /// The numbers of routes are not to be trusted.
  var isMiscounted = false
  /// Claims that were made, and such as are no more.
  var claimed: [(job: JobID, claim: WriterMemory.Held)] = []
  var letGo: [ClaimToken] = []
  /// Rows of workers that were looked at in this transaction, and whether they still stand.
  var standing: [Int64: Bool] = [:]
  private let workersBefore: [WorkerID: [WriterMemory.OwnWorker]]
  private let epochBefore: Int64

  init(
    connection: WriterConnection, memory: WriterMemory, policy: StorePolicy, process: OwnProcess, now: Int64,
    isHeard: Bool
  ) {
    self.connection = connection
    self.memory = memory
    self.policy = policy
    self.process = process
    self.now = now
    news = LedgerNews(isHeard: isHeard)
    workersBefore = memory.workers
    epochBefore = memory.epoch
    memory.routes.beginTransaction()
  }

  /// The clock was set back by so many milliseconds. Of all the processes that notice, the first puts the waits right; the
  /// others see by the epoch that it was done.
  func rebaseWaits(by setBack: Int64) throws {
    guard setBack > 0 else { return }
    let known = memory.epoch
    memory.epoch = try connection[.epoch].first { $0.int(0) } ?? known
    guard memory.epoch == known else { return }
    try run(.nextEpoch, now)
    memory.epoch = (memory.epoch & WriterStatement.ring) + 1
    try run(.rebaseLanes, setBack)
    for route in try memory.routes.all(on: connection) {
      let rebase = try connection[.rebase].with(route.id, setBack)
      try rebase.run()
      if rebase.changes > 0 { news.tell(.work) }
    }
  }

  /// Writes the counts, one row for each route that changed. The last thing before COMMIT.
  func writeCounts() throws {
    for (route, tally) in news.tallies {
      // Ready and running are not stored.
      let stored = [0, 2, 3, 6, 7, 8, 9, 10].map { tally[$0] }
      guard stored.contains(where: { $0 != 0 }) else { continue }
      let statement = try connection[.count].with(route)
      for (index, number) in stored.enumerated() { statement.bind(Int32(index + 2), number) }
      try statement.run()
      FaultPoint.countsWritten.reach()
    }
    if isMiscounted { try recount() }
    let mayBeEmpty = try news.tallies.contains { route, tally in
      try tally[0] < 0 && memory.routes.route(route, on: connection)?.requires.isEmpty == false
    }
    if mayBeEmpty { try memory.routes.dropEmpty(on: connection) }
  }

  func configure(_ settings: [StoreSetting]) throws {
    for setting in settings {
      var told: ForeignChange = .work
      let set: Statement
      switch setting {
      case .queue(let name, let isPaused): set = try connection[.pauseQueue].with(name.composed, isPaused)
      case .lane(let name, let width):
        try run(LaneVerb(name, width: width, now: now))
        try run(.putWidth, name.composed, width)
        try run(.dropLane, name.composed)
        continue
      case .laneRate(let name, let rate):
        try run(LaneVerb(name, rate: .some(rate), now: now))
        continue
      case .limits(let name, let limits):
        let rate = limits?.rate
        set = try connection[.setLimits]
          .with(name.composed, limits?.running, rate?.count, rate?.period.milliseconds, rate?.burst)
      case .constraint(let constraint, let isSatisfied):
        set = try connection[isSatisfied == nil ? .clearConstraint : .setConstraint]
          .with(constraint.rawValue.composed)
        if let isSatisfied { set.bind(2, isSatisfied) }
        told.insert(.settings)
      }
      try set.run()
      guard set.changes > 0 else { continue }
      try connection[.bumpChanges].run()
      news.tell(told)
    }
    news.here.insert(.work)
  }

  func committed() {
    for (job, claim) in claimed { memory.held[job] = claim }
    for token in letGo where memory.held[token.job]?.claim.rawValue == token.claim { memory.held[token.job] = nil }
  }

  func rolledBack() {
    memory.workers = workersBefore
    memory.epoch = epochBefore
    memory.routes.forget()
  }
}

/// Who writes, as others see it.
struct OwnProcess: Sendable {
  let host = ProcessInfo.processInfo.hostName
  let pid = Int64(ProcessInfo.processInfo.processIdentifier)
  /// Its name among the processes that have the file open. Throws if it can't make itself known: others could not tell
  /// whether it lives.
  let session: @Sendable () throws -> String
  /// How many claims a worker's row is taken to have made already.
  let firstClaim: Int64
}
