import DurableJobs

/// The SQL for a page of matching jobs, ordered by id, using the cheapest access path.
struct JobPage {
  private(set) var sql = ""
  private var values: [String] = []
  let routes: [RouteTotals]

  init(_ query: JobQuery, on connection: OpaquePointer) throws {
    let (filter, parts) = (query.filter, query.filter.conjuncts ?? [query.filter])
    let isOfPlaces = filter.states != nil || parts.contains { $0.isOfRoute(orState: true) }
    let isPage = query.limit <= [RouteTotals].fewJobs
    routes = try RouteTotals.read(isCounting: isOfPlaces, on: connection)
    var (from, id) = ("durable_job j WHERE ", "j.id")
    // With ?1 to ?3, one of several lists that have all that match, each in the order of ids.
    var list = "\(Self.line) AND j.route=?1 AND j.state=?2 AND j.rank=?3"
    var lists: [List]?
    // What the way there holds by itself is not asked again of each job.
    var held: JobFilter?
    if let ids = parts.firstNonNil(\.exactIDs) {
      (from, held) = (from + isOne(of: ids), .ids(ids))
    } else if filter.states == [.running], let running = indexed(parts, query.limit) {
      // There are never more than workers have slots, however many jobs have the key, tag or batch.
      from += "j.id IN(\(running))"
    } else if let key = parts.firstNonNil(\.exactKey) {
      from = "durable_job_key k CROSS JOIN durable_job j ON j.id=k.job WHERE k.key=\(value(key))"
      (id, held) = ("k.job", .key(key))
    } else if let tag = parts.firstNonNil(\.exactTag) {
      from = "durable_tag t CROSS JOIN durable_job j ON j.id=t.job WHERE t.tag=\(value(tag))"
      (id, held) = ("t.job", .tag(tag))
    } else if let batch = parts.firstNonNil(\.exactBatch) {
      from = "durable_batch_job b CROSS JOIN durable_job j ON j.id=b.job WHERE b.batch=\(batch.rawValue)"
      (id, held) = ("b.job", .batch(batch))
    } else if let lane = parts.firstNonNil(\.exactLane), filter.states?.allSatisfy({ !$0.isFinished }) ?? false {
      // Each unfinished job of a lane has a seat there or waits for one.
      from = "durable_lane l CROSS JOIN durable_job j ON j.id=l.job WHERE l.name=\(value(lane))"
      (id, list, lists) = ("l.job", "\(from) AND l.seat=?3", isPage ? [(0, 0, 0), (0, 0, 1)] : nil)
    } else {
      lists = isOfPlaces && isPage ? try ranks(filter, parts, on: connection) : nil
      if lists == nil { from += indexed(parts, query.limit).map { "j.id IN(\($0))" } ?? "j.state<\(stubCode)" }
    }
    // A condition on the id always: so a page is a search from there and no scan.
    let (isBehind, first, direction) = query.order == .oldestFirst ? (">", Int64.min, "") : ("<", .max, " DESC")
    let start = query.after.map { "\(isBehind)\($0.rawValue)" } ?? "\(isBehind)=\(first)"
    let others = parts.filter { $0 != held }.reduce(.all, &&)
    let asked = others == .all ? "1" : condition(others)
    let rest = " AND \(id)\(start) AND \(asked) ORDER BY \(id)\(direction) LIMIT \(query.limit)"
    sql = (lists == nil ? from : list) + rest
    guard let lists else { return }
    let read = try statement(selecting: id, on: connection)
    let isBefore: (JobID, JobID) -> Bool = query.order == .oldestFirst ? (<) : (>)
    var page: [JobID] = []
    for (route, state, rank) in lists {
      // What comes behind a full page is not read.
      let last = page.count < query.limit ? nil : page.last
      let row = read.with(route, state, rank)
      var found: [JobID] = []
      while try row.step(), last.map({ isBefore(row.id(0), $0) }) ?? true { found.append(row.id(0)) }
      row.reset()
      if !found.isEmpty { page = Array((page + found).sorted(by: isBefore).prefix(query.limit)) }
    }
    sql = "durable_job j WHERE \(isOne(of: Set(page))) ORDER BY j.id\(direction)"
  }

  /// The ids of the few jobs in given states, found in the index; nil where that does not apply.
  private func indexed(_ parts: [JobFilter], _ limit: Int) -> String? {
    routes.places(ofAll: parts, limit: limit).map { routes, states in
      "SELECT id FROM \(Self.line) AND route IN(\(Self.list(routes))) AND state IN(\(Self.list(states)))"
    }
  }

  /// Where the index has all that may match, each rank in the order of ids; nil if these are many.
  private func ranks(_ filter: JobFilter, _ parts: [JobFilter], on connection: OpaquePointer) throws -> [List]? {
    let parts = parts.filter { $0.isOfRoute(orState: true) }
    let (ofRoute, known) = (parts.filter { $0.isOfRoute(orState: false) }.reduce(.all, &&), parts.reduce(.all, &&))
    let places = routes.filter { ofRoute.matches($0.example(in: .ready)) }.flatMap { route in
      (filter.states ?? Set(JobState.allCases)).filter { known.matches(route.example(in: $0)) }.map { (route, $0) }
    }
    guard places.count <= Self.most, places.allSatisfy({ $1 != .succeeded || $0.counts[$1] == 0 }) else { return nil }
    let next = try Statement(Self.rankSQL, on: connection)
    var lists: [List] = []
    for (route, state) in places where state != .succeeded {
      var rank: Int64? = .min
      while let last = rank, lists.count <= Self.most {
        rank = try next.with(route.id, state.code, last).first { $0.intOrNull(0) }
        if let rank { lists.append((route.id, state.code, rank)) }
      }
    }
    return lists.count <= Self.most ? lists : nil
  }

  /// Where there are more, jobs are read by id.
  private static let most = 500
  private typealias List = (Int64, Int64, Int64)
  private static let line = "durable_job j INDEXED BY durable_job_line WHERE j.state<>7"
  static let rankSQL = "SELECT min(j.rank) FROM \(line) AND j.route=?1 AND j.state=?2 AND j.rank>?3"

  /// Has no constants: where one makes all of it false, SQLite finds no way by an index that it was told to take.
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
    case .heldBy(let by): "(j.state=6 AND j.links&\(Links.held.rawValue)=\(Links(by).rawValue))"
    case .key(let key): "EXISTS(SELECT 1 FROM durable_job_key WHERE key=\(value(key)) AND job=j.id)"
    case .and(let all): all.isEmpty ? "j.state=j.state" : "(\(all.map { condition($0) }.joined(separator: " AND ")))"
    case .or(let any): any.isEmpty ? "j.state<j.state" : "(\(any.map { condition($0) }.joined(separator: " OR ")))"
    case .not(let a): "NOT \(condition(a))"
    case .tooLarge: "j.state<j.state"
    }
  }

  /// Many ids as one parameter: SQLite bears no statement of any length.
  private mutating func isOne(of ids: Set<JobID>) -> String {
    guard ids.count > 1 else { return "j.id=\(ids.first?.rawValue ?? -1)" }
    let list = ids.map(\.description).joined(separator: ",")
    return "j.id IN(SELECT value FROM json_each(\(value("[\(list)]"))))"
  }

  /// Adds the caller's text as a parameter, behind those of a list.
  private mutating func value(_ text: String) -> String {
    values.append(text)
    return "?\(values.count + 3)"
  }

  private static func isOne(of routes: [RouteTotals]) -> String { "j.route IN(\(list(routes.map(\.id))))" }

  /// No row has the number -1; with an empty list, SQLite would scan the table.
  private static func list(_ numbers: [Int64]) -> String {
    numbers.isEmpty ? "-1" : numbers.map(String.init).joined(separator: ",")
  }

  func statement(selecting columns: String, on connection: OpaquePointer) throws -> Statement {
    let statement = try Statement("SELECT \(columns) FROM \(sql)", on: connection)
    for (index, value) in values.enumerated() { statement.bind(Int32(index + 4), value.composed) }
    return statement
  }

  func ids(on connection: OpaquePointer) throws -> [JobID] {
    let rows = try statement(selecting: "j.id,j.state", on: connection)
    return try rows.compactMap { JobState(code: $0.int(1)) == nil ? nil : $0.id(0) }
  }
}
