#if Postgres
  import DurableJobs
  import Foundation

  /// A page of jobs that match a filter, as SQL: in the order of ids, and by the way that reads least.
  struct JobPage {
    private var from = ""
    private var order = ""
    private var values: [Value] = []
    private let routes: [RouteTotals]
    private let limit: Int

    init(
      filter: JobFilter, after: JobID? = nil, order: JobQuery.Order = .oldestFirst, limit: Int = .max,
      routes: [RouteTotals]
    ) {
      (self.routes, self.limit) = (routes, limit)
      let (isBehind, direction) = order == .oldestFirst ? (">", "") : ("<", " DESC")
      func rest(_ id: String) -> String { after.map { " AND \(id)\(isBehind)\($0.rawValue)" } ?? "" }
      // In their order, and no more of them than the page needs: OFFSET keeps the planner from any other way.
      func named(_ table: String, _ name: String) -> String {
        "(SELECT job FROM §\(table) WHERE \(name)\(rest("job")) ORDER BY job\(direction) OFFSET 0) n "
          + "JOIN §job j ON j.id=n.job WHERE true"
      }
      self.order = "ORDER BY j.id\(direction) LIMIT \(limit)"
      switch Named(filter) {
      case .ids(let ids): from = "§job j WHERE j.id=ANY(\(value(.ids(ids.sorted()))))\(rest("j.id"))"
      case .running: from = "§job j WHERE j.id=ANY(ARRAY(SELECT h.id FROM \(Transaction.whatRuns)))\(rest("j.id"))"
      case .key(let key): from = named("job_key", "key=\(value(name: key))")
      case .tag(let tag): from = named("tag", "tag=\(value(name: tag))")
      case .batch(let batch): from = named("batch_job", "batch=\(batch.rawValue)")
      case nil:
        let indexed = indexed(filter.conjuncts ?? [filter])
        from = (indexed.map { "§job j WHERE j.id=ANY(ARRAY(\($0)))" } ?? "§job j WHERE true") + rest("j.id")
      }
      from += " AND \(condition(filter))"
    }

    /// What a filter names, by which its jobs are found.
    private enum Named {
      case ids(Set<JobID>)
      /// There are never more than workers have slots, however many jobs have the key, tag or batch.
      case running
      case key(String)
      case tag(String)
      case batch(BatchID)

      init?(_ filter: JobFilter) {
        let parts = filter.conjuncts ?? [filter]
        if let ids = parts.firstNonNil(\.exactIDs) {
          self = .ids(ids)
        } else if filter.states == [.running] {
          self = .running
        } else if let key = parts.firstNonNil(\.exactKey) {
          self = .key(key)
        } else if let tag = parts.firstNonNil(\.exactTag) {
          self = .tag(tag)
        } else if let batch = parts.firstNonNil(\.exactBatch) {
          self = .batch(batch)
        } else {
          return nil
        }
      }
    }

    /// Whether jobs are found by what the filter names, and never by how many there are of a route.
    static func needsNoCounts(_ filter: JobFilter) -> Bool { Named(filter) != nil }

    /// Those of `ids` that match.
    init(filter: JobFilter, among ids: [JobID], routes: [RouteTotals]) {
      (self.routes, limit, order) = (routes, .max, "ORDER BY j.id")
      from = "§job j WHERE j.id=ANY(\(value(.ids(ids))))"
      from += " AND \(condition(filter))"
    }

    /// Once it is sent, `read` is called with the result.
    func send(
      _ columns: String, grouped: String? = nil, on connection: Connection, read: @escaping Connection.Reader
    ) {
      connection.send(text(columns, grouped: grouped), values, isFixed: false, read)
    }

    func text(_ columns: String, grouped: String? = nil) -> String {
      "SELECT \(columns) FROM \(from) \(grouped ?? order)"
    }

    func ids(on connection: Connection) throws -> [JobID] {
      var ids: [JobID] = []
      send("j.id", on: connection) { rows in ids = (0..<rows.count).map { rows.id($0, 0) } }
      try connection.sync()
      return ids
    }

    /// The ids of few jobs in given states, by means of the index; nil if this way does not apply.
    private func indexed(_ parts: [JobFilter]) -> String? {
      routes.places(ofAll: parts, limit: limit).map { routes, states in
        "SELECT id FROM §job WHERE route IN(\(Self.list(routes))) AND state IN(\(Self.list(states))) AND state<>7"
      }
    }

    private mutating func condition(_ filter: JobFilter) -> String {
      switch filter.condition {
      // A set that is hashed: two lists of ids would be tried in all pairs. As a plain condition it would be joined, by pairs.
      case .ids(let ids): "(j.id IN(SELECT unnest(\(value(.ids(ids.sorted()))))))IS TRUE"
      case .queues(let names): isOne { names.contains($0.queue) }
      case .kinds(let names): isOne { names.contains($0.kind) }
      case .requires(let constraint): isOne { $0.requires.contains(constraint) }
      case .states(let states): "j.state IN(\(Self.list(states.map(\.code))))"
      case .tag(let tag): "EXISTS(SELECT 1 FROM §tag WHERE tag=\(value(name: tag)) AND job=j.id)"
      case .batch(let id): "j.batch IS NOT DISTINCT FROM \(id.rawValue)"
      case .lane(let lane): "EXISTS(SELECT 1 FROM §spec WHERE id=j.id AND lane=\(value(name: lane)))"
      case .heldBy(let by): "(j.state=6 AND j.links&\(Links.held.rawValue)=\(Links(by).rawValue))"
      case .key(let key): "EXISTS(SELECT 1 FROM §job_key WHERE key=\(value(name: key)) AND job=j.id)"
      case .and(let all): all.isEmpty ? "true" : "(" + all.map { condition($0) }.joined(separator: " AND ") + ")"
      case .or(let any): any.isEmpty ? "false" : "(" + any.map { condition($0) }.joined(separator: " OR ") + ")"
      case .not(let a): "NOT \(condition(a))"
      case .tooLarge: "false"
      }
    }

    private func isOne(_ matches: (Route) -> Bool) -> String {
      "j.route IN(\(Self.list(routes.lazy.map(\.route).filter(matches).map(\.id))))"
    }

    private mutating func value(name: String) -> String { value(.text(name.composed)) }

    /// The caller's value, as a parameter.
    private mutating func value(_ value: Value) -> String {
      values.append(value)
      return "$\(values.count)"
    }

    /// Nothing has the number -1.
    private static func list(_ numbers: [Int64]) -> String {
      numbers.isEmpty ? "-1" : numbers.map(String.init).joined(separator: ",")
    }
  }
#endif
