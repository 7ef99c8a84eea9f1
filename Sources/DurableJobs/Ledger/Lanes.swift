import Foundation

/// The lanes that a verb has read, and what it did to them.
struct Lanes {
  private struct Lane {
    /// As it was loaded, with what was set since.
    var row: LaneRow?
    /// Before it is loaded, by how many that changed.
    var taken = 0
    /// How many of its waiting jobs were requested.
    var asked = -1
    /// Jobs that started to wait in this verb.
    var entered: [JobID] = []
    /// How many of the ledger's waiting jobs left, or got a seat.
    var moved = 0

    var width: Int { row?.width ?? 1 }
    var free: Int { max(width - taken, 0) }
    var hasAll: Bool { row.map { $0.waiting.count < asked } ?? false }
  }

  private var lanes: [String: Lane] = [:]
  /// By lane, as they are to be written; nil removes one.
  private(set) var paces: [String: LanePace?] = [:]
  /// Lanes in which seats may have become free since some were last given.
  private(set) var left: Set<String> = []

  mutating func lacking(_ wanted: [String: Int]) -> [String: Int] {
    wanted.filter { name, number in
      let lane = lanes[name] ?? Lane()
      guard !lane.hasAll, lane.asked < number else { return false }
      lanes[name, default: Lane()].asked = number
      return true
    }
  }

  mutating func add(_ rows: [String: LaneRow]) {
    for (name, row) in rows {
      var lane = lanes[name] ?? Lane()
      if lane.row == nil {
        lane.row = row
        lane.taken += row.taken
      }
      lane.row?.waiting = row.waiting
      lanes[name] = lane
    }
  }

  mutating func leave(_ row: JobRow) {
    guard let name = row.lane?.name, let isSeated = row.seat else { return }
    if isSeated { lanes[name, default: Lane()].taken -= 1 } else { lanes[name, default: Lane()].moved += 1 }
    left.insert(name)
  }

  /// How many may have a seat at once. The lane must have been requested.
  func width(of name: String) -> Int { lanes[name]?.width ?? 1 }

  /// Takes a free seat and returns true, or else lets the job wait. The lane must have been requested.
  mutating func enter(_ name: String, _ id: JobID? = nil) -> Bool {
    let isFree = lanes[name, default: Lane()].free > 0
    if isFree { lanes[name, default: Lane()].taken += 1 } else if let id { lanes[name]?.entered.append(id) }
    return isFree
  }

  /// A job that has a seat waits for one instead.
  mutating func yield(_ name: String, _ id: JobID) {
    lanes[name, default: Lane()].taken -= 1
    lanes[name]?.entered.append(id)
    left.insert(name)
  }

  /// A waiting job was given another's seat.
  mutating func passed(_ name: String) { lanes[name, default: Lane()].moved += 1 }

  // MARK: Settings and rates. The lane must have been requested.

  mutating func set(_ width: Int, of name: String) { lanes[name]?.row?.width = width }

  /// Counts an attempt that has ended and began at `start`.
  mutating func count(in name: String, from start: Int64, at now: Int64) {
    lanes[name]?.row?.pace?.count(from: start, at: now)
    if let pace = lanes[name]?.row?.pace { paces[name] = .some(pace) }
  }

  mutating func set(_ rate: JobRate?, of name: String, at now: Int64) {
    let pace = rate.map { lanes[name]?.row?.pace?.replaced(by: $0, at: now) ?? LanePace($0) }
    lanes[name]?.row?.pace = pace
    paces.updateValue(pace, forKey: name)
  }

  /// When the next attempt may begin, if that is in the future.
  func start(in name: String, at now: Int64) -> Date? {
    guard let next = lanes[name]?.row?.pace?.limit(of: name, at: now).next, next > now else { return nil }
    return Date(milliseconds: next)
  }

  // MARK: Seats

  /// Its width or its rate was changed.
  mutating func changed(_ name: String) { left.insert(name) }

  /// How many of the lowest waiting must be known before the free seats can be given: some may have left.
  func wanted(in name: String) -> Int {
    lanes[name].map { $0.moved + ($0.row == nil ? max(-$0.taken, 0) : $0.free) } ?? 0
  }

  /// The jobs that get the free seats. The lane must have been requested.
  mutating func next(in name: String, _ isWaiting: (JobID) -> Bool) -> [JobID] {
    left.remove(name)
    let lane = lanes[name] ?? Lane()
    let next = Set((lane.row?.waiting ?? []) + lane.entered).sorted().filter(isWaiting).prefix(lane.free)
    lanes[name]?.taken += next.count
    lanes[name]?.moved += next.count
    return Array(next)
  }
}
