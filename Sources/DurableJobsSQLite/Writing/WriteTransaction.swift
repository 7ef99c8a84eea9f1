import DurableJobs
import Foundation

/// One transaction of the writer, shared by any number of callers: the rows that the rules see. The work itself is in
/// its extensions.
///
/// Collects what to report after the commit; a rollback discards it.
final class WriteTransaction {
  let connection: WriterConnection
  let memory: WriterMemory
  let policy: StorePolicy
  let process: OwnProcess
  /// The store's time for the whole transaction, in milliseconds since 1970.
  let now: Int64
  @exclusivity(unchecked) var news: LedgerNews
  /// Why nothing of it was done.
  var failure: (any Error)?
  /// Rows of workers that renewed or claimed.
  @exclusivity(unchecked) var signsOfLife: [Int64] = []
  /// Damaged rows that were found.
  @exclusivity(unchecked) var unreadable: [JobID] = []
  /// Whether the counts of routes are unreliable.
  @exclusivity(unchecked) var isMiscounted = false
  /// New claims, and those that ended.
  @exclusivity(unchecked) var claimed: [(job: JobID, claim: WriterMemory.Held)] = []
  @exclusivity(unchecked) var letGo: [ClaimToken] = []
  /// Rows of workers read in this transaction, and whether they are valid.
  @exclusivity(unchecked) var standing: [Int64: Bool] = [:]
  /// Whether a job waits for any key; nil if that was not asked yet.
  @exclusivity(unchecked) var isKeyAwaited: Bool?
  /// Of the route that was last asked for: the next job is mostly of the same.
  @exclusivity(unchecked) var lastPlace: (route: Int64, queue: String, kind: String)?
  private let workersBefore: [WorkerID: [WorkerRow]]
  private let epochBefore: Int64

  init(
    connection: WriterConnection, memory: WriterMemory, policy: StorePolicy, process: OwnProcess, now: Int64,
    isHeard: Bool
  ) {
    (self.connection, self.memory, self.policy, self.process, self.now) = (connection, memory, policy, process, now)
    (news, workersBefore, epochBefore) = (LedgerNews(isHeard: isHeard), memory.workers, memory.epoch)
    memory.routes.beginTransaction()
  }

  func carryOut(_ requests: [WriteRequest]) throws {
    for order in WriteRequest.Order.allCases {
      for place in requests.indices {
        for part in requests[place].parts where part.order == order { try part.act(self, nil) }
      }
    }
    try settleBatches()
    try writeCounts()
  }

  /// Moves waits after the clock was set back by this many milliseconds. Of all the processes that notice, only the
  /// first does it; the others see it by the epoch.
  func rebaseWaits(by setBack: Int64) throws {
    guard setBack > 0 else {
      // Who opens the file next may find no wait that was set last, by which to see that the clock was set back since.
      if SeenTime.isOutdated(memory.notedAt, at: now) { try noteTime() }
      return
    }
    var setBack = setBack
    if let (epoch, seen) = try connection[.epoch].first({ ($0.int(0), $0.int(1)) }), epoch != memory.epoch {
      // By the time that the other noted, the clock was set back by this much more.
      memory.epoch = epoch
      setBack = SeenTime(latest: seen).setBack(at: now, .zero)
      guard setBack > 0 else { return }
    }
    try run(.nextEpoch)
    try noteTime()
    memory.epoch = (memory.epoch & WriterStatement.ring) + 1
    try run(.rebaseLanes, setBack)
    for route in try memory.routes.all(on: connection) {
      let rebase = try connection[.rebase].with(route.id, setBack, now)
      try rebase.run()
      if rebase.changes > 0 { news.tell(.work) }
    }
  }

  private func noteTime() throws {
    try run(.noteTime, now)
    memory.notedAt = now
  }

  /// Writes the counts, one row for each route that changed, as the last thing before COMMIT.
  func writeCounts() throws {
    for (route, tally) in news.tallies where RouteTotals.places.contains(where: { tally[$0] != 0 }) {
      let statement = try connection[.count].with(route)
      for (index, place) in RouteTotals.places.enumerated() { statement.bind(Int32(index + 2), tally[place]) }
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
        try setLane(name, width: width)
        try run(.putWidth, name.composed, width)
        try run(.dropLane, name.composed)
        continue
      case .laneRate(let name, let rate):
        try setLane(name, rate: .some(rate))
        continue
      case .limits(let name, let limits):
        let rate = limits?.rate
        set = try connection[.setLimits]
          .with(name.composed, limits?.running, rate?.count, rate?.period.milliseconds, rate?.burst)
      case .constraint(let constraint, let isSatisfied):
        set = try connection[isSatisfied == nil ? .clearConstraint : .setConstraint].with(constraint.rawValue.composed)
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
    for token in letGo { memory.held[token.job] = nil }
    for (job, claim) in claimed { memory.held[job] = claim }  // some of which had been let go
  }

  func rolledBack() {
    (memory.workers, memory.epoch, memory.notedAt) = (workersBefore, epochBefore, 0)
    memory.routes.forget()
  }
}

/// The writing process as others see it.
struct OwnProcess: Sendable {
  let pid = Int64(ProcessInfo.processInfo.processIdentifier)
  /// The name of its session on the file. Throws if it can't join: others could not tell whether it is alive.
  let session: @Sendable () throws -> String
  /// How many claims a new worker's row counts as already made.
  let firstClaim: Int64
}
