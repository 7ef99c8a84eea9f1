import DurableJobs
import Foundation

extension WriteTransaction {
  /// A ready job, read.
  struct PickedJob {
    let id: Int64
    let route: Route
    let attempt: Int64
    let terms: StoredTerms
    let payload: Data
  }

  /// A route that is being read, at its first job that was not taken.
  private struct Line {
    let route: Route
    let statement: Statement
    var id: Int64
    var rank: Int64
  }

  /// From one queue, in one transaction.
  private static let largestClaim = 1_000_000

  /// The first ready jobs of these routes, by rank and then by id, within the capacity of each queue. Each route is read
  /// only as far as it is needed, so that ten full routes cost what one does.
  func pick(from routes: [Route], _ capacity: [String: Int], _ batch: inout ClaimBatch) throws -> [PickedJob] {
    var free = capacity.mapValues { min($0, Self.largestClaim) }
    var lines: [Line] = []
    var damaged: [(id: Int64, route: Route, reason: String)] = []
    var picked: [PickedJob] = []
    defer { for line in lines { line.statement.reset() } }

    for route in routes {
      let statement = try connection.picker(lines.count)
      statement.bind(1, route.id)
      // One more than can be taken, to know whether there is more.
      statement.bind(2, Int64(max(free[route.queue] ?? 0, 0)) + 1)
      if try statement.step() {
        lines.append(Line(route: route, statement: statement, id: statement.int(0), rank: statement.int(1)))
      }
    }

    while let first = lines.indices.min(by: { (lines[$0].rank, lines[$0].id) < (lines[$1].rank, lines[$1].id) }) {
      let line = lines[first]
      guard let left = free[line.route.queue], left > 0 else {
        batch.hasMore = true
        line.statement.reset()
        lines.remove(at: first)
        continue
      }
      switch read(line) {
      case .success(let job):
        picked.append(job)
        free[line.route.queue] = left - 1
      case .failure(let damage):
        damaged.append((line.id, line.route, damage.reason))
      }
      if try line.statement.step() {
        lines[first].id = line.statement.int(0)
        lines[first].rank = line.statement.int(1)
      } else {
        lines.remove(at: first)
      }
    }
    // Only now: a row that moves while its index is read may be met again.
    for job in damaged { try setAside(job.id, job.route, because: job.reason) }
    return picked
  }

  private struct Damage: Error {
    let reason: String
  }

  private func read(_ line: Line) -> Result<PickedJob, Damage> {
    let row = line.statement
    guard !row.isNull(3) else { return .failure(Damage(reason: "what was asked for is missing")) }
    guard row.isBlob(5), let payload = row.data(5) else {
      return .failure(Damage(reason: "the payload is missing or no data"))
    }
    guard let terms = try? terms(of: row.text(4)) else { return .failure(Damage(reason: "the options are no JSON")) }
    return .success(PickedJob(id: line.id, route: line.route, attempt: row.int(2), terms: terms, payload: payload))
  }

  private func terms(of text: String?) throws -> StoredTerms {
    guard let text else { return StoredTerms() }
    if let last = memory.lastTerms, last.text == text { return last.terms }
    let terms = try StoredTerms(text: text)
    memory.lastTerms = (text, terms)
    return terms
  }

  /// Holds a job whose row can't be read, so that it is in nobody's way, and remembers to report it.
  private func setAside(_ id: Int64, _ route: Route, because reason: String) throws {
    guard var row = try load(id) else { return }
    row.course.state = .suspended
    row.course.reason = "its row in the store is damaged: \(reason)"
    try save(row)
    unreadable.append(JobID(rawValue: id))
  }
}
