#if Postgres
  import DurableJobs
  import Foundation

  extension NewRow {
    /// Whether only its own rows are written for it.
    var isPlain: Bool {
      let terms = job.terms
      return edges.isEmpty && seat == nil && waits == 0 && terms.key == nil && terms.unique == nil && terms.tags.isEmpty
        && terms.deadline == nil && course.reason == nil
    }
  }

  /// New jobs.
  extension Transaction {
    private static let columns = "ord,route,state,rank,priority,links,run_at,options,lane,deadline,payload"
    private static func insert(_ source: String) -> String {
      """
      WITH n AS MATERIALIZED(\(source)),
        i AS(INSERT INTO §job(id,route,state,rank,priority,links,attempt,claim,run_at,entered_at,started_at,batch)
          SELECT id,route,state,rank,priority,links,0,\(ClaimNumber.nobody.rawValue),run_at,$12,$12,batch FROM n),
        s AS(INSERT INTO §spec(id,created_at,options,lane,deadline,payload)
          SELECT id,$12,CASE WHEN batch IS NULL THEN options ELSE
            left(coalesce(options,'{}'),-1)||CASE WHEN options IS NULL THEN '' ELSE ',' END||'"batch":'||batch||'}' END,
            lane,deadline,payload FROM n),
        b AS(INSERT INTO §batch_job SELECT batch,id FROM n WHERE batch IS NOT NULL)
      SELECT id FROM n ORDER BY ord
      """
    }
    /// $13: the batch; with $14 the one that this transaction created last.
    private static let batch = "CASE WHEN $14 THEN currval('§batch_id') ELSE $13 END AS batch"
    private static let values = "unnest($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11"
    static let addSQL = insert(
      "SELECT nextval('§job_id') AS id,t.*,\(batch) FROM \(values)) t(\(columns)) ORDER BY t.ord")
    static let addKnownSQL = insert("SELECT t.*,\(batch) FROM \(values),$15) t(\(columns),id)")
    static let idsSQL = "SELECT nextval('§job_id') FROM generate_series(1,$1)"

    func sendForIDs(_ count: Int) {
      connection.send(Self.idsSQL, [.int(Int64(count))]) { [self] rows in
        ids += (0..<rows.count).map { rows.id($0, 0) }
      }
    }

    func reserveIDs(_ count: Int) throws {
      guard ids.count < count else { return }
      ids = []
      sendForIDs(count)
      try sync()
    }

    func add(_ rows: [NewRow], in batch: BatchMembership?, _ answer: PipelineAnswer) throws {
      let isPlain = rows.allSatisfy(\.isPlain)
      var values = try columns(rows)
      values += [.int(now), .int(batch?.known?.rawValue), .bool(batch?.made != nil)]
      func told(_ ids: [JobID]) {
        FaultPoint.insertJob.reach()
        stored += ids
        for (id, row) in zip(ids, rows) {
          news.moved(in: answer.reply.batch, from: nil, to: row.course.state)
          moved(id, route: route(of: row.job), from: nil, to: row.course.state)
        }
      }
      guard !isPlain else {
        forgetIDs()
        connection.send(Self.addSQL, values) { rows in
          answer.reply.added = (0..<rows.count).map { rows.id($0, 0) }
          told(answer.reply.added)
        }
        return
      }
      let added = Array(ids.prefix(rows.count))
      ids.removeFirst(rows.count)
      expectedIDs = 0
      let keys = rows.compactMap(\.job.terms.key)
      if !keys.isEmpty { lock(Set(keys.map(\.composed)).sorted(), .key) }
      connection.send(Self.addKnownSQL, values + [.ids(added)]) { _ in
        answer.reply.added = added
        told(added)
      }
      addBeside(rows, added)
    }

    func rank(of row: NewRow) -> Int64 {
      row.course.state == .scheduled ? row.course.runAt?.milliseconds ?? now : row.job.terms.priority.rank
    }

    private func columns(_ rows: [NewRow]) throws -> [Value] {
      let uniques = rows.map { row in row.job.terms.unique.map { KeyHold($0, storedAt: now) } }
      let links = zip(rows, uniques).map { $0.links($1) }
      return [
        .ints(rows.indices.map { Int64($0) }), .ints(rows.map { route(of: $0.job) }),
        .ints(rows.map(\.course.state.code)),
        .ints(rows.map(rank(of:))), .ints(rows.map(\.job.terms.priority.stored)), .ints(links.map(\.links.rawValue)),
        .optionalInts(rows.map { $0.course.runAt?.milliseconds }),
        .texts(try zip(rows, uniques).map { try StoredTerms($0.job.terms, $1).text }),
        .texts(rows.map { $0.job.terms.lane?.name.composed }), .optionalInts(links.map(\.deadline)),
        .datas(rows.map(\.job.payload)),
      ]
    }

    // MARK: Beside them

    static let takeKeysSQL = """
      INSERT INTO §uniq SELECT * FROM unnest($1,$2,$3) ON CONFLICT(key,job) DO UPDATE SET until=excluded.until
      """
    static let namesSQL = "INSERT INTO §job_key SELECT * FROM unnest($1,$2)"
    static let tagsSQL = "INSERT INTO §tag SELECT * FROM unnest($1,$2)"
    /// Jobs that wait for a key can't be removed while they are bound to the job that brings it.
    static let lockBoundSQL = """
      SELECT id FROM §job WHERE id=ANY(ARRAY(SELECT child FROM §edge_key WHERE key=ANY($1))) ORDER BY id FOR UPDATE
      """
    /// The first job that comes with a key is the one that others have waited for. A job may wait for its same end
    /// twice, by its id and by its key.
    static let bindSQL = """
      WITH b AS(SELECT key,min(job) AS job FROM unnest($1,$2) u(key,job) GROUP BY key),
        gone AS(DELETE FROM §edge_key e USING b WHERE e.key=b.key RETURNING b.job,e.child,e.need,e.slot),
        made AS(INSERT INTO §edge SELECT job,child,need,slot-(EXISTS(
          SELECT 1 FROM §edge x WHERE(x.parent,x.child,x.need,x.slot)=(gone.job,gone.child,gone.need,gone.slot)))::int
          FROM gone)
      UPDATE §job SET links=links|\(Links.children.rawValue) WHERE id IN(SELECT job FROM gone)
      """
    static let edgesSQL = "INSERT INTO §edge SELECT * FROM unnest($1,$2,$3,$4)"
    static let keyEdgesSQL = "INSERT INTO §edge_key SELECT * FROM unnest($1,$2,$3,$4)"

    private func addBeside(_ rows: [NewRow], _ ids: [JobID]) {
      let all = Array(zip(ids, rows))
      let uniques = all.compactMap { id, row -> (JobID, KeyHold)? in
        guard let unique = row.job.terms.unique.map({ KeyHold($0, storedAt: now) }),
          unique.isHeld(in: row.course.state, at: now)
        else { return nil }
        return (id, unique)
      }
      takeKeys(uniques)
      let named = all.compactMap { id, row in row.job.terms.key.map { (id, $0.composed, row.course.state) } }
      if !named.isEmpty {
        connection.send(Self.namesSQL, [.texts(named.map(\.1)), .ids(named.map(\.0))])
      }
      let tags = all.flatMap { id, row in row.job.terms.tags.map { ($0.composed, id) } }
      if !tags.isEmpty { connection.send(Self.tagsSQL, [.texts(tags.map(\.0)), .ids(tags.map(\.1))]) }
      var edges: [(parent: JobID, child: JobID, edge: NewEdge)] = []
      var keyEdges: [(key: String, child: JobID, edge: NewEdge)] = []
      for (id, row) in all {
        for edge in row.edges {
          switch edge.parent {
          case .known(let parent): edges.append((parent, id, edge))
          case .added(let index): edges.append((ids[index], id, edge))
          case .key(let key): keyEdges.append((key.composed, id, edge))
          }
        }
      }
      func rest(_ edges: [NewEdge]) -> [Value] {
        [.ints(edges.map(\.condition.need)), .ints(edges.map { $0.slot.map(Int64.init) ?? -1 })]
      }
      if !edges.isEmpty {
        connection.send(
          Self.edgesSQL, [.ids(edges.map(\.parent)), .ids(edges.map(\.child))] + rest(edges.map(\.edge)))
      }
      if !keyEdges.isEmpty {
        connection.send(
          Self.keyEdgesSQL, [.texts(keyEdges.map(\.key)), .ids(keyEdges.map(\.child))] + rest(keyEdges.map(\.edge)))
      }
      // After all that wait for a key, including those of this call.
      bind(named.filter { !$0.2.isFinished }.map { (job: $0.0, key: $0.1) })
      putNotes(all.compactMap { id, row in row.course.reason.map { (id, $0, row.course.cause) } })
      sit(all.compactMap { id, row in row.job.terms.lane.flatMap { lane in row.seat.map { (lane.name, $0, id) } } })
      putWaits(all.filter { $0.1.waits > 0 }.map { ($0.0, $0.1.waits) })
      setDeadlines(all.compactMap { id, row in row.links(nil).deadline.map { ($0, id) } })
    }

    /// The names of the keys must be locked.
    func bind(_ bringers: [(job: JobID, key: String)]) {
      guard !bringers.isEmpty else { return }
      connection.send(Self.lockBoundSQL, [.texts(bringers.map(\.key))])
      connection.send(Self.bindSQL, [.texts(bringers.map(\.key)), .ids(bringers.map(\.job))])
    }

    func takeKeys(_ keys: [(JobID, KeyHold)]) {
      guard !keys.isEmpty else { return }
      connection.send(
        Self.takeKeysSQL,
        [.texts(keys.map(\.1.key.composed)), .ids(keys.map(\.0)), .optionalInts(keys.map(\.1.until))])
    }

    static let notesSQL = """
      INSERT INTO §note SELECT * FROM unnest($1,$2,$3)
      ON CONFLICT(job) DO UPDATE SET text=excluded.text,cause=excluded.cause
      """
    static let sitSQL = "INSERT INTO §lane SELECT * FROM unnest($1,$2,$3) ON CONFLICT DO NOTHING"
    static let waitsSQL = "INSERT INTO §wait SELECT * FROM unnest($1,$2) ON CONFLICT(job) DO UPDATE SET n=excluded.n"
    static let deadlinesSQL = "INSERT INTO §deadline SELECT * FROM unnest($1,$2) ON CONFLICT DO NOTHING"

    func putNotes(_ notes: [(JobID, String, JobID?)]) {
      guard !notes.isEmpty else { return }
      connection.send(
        Self.notesSQL,
        [
          .ids(notes.map(\.0)), .texts(notes.map { $0.1.cutToMessage }),
          .optionalInts(notes.map { $0.2?.rawValue }),
        ])
    }

    func sit(_ seats: [(lane: String, isSeated: Bool, job: JobID)]) {
      guard !seats.isEmpty else { return }
      connection.send(
        Self.sitSQL,
        [.texts(seats.map(\.lane.composed)), .ints(seats.map { $0.isSeated ? 1 : 0 }), .ids(seats.map(\.job))])
    }

    func putWaits(_ waits: [(JobID, Int)]) {
      guard !waits.isEmpty else { return }
      connection.send(Self.waitsSQL, [.ids(waits.map(\.0)), .ints(waits.map { Int64($0.1) })])
    }

    func setDeadlines(_ deadlines: [(at: Int64, job: JobID)]) {
      guard !deadlines.isEmpty else { return }
      connection.send(Self.deadlinesSQL, [.ints(deadlines.map(\.at)), .ids(deadlines.map(\.job))])
      if deadlines.contains(where: { $0.at - now < Defaults.sweepInterval.milliseconds }) { news.tell(.deadlines) }
    }
  }
#endif
