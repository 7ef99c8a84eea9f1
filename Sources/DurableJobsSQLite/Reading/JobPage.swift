import DurableJobs
import Foundation

/// The SQL for a page of matching jobs, ordered by id, using the cheapest access path.
struct JobPage {
  private(set) var sql: String
  private var values: [String] = []
  private let order: JobQuery.Order
  private let limit: Int
  let routes: [RouteTotals]

  init(
    filter: JobFilter, after: JobID? = nil, order: JobQuery.Order = .oldestFirst, limit: Int = .max,
    on connection: OpaquePointer
  ) throws {
    (self.order, self.limit) = (order, limit)
    let parts = filter.conjuncts ?? [filter]
    let ofRoute = parts.filter { $0.isOfRoute(orState: false) }
    routes = try RouteTotals.read(isCounting: filter.states != nil || !ofRoute.isEmpty, on: connection)
    sql = ""

    let comparison = (order == .oldestFirst ? ">" : "<") + (after == nil ? "=" : "")
    let start = after?.rawValue ?? (order == .oldestFirst ? .min : .max)
    // A condition on the id always: so a page is a search from there and no scan.
    var (from, id) = ("", "j.id")
    // What the way there holds by itself is not asked again of each job.
    var held: JobFilter?
    if let ids = parts.firstNonNil(\.exactIDs) {
      from = "durable_job j WHERE \(isOne(of: ids))"
      held = .ids(ids)
    } else if filter.states == [.running], let running = indexed(parts) {
      // There are never more than workers have slots, however many jobs have the key, tag or batch.
      from = "durable_job j WHERE j.id IN(\(running))"
    } else if let key = parts.firstNonNil(\.exactKey) {
      from = "durable_job_key k CROSS JOIN durable_job j ON j.id=k.job WHERE k.key=\(value(key))"
      (id, held) = ("k.job", .key(key))
    } else if let tag = parts.firstNonNil(\.exactTag) {
      from = "durable_tag t CROSS JOIN durable_job j ON j.id=t.job WHERE t.tag=\(value(tag))"
      (id, held) = ("t.job", .tag(tag))
    } else if let batch = parts.firstNonNil(\.exactBatch) {
      from = "durable_batch_job b CROSS JOIN durable_job j ON j.id=b.job WHERE b.batch=\(batch.rawValue)"
      (id, held) = ("b.job", .batch(batch))
    } else if let lane = parts.firstNonNil(\.exactLane),
      filter.states?.isDisjoint(with: ended) ?? false
    {
      // Each unfinished job of a lane has a seat there or waits for one.
      from = "durable_lane l CROSS JOIN durable_job j ON j.id=l.job WHERE l.name=\(value(lane))"
      id = "l.job"
    } else if let indexed = indexed(parts) ?? indexed(rare: parts, ofRoute) {
      from = "durable_job j WHERE j.id IN(\(indexed))"
    } else {
      from = "durable_job j WHERE j.state<\(stubCode)"
    }
    from += " AND \(id)\(comparison)\(start) AND \(condition(ofAll: parts.filter { $0 != held }))"
    sql = "\(from) ORDER BY \(id)\(order == .oldestFirst ? "" : " DESC") LIMIT \(limit)"
  }

  /// The ids of the few jobs in given states, found in the index; nil where that does not apply.
  private func indexed(_ parts: [JobFilter]) -> String? {
    routes.places(ofAll: parts, limit: limit).map { routes, states in
      """
      SELECT id FROM durable_job INDEXED BY durable_job_line WHERE route IN(\(Self.list(routes))) \
      AND state IN(\(Self.list(states))) AND state<>7
      """
    }
  }

  /// The same for a queue or kind of which there are few jobs, and none that has succeeded: those are not in the index.
  private func indexed(rare parts: [JobFilter], _ ofRoute: [JobFilter]) -> String? {
    let possible = routes.filter { route in ofRoute.allSatisfy { $0.matches(route.example(in: .ready)) } }
    func total(_ routes: [RouteTotals]) -> Double { Double(routes.reduce(0) { $0 + $1.counts.total }) }
    let isRare = pow(total(possible), 2) <= Double(min(limit, 1000)) * total(routes)
    guard !ofRoute.isEmpty, isRare, possible.allSatisfy({ $0.counts[.succeeded] == 0 }) else { return nil }
    return indexed(parts + [.states(JobState.allCases.filter { $0 != .succeeded })])
  }

  private mutating func condition(_ filter: JobFilter) -> String {
    switch filter.condition {
    case .ids(let ids): isOne(of: ids)
    case .queues(let names): Self.isOne(of: routes.filter { names.contains($0.queue) })
    case .kinds(let names): Self.isOne(of: routes.filter { names.contains($0.kind) })
    case .requires(let constraint): Self.isOne(of: routes.filter { $0.requires.contains(constraint) })
    case .states(let states): "j.state IN(\(Self.list(states.map(\.code))))"
    case .tag(let tag): "EXISTS(SELECT 1 FROM durable_tag WHERE tag=\(value(tag)) AND job=j.id)"
    case .batch(let id): "EXISTS(SELECT 1 FROM durable_batch_job WHERE batch=\(id.rawValue) AND job=j.id)"
    case .lane(let lane):
      // Only reads the terms of jobs that have a lane.
      """
      (j.links&\(Links.lane.rawValue)<>0 AND EXISTS(SELECT 1 FROM durable_spec WHERE id=j.id AND \
      CASE WHEN json_valid(options) THEN json_extract(options,'$.lane') END=\(value(lane))))
      """
    case .key(let key): "EXISTS(SELECT 1 FROM durable_job_key WHERE key=\(value(key)) AND job=j.id)"
    case .and(let all): "(" + condition(ofAll: all) + ")"
    case .or(let any): any.isEmpty ? "0" : "(" + any.map { condition($0) }.joined(separator: " OR ") + ")"
    case .not(let a): "NOT \(condition(a))"
    case .tooLarge: "0"
    }
  }

  private mutating func condition(ofAll parts: [JobFilter]) -> String {
    parts.isEmpty ? "1" : parts.map { condition($0) }.joined(separator: " AND ")
  }

  /// Many ids as one parameter: SQLite bears no statement of any length.
  private mutating func isOne(of ids: Set<JobID>) -> String {
    guard ids.count > 1 else { return "j.id=\(ids.first?.rawValue ?? -1)" }
    let list = ids.map(\.description).joined(separator: ",")
    return "j.id IN(SELECT value FROM json_each(\(value("[\(list)]"))))"
  }

  /// Adds the caller's text as a parameter.
  private mutating func value(_ text: String) -> String {
    values.append(text)
    return "?\(values.count)"
  }

  private static func isOne(of routes: [RouteTotals]) -> String { "j.route IN(\(list(routes.map(\.id))))" }

  /// No row has the number -1; with an empty list, SQLite would scan the table.
  private static func list(_ numbers: [Int64]) -> String {
    numbers.isEmpty ? "-1" : numbers.map(String.init).joined(separator: ",")
  }

  func statement(selecting columns: String, on connection: OpaquePointer) throws -> Statement {
    let statement = try Statement("SELECT \(columns) FROM \(sql)", on: connection)
    for (index, value) in values.enumerated() { statement.bind(Int32(index + 1), value.composed) }
    return statement
  }

  func ids(on connection: OpaquePointer) throws -> [JobID] {
    try statement(selecting: "j.id,j.state", on: connection).compactMap { row in
      JobState(code: row.int(1)).map { _ in row.id(0) }
    }
  }
}

private let ended = Set(JobState.allCases.filter(\.isFinished))
