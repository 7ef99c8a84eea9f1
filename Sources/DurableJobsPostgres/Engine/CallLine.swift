#if Postgres
  import DurableJobs

  /// What a caller wants of a connection.
  struct Request: Sendable {
    enum Sort: Int, CaseIterable {
      /// A worker's lease.
      case renewal
      /// What else a worker asks for, which renews no lease meanwhile.
      case worker
      case call
      /// New jobs that may be stored together with others.
      case insertion
      /// A program's own transaction, which has the connection for as long as the program likes.
      case lent

      var isWorkers: Bool { self == .renewal || self == .worker }
    }

    let sort: Sort
    /// In terms of ``SystemClock/uptime``: the request is given up then, whether it has begun or not.
    let deadline: Duration
    /// If the request consists only of that.
    var insertion: JobInsertion?
    let act: @Sendable (Session) throws -> Void
    let fail: @Sendable (any Error) -> Void
    /// Receives the new jobs' ids, if they were stored together with others.
    var stored: @Sendable ([InsertedJob]) -> Void = { _ in }
  }

  /// Who waits for a connection, in order; but workers go first, and of what they ask for the renewal of a lease. The
  /// last connection is for them: other calls don't take it where there is a worker, and a program's transactions
  /// nowhere. If there is only one, all do.
  struct CallLine {
    private struct Entry {
      let key: Int64
      let request: Request
    }

    /// First in, first out, for the same effort however many wait.
    private struct Row {
      private var entries: [Entry?] = []
      private var begin = 0

      var isEmpty: Bool { begin >= entries.count }
      var first: Entry? { isEmpty ? nil : entries[begin] }
      var firstKey: Int64? { isEmpty ? nil : entries[begin]?.key }
      var shortest: Duration? { entries.compactMap { $0?.request.deadline }.min() }

      mutating func append(_ entry: Entry) { entries.append(entry) }

      mutating func popFirst() -> Request? {
        guard let first else { return nil }
        entries[begin] = nil
        begin += 1
        if 2 * begin > entries.count {
          entries.removeFirst(begin)
          begin = 0
        }
        return first.request
      }

      mutating func remove(where isUnwanted: (Entry) -> Bool) -> [Request] {
        let removed = entries.compactMap(\.self).filter(isUnwanted)
        guard !removed.isEmpty else { return [] }
        entries = entries.filter { $0.map { !isUnwanted($0) } ?? false }
        begin = 0
        return removed.map(\.request)
      }
    }

    private var rows = [Row](repeating: Row(), count: Request.Sort.allCases.count)
    private var lastKey: Int64 = 0
    /// How many connections there may be for others than workers, and how many have them.
    private let mostOthers: Int
    private var others = 0
    private var hasWorker = false

    init(connections: Int) { mostOthers = max(connections - 1, 1) }

    mutating func add(_ request: Request) -> Int64 {
      lastKey += 1
      if request.sort.isWorkers { hasWorker = true }
      rows[request.sort.rawValue].append(Entry(key: lastKey, request: request))
      return lastKey
    }

    /// Whose turn it is; nil if nobody may have a connection now.
    var next: Request.Sort? {
      guard !rows.allSatisfy(\.isEmpty) else { return nil }
      for sort in [Request.Sort.renewal, .worker] where !rows[sort.rawValue].isEmpty { return sort }
      let isFree = others < mostOthers
      let may: [Request.Sort] = isFree ? [.call, .insertion, .lent] : hasWorker ? [] : [.call, .insertion]
      return may.compactMap { sort in rows[sort.rawValue].firstKey.map { (sort, $0) } }.min { $0.1 < $1.1 }?.0
    }

    /// The first request that may have a connection; and all that can be stored with it, if it is of that sort. Until
    /// ``ended(_:)``.
    mutating func take() -> [Request] {
      guard let sort = next, let first = rows[sort.rawValue].popFirst() else { return [] }
      if !sort.isWorkers { others += 1 }
      guard sort == .insertion, let insertion = first.insertion else { return [first] }
      var (group, room) = ([first], GroupRoom())
      _ = room.takes(insertion)
      while let insertion = rows[sort.rawValue].first?.request.insertion, room.takes(insertion),
        let request = rows[sort.rawValue].popFirst()
      {
        group.append(request)
      }
      return group
    }

    mutating func ended(_ group: [Request]) { if let first = group.first, !first.sort.isWorkers { others -= 1 } }

    mutating func withdraw(_ key: Int64) -> Request? {
      for sort in rows.indices { if let request = rows[sort].remove(where: { $0.key == key }).first { return request } }
      return nil
    }

    /// Removes those whose time is over.
    mutating func expire(at time: Duration) -> [Request] {
      rows.indices.flatMap { rows[$0].remove { $0.request.deadline <= time } }
    }

    /// When a worker's call is given up next, or the next of another sort: those have all the same time, but a worker's
    /// read has less than its other calls.
    var nextDeadline: Duration? {
      guard !rows.allSatisfy(\.isEmpty) else { return nil }
      let workers = rows[Request.Sort.worker.rawValue].shortest
      return ([workers] + rows.map(\.first?.request.deadline)).compactMap(\.self).min()
    }
  }
#endif
