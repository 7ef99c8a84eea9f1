#if Postgres
  import CPostgres
  import DurableJobs
  import Foundation

  /// A connection in pipeline mode: what is sent goes out with ``sync()``, which waits once. Used by one thread.
  ///
  /// Each wait ends at ``deadline``: then the server is asked to stop, unless it may be at a commit, and the connection is
  /// abandoned.
  final class Connection {
    typealias Reader = (Rows) throws -> Void

    private let connection: OpaquePointer
    private let schema: String
    private let isPreparing: Bool
    private var prepared: [Text: String] = [:]
    /// How many names were given out. None is reused: what failed after it was prepared still exists.
    private var names = 0
    /// Sent to be prepared, and not answered yet: it does not exist if something before it fails.
    private var unproven: Set<Text> = []
    private var sent: [Reader] = []
    /// What was posted, and is answered before anything that is sent later.
    private var posted: [Text] = []
    /// How many bytes of values go out with the next ``sync()``.
    private var bytes = 0
    /// Why nothing more is sent before that.
    private var refusal: (any Error)?
    /// How many of ``sent`` are answered before the others.
    private var early = 0
    /// libpq did not take a statement, or answers are unread: what is answered can't be told apart any more.
    private var isBroken = false
    /// COMMIT was sent, and not answered. Who cancels that ends its wait for a standby, which may not have it then.
    private var isCommitting = false
    private let canceller: Canceller?
    private let standby = Standby()
    /// A server takes a message of more than 2^30 bytes for an attack, and ends the connection.
    private static let mostBytes = 1_000_000_000
    /// In terms of ``SystemClock/uptime``.
    var deadline = Duration.seconds(1 << 40)
    /// Moves ``deadline`` on with each sign of life; nil: it stands.
    var patience: Patience?
    private var isGivenUp = false
    /// How often it has waited for the server, and what for.
    private(set) var roundTrips = 0
    /// How many were sent, without what was posted.
    private(set) var statements = 0
    /// Whether what it does is to create what a store is made of.
    var isCreating = false
    /// See ``Transaction/lifeSQL``. Nil if a pooler may give it another session of the server.
    var life: String?

    /// A statement's text as a key. It is not ASCII, so it would be hashed, and compared to others, character by character,
    /// each time; few are of the same length.
    private struct Text: Hashable {
      static let commit = Text("COMMIT")
      let sql: String

      init(_ sql: String) { self.sql = sql }

      func hash(into hasher: inout Hasher) { hasher.combine(sql.utf8.count) }

      static func == (one: Text, other: Text) -> Bool {
        one.sql.utf8.count == other.sql.utf8.count && one.sql == other.sql
      }
    }

    /// What goes on for as long as it takes: its limit is of each answer of the server, and rows that come are a sign of life.
    struct Patience: Sendable {
      let limit: Duration
      /// Whether nobody wants it any more: it is given up then.
      let isOver: @Sendable () -> Bool
      /// How soon that is noticed.
      static let glance = Duration.milliseconds(100)
    }

    /// What the server tells on the way.
    private final class Standby {
      /// A commit has ended without the standby that was to confirm it: its answer is none.
      var isOwed = false
    }

    /// Connects; blocks for that. `schema` is quoted, and followed by a point.
    init(_ server: ServerName, schema: String, isPreparing: Bool, within limit: Duration? = nil) throws {
      connection = try server.connect(within: limit)
      canceller = Canceller(of: connection)
      self.schema = schema
      self.isPreparing = isPreparing
      PQsetNoticeReceiver(
        connection,
        { standby, notice in
          guard let standby, let function = PQresultErrorField(notice, 82),  // PG_DIAG_SOURCE_FUNCTION, 'R'
            String(cString: function) == "SyncRepWaitForLSN"
          else { return }
          Unmanaged<Standby>.fromOpaque(standby).takeUnretainedValue().isOwed = true
        }, Unmanaged.passUnretained(standby).toOpaque())
      PQsetnonblocking(connection, 1)
      guard PQenterPipelineMode(connection) == 1 else {
        throw PostgresFailure(.lost, "libpq has no pipeline mode; it must be 14 or newer")
      }
    }

    /// As the store's settings have it.
    convenience init(
      _ server: ServerName, _ configuration: PostgresStore.Configuration, until deadline: Duration
    ) throws {
      try self.init(
        server, schema: Schema.quoted(configuration.schema) + ".", isPreparing: !configuration.isPooled,
        within: deadline - SystemClock().uptime)
      self.deadline = deadline
    }

    /// Who had it has let go of it, so what became of a commit is decided, if only to be unknown: one that waits for a
    /// standby still would do so until that is back, with a session of the server.
    deinit {
      guard isCommitting, let canceller else { return PQfinish(connection) }
      PQsetNoticeReceiver(connection, { _, _ in }, nil)
      let (address, isOver) = (UInt(bitPattern: connection), DispatchSemaphore(value: 0))
      canceller.cancel {
        // A pooler forgets what it should cancel once this is closed.
        PQfinish(OpaquePointer(bitPattern: address))
        isOver.signal()
      }
      // The process may end after this.
      _ = isOver.wait(timeout: .now() + 1)
    }

    var hasUnsent: Bool { !sent.isEmpty || refusal != nil }
    var isUnwanted: Bool { patience?.isOver() ?? false }
    var isUsable: Bool { PQstatus(connection) == CONNECTION_OK && !isBroken }
    var serverVersion: Int { Int(PQserverVersion(connection)) }

    /// `§` stands for the schema. A statement that `isFixed` is kept prepared.
    func send(_ sql: String, _ values: [Value] = [], isFixed: Bool = true, _ read: @escaping Reader = { _ in }) {
      let size = values.reduce(0) { $0 + $1.size }
      guard hasRoom(for: size) else { return }
      statements += 1
      if Text(sql) == .commit { isCommitting = true }
      let types = values.map(\.type)
      let name = isPreparing && isFixed ? name(of: sql, types) : nil
      // All values, one behind the other, and where each begins. The first byte is no value's: so there is an address.
      var all: [UInt8] = [0]
      all.reserveCapacity(1 + size + 20 * values.count)
      var (starts, lengths): ([Int?], [Int32]) = ([], [])
      for value in values {
        let start = all.count
        starts.append(value.append(to: &all) ? start : nil)
        lengths.append(Int32(all.count - start))
      }
      let (count, formats) = (Int32(values.count), [Int32](repeating: 1, count: values.count))
      all.withUnsafeBytes { all in
        let first = all.assumingMemoryBound(to: CChar.self).baseAddress
        let places = starts.map { start in start.flatMap { first?.advanced(by: $0) } }
        if let name {
          check(PQsendQueryPrepared(connection, name, count, places, lengths, formats, 1))
        } else {
          check(PQsendQueryParams(connection, text(sql), count, types, places, lengths, formats, 1))
        }
      }
      sent.append(read)
      // Short answers would come with the end of the pipeline, and be no sign of life before.
      if patience != nil { check(PQsendFlushRequest(connection)) }
    }

    /// The name under which it is prepared; it is from now on.
    private func name(of sql: String, _ types: [UInt32]) -> String {
      let key = Text(sql)
      if let known = prepared[key] { return known }
      names += 1
      let name = "d\(names)"
      prepared[key] = name
      unproven.insert(key)
      check(PQsendPrepare(connection, name, text(sql), Int32(types.count), types))
      sent.append { [unowned self] _ in unproven.remove(key) }
      return name
    }

    /// Has the server do this in a transaction of its own, and waits for nothing: whether it fails, nobody asks. Nothing
    /// may be pending.
    func post(_ sql: String, _ values: [Value]) {
      let counted = statements
      send(sql, values)
      posted.append(Text(sql))
      (sent, unproven, bytes, statements) = ([], [], 0, counted)
      check(PQpipelineSync(connection))
    }

    /// Reads what is to come of what was posted. False if the server does not answer it till then: this connection is of no
    /// more use for now. Notices wait for each other at their commits, whichever program's they are.
    func readPosted(until limit: Duration) -> Bool {
      deadline = limit
      do {
        while let key = posted.first { try readPosted(key) }
        return true
      } catch {
        isBroken = true
        return false
      }
    }

    /// A caller's own statement, with values and rows as text, whose types the server infers.
    func send(callers sql: String, _ values: [String?], _ read: @escaping Reader) {
      guard hasRoom(for: values.reduce(sql.utf8.count) { $0 + ($1?.utf8.count ?? 0) }) else { return }
      statements += 1
      ServerName.withCStrings(values) { values in
        check(PQsendQueryParams(connection, sql, Int32(values.count - 1), nil, values, nil, nil, 0))
      }
      sent.append(read)
    }

    /// Somebody else may have removed what was prepared.
    func forgetPrepared() { prepared = [:] }

    private func hasRoom(for size: Int) -> Bool {
      bytes += size
      if bytes > Self.mostBytes, refusal == nil {
        refusal = JobError(
          .notEncodable,
          "this is \(bytes) bytes, and a server takes at most \(Self.mostBytes) at once: nothing of it was stored. Do it in "
            + "several calls")
      }
      return refusal == nil
    }

    private func check(_ wasTaken: Int32) { if wasTaken != 1 { isBroken = true } }

    private func text(_ sql: String) -> String { sql.replacing("§", with: schema) }

    /// Sends what is pending, and reads all results. Throws the first error, with nothing left unread. `point` is reached in
    /// between.
    func sync(_ point: FaultPoint? = nil) throws {
      roundTrips += 1
      let readers = sent
      // What went before the refused one is rolled back.
      var failure = refusal
      // Those that are never called, too: they hold who holds this connection.
      (sent, early, bytes, refusal) = ([], 0, 0, nil)
      guard !isBroken else { throw lost }
      PQpipelineSync(connection)
      point?.reach()
      try readResults(readers, &failure)
      guard let end = try next() else { throw failure ?? lost }
      PQclear(end)
      if failure != nil { for sql in unproven { prepared[sql] = nil } }
      (unproven, isCommitting) = ([], false)
      if let failure { throw failure }
      guard !standby.isOwed else {
        throw PostgresFailure(.lost, "the server gave up waiting for the standby that was to confirm this")
      }
    }

    /// The server is to answer what was sent so far before it goes on with what is sent from here on.
    func endEarlyPart() {
      check(PQsendFlushRequest(connection))
      early = sent.count
    }

    /// Sends what is pending, and reads the results of its early part while the server is at the rest.
    func readEarlyPart() throws {
      roundTrips += 1
      guard !isBroken else { throw lost }
      let readers = sent.prefix(early)
      sent.removeFirst(early)
      early = 0
      var failure = refusal
      try readResults(readers, &failure)
      guard let failure else { return }
      refusal = failure
      try sync()
    }

    private func readResults(_ readers: some Sequence<Reader>, _ failure: inout (any Error)?) throws {
      while let key = posted.first { try readPosted(key) }
      for read in readers {
        while let result = try next() {
          defer { PQclear(result) }
          switch PQresultStatus(result) {
          case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
            if failure == nil { do { try read(Rows(result: result)) } catch { failure = error } }
          case PGRES_PIPELINE_ABORTED: break
          default:
            guard failure == nil else { break }
            failure = PostgresFailure(result, on: connection)
              .granting(to: connection, in: String(schema.dropLast()), creating: isCreating)
          }
          guard isUsable else { throw failure ?? lost }
        }
      }
    }

    /// Reads what the first that was posted was answered, and forgets it. If it failed, it may not be prepared.
    private func readPosted(_ key: Text) throws {
      while true {
        let result = try next()
        guard isUsable else {
          PQclear(result)
          throw lost
        }
        // There is none between two statements.
        guard let result else { continue }
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
          posted.removeFirst()
          return
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK: break
        default: prepared[key] = nil
        }
      }
    }

    private var lost: PostgresFailure { PostgresFailure(.lost, String(cString: PQerrorMessage(connection))) }

    /// The next result; nil between those of two statements. If it throws, results stay unread, and would be taken for those
    /// of what is sent next.
    private func next() throws -> OpaquePointer? {
      do { return try awaited() } catch {
        isBroken = true
        throw error
      }
    }

    private func awaited() throws -> OpaquePointer? {
      beginWaiting()
      while true {
        let hasMore = PQflush(connection)
        guard hasMore >= 0 else { throw lost }
        if hasMore == 0, PQisBusy(connection) == 0 { return PQgetResult(connection) }
        try wait(writing: hasMore > 0)
        guard Libpq.read(connection) else { throw lost }
        if hasMore > 0, PQisBusy(connection) == 0 { return PQgetResult(connection) }
      }
    }

    private func beginWaiting() { if let patience { deadline = SystemClock().uptime + patience.limit } }

    private func wait(writing: Bool) throws {
      guard PQsocket(connection) >= 0 else { throw lost }
      let rest = deadline - SystemClock().uptime
      let longest = patience == nil ? rest : min(rest, Patience.glance)
      let end = Libpq.wait(on: connection, for: max(longest, .zero), writing: writing)
      if patience != nil, end == .came { return beginWaiting() }
      if isUnwanted, !isCommitting, !isGivenUp {
        // Waited for like any answer: nothing is locked any more when that has come.
        isGivenUp = true
        canceller?.cancel()
      }
      guard patience == nil && end == .isOver || rest <= .zero else { return }
      if !isCommitting { canceller?.cancel() }
      throw PostgresFailure(.timedOut, "a statement took too long, and was given up")
    }
  }

  /// Has the server stop what it does for a connection, also after that is lost.
  private final class Canceller: Sendable {
    private let address: UInt

    init?(of connection: OpaquePointer) {
      guard let cancel = PQgetCancel(connection) else { return nil }
      address = UInt(bitPattern: cancel)
    }

    deinit { PQfreeCancel(OpaquePointer(bitPattern: address)) }

    /// On a thread that ends with it: an unreachable server never answers. Without one, the server finds out by itself.
    func cancel(_ then: @escaping @Sendable () -> Void = {}) {
      do {
        try StoreThread.start("durable-cancel") { [self] in
          var words = [CChar](repeating: 0, count: 256)
          PQcancel(OpaquePointer(bitPattern: address), &words, 256)
          then()
        }
      } catch {
        then()
      }
    }
  }
#endif
