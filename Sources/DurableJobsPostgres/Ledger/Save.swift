#if Postgres
  import DurableJobs
  import Foundation

  /// Writes what was decided, each set in one statement, or in several where it is large.
  extension Transaction {
    static let saveSQL = """
      UPDATE §job j SET state=u.state,rank=u.rank,links=u.links,attempt=u.attempt,run_at=u.run_at,entered_at=u.entered_at,
        claim=u.claim,priority=u.priority
      FROM unnest($1,$2,$3,$4,$5,$6,$7,$8,$9) u(id,state,rank,links,attempt,run_at,entered_at,claim,priority)
      WHERE j.id=u.id
      """
    static let dropNotesSQL = "DELETE FROM §note WHERE job=ANY($1)"
    static let leaveSQL = """
      DELETE FROM §lane l USING unnest($1,$2,$3) u(name,seat,job) WHERE l.name=u.name AND l.seat=u.seat AND l.job=u.job
      """
    static let dropWaitsSQL = "DELETE FROM §wait WHERE job=ANY($1)"
    static let dropDeadlinesSQL =
      "DELETE FROM §deadline d USING unnest($1,$2) u(at,job) WHERE d.at=u.at AND d.job=u.job"
    static let crashesSQL = """
      INSERT INTO §crash SELECT * FROM unnest($1,$2,$3)
      ON CONFLICT(job) DO UPDATE SET in_row=excluded.in_row,total=excluded.total
      """
    static let dropCrashesSQL = "DELETE FROM §crash WHERE job=ANY($1)"
    static let releaseSQL = "DELETE FROM §uniq q USING unnest($1,$2) u(key,job) WHERE q.key=u.key AND q.job=u.job"
    static let progressSQL = """
      INSERT INTO §progress AS p SELECT id,fraction,message,$4,fraction FROM unnest($1,$2,$3) u(id,fraction,message)
      ON CONFLICT(id) DO UPDATE SET fraction=excluded.fraction,message=excluded.message,at=excluded.at,
        highest=greatest(p.highest,excluded.highest)
      """
    static let stepsSQL = """
      INSERT INTO §step SELECT * FROM unnest($1,$2,$3) ON CONFLICT(job,name) DO UPDATE SET value=excluded.value
      """
    static let dropStepsSQL = "DELETE FROM §step WHERE job=ANY($1)"
    static let failuresSQL = """
      INSERT INTO §failure SELECT u.job,coalesce((SELECT max(number) FROM §failure f WHERE f.job=u.job),0)+1,u.attempt,$4,
        u.message,u.code
      FROM unnest($1,$2,$3,$5) u(job,attempt,message,code)
      """
    static let trimFailuresSQL = """
      DELETE FROM §failure f USING unnest($1) u(job) WHERE f.job=u.job AND f.number<=(
        SELECT max(number) FROM §failure x WHERE x.job=u.job)-\(Limits.failuresKept)
      """
    static let outputsSQL = """
      INSERT INTO §output SELECT * FROM unnest($1,$2) ON CONFLICT(id) DO UPDATE SET bytes=excluded.bytes
      """
    static let payloadsSQL = "UPDATE §spec s SET payload=u.payload FROM unnest($1,$2) u(id,payload) WHERE s.id=u.id"
    static let neverMetSQL = """
      UPDATE §edge e SET need=e.need+\(Edge.never) FROM unnest($1,$2,$3) u(parent,child,need)
      WHERE e.parent=u.parent AND e.child=u.child AND e.need=u.need
      """

    /// How many jobs one statement changes: so none takes long, however many an end concerns.
    static let mostAtOnce = 1000

    func save(_ changes: Changes) throws {
      try save(changes.workers)
      let all = changes.jobs
      lockLanes(of: all.lazy.filter { $0.before.seat != $0.after.seat }.map(\.before))
      let sorted = all.sorted { $0.before.id < $1.before.id }
      for first in stride(from: 0, to: sorted.count, by: Self.mostAtOnce) {
        let part = Array(sorted[first..<min(first + Self.mostAtOnce, sorted.count)])
        save(hot: part.filter(\.concernsHotRow))
        saveBeside(part)
        saveLanes(part)
        saveTimes(part)
        saveNews(part)
      }
      let bringers = all.compactMap { change in change.broughtKey.map { (job: change.before.id, key: $0.composed) } }
      if !bringers.isEmpty { lock(Set(bringers.map(\.key)).sorted(), .key) }
      bind(bringers)
      for change in all { news.moved(change) { place(change.before.route) } }
      let edges = changes.neverMet
      if !edges.isEmpty {
        connection.send(
          Self.neverMetSQL,
          [.ids(edges.map(\.parent)), .ids(edges.map(\.child)), .ints(edges.map(\.condition.need))])
      }
      if !changes.removed.isEmpty { delete(changes.removed) }
      if !changes.goneWorkers.isEmpty { bury(changes.goneWorkers) }
      save(changes.tats)
      save(changes.paces)
    }

    private func save(hot: [RowChange]) {
      guard !hot.isEmpty else { return }
      let rows = hot.map(\.after)
      let runAts = rows.map { $0.course.runAt?.milliseconds }
      connection.send(
        Self.saveSQL,
        [
          .ids(rows.map(\.id)), .ints(rows.map(\.course.state.code)),
          .ints(
            zip(rows, runAts).map { row, runAt in row.course.state == .scheduled ? runAt ?? now : row.priority.rank }),
          .ints(rows.map(\.links.rawValue)), .ints(rows.map { Int64($0.course.attempt) }), .optionalInts(runAts),
          .ints(hot.map { $0.after.course.state == $0.before.course.state ? $0.before.enteredAt : now }),
          .ints(rows.map(\.claim.rawValue)), .ints(rows.map(\.priority.stored)),
        ])
    }

    private func saveBeside(_ all: [RowChange]) {
      let noted = all.filter {
        $0.after.course.reason != $0.before.course.reason || $0.after.course.cause != $0.before.course.cause
      }
      putNotes(
        noted.compactMap { change in
          change.after.course.reason.map { (change.before.id, $0, change.after.course.cause) }
        })
      drop(Self.dropNotesSQL, noted.filter { $0.after.course.reason == nil })
      let crashed = all.filter {
        $0.after.course.crashes != $0.before.course.crashes
          || $0.after.course.crashesInRow != $0.before.course.crashesInRow
      }
      let counted = crashed.filter { $0.after.course.crashes > 0 }
      if !counted.isEmpty {
        connection.send(
          Self.crashesSQL,
          [
            .ids(counted.map(\.before.id)), .ints(counted.map { Int64($0.after.course.crashesInRow) }),
            .ints(counted.map { Int64($0.after.course.crashes) }),
          ])
      }
      drop(Self.dropCrashesSQL, crashed.filter { $0.after.course.crashes == 0 })
      let turned = all.filter { $0.before.course.state.isFinished != $0.after.course.state.isFinished }
      let (ended, opened) = (
        turned.filter { $0.after.course.state.isFinished }, turned.filter { !$0.after.course.state.isFinished }
      )
      takeKeys(opened.compactMap { change in change.before.unique.map { (change.before.id, $0) } })
      release(
        ended.compactMap { change in
          change.before.unique.flatMap { unique in
            unique.isHeld(in: change.after.course.state, at: now) ? nil : (unique.key, change.before.id)
          }
        })
    }

    private func saveLanes(_ all: [RowChange]) {
      let moved = all.filter { $0.before.seat != $0.after.seat }
      func seats(_ seat: (RowChange) -> Bool?) -> [(lane: String, isSeated: Bool, job: JobID)] {
        moved.compactMap { change in
          change.before.lane.flatMap { lane in seat(change).map { (lane.name, $0, change.before.id) } }
        }
      }
      leave(seats(\.before.seat))
      sit(seats(\.after.seat))
      let waiting = all.filter { $0.after.waits != $0.before.waits }
      putWaits(waiting.filter { $0.after.waits > 0 }.map { ($0.before.id, $0.after.waits) })
      drop(Self.dropWaitsSQL, waiting.filter { $0.after.waits <= 0 })
    }

    private func saveTimes(_ all: [RowChange]) {
      let timed = all.filter { $0.after.isTimed != $0.before.isTimed }
      func times(_ isTimed: Bool) -> [(at: Int64, job: JobID)] {
        timed.filter { $0.after.isTimed == isTimed }.compactMap { change in
          change.after.deadline.map { ($0.date.milliseconds, change.before.id) }
        }
      }
      setDeadlines(times(true))
      dropDeadlines(times(false))
    }

    /// Saves the news that attempts reported.
    private func saveNews(_ all: [RowChange]) {
      let told = all.compactMap { change in change.progress.map { (change.before.id, $0) } }
      if !told.isEmpty {
        connection.send(
          Self.progressSQL,
          [
            .ids(told.map(\.0)), .doubles(told.map(\.1.fraction)), .texts(told.map { $0.1.message }), .int(now),
          ])
      }
      let steps = all.flatMap { change in change.steps.map { (change.before.id, $0.key.composed, $0.value) } }
      if !steps.isEmpty {
        connection.send(Self.stepsSQL, [.ids(steps.map(\.0)), .texts(steps.map(\.1)), .datas(steps.map(\.2))])
      }
      drop(Self.dropStepsSQL, all.filter { $0.before.hasSteps && !$0.after.hasSteps })
      let failures = all.compactMap { change in change.failure.map { (change.before.id, $0) } }
      if !failures.isEmpty {
        let ids = Value.ids(failures.map(\.0))
        connection.send(
          Self.failuresSQL,
          [
            ids, .ints(failures.map { Int64($0.1.attempt) }),
            .texts(failures.map { $0.1.message.cutToMessage }), .int(now), .texts(failures.map(\.1.code)),
          ])
        connection.send(Self.trimFailuresSQL, [ids])
      }
      let payloads = all.compactMap { change in change.payload.map { (change.before.id, $0) } }
      if !payloads.isEmpty {
        connection.send(Self.payloadsSQL, [.ids(payloads.map(\.0)), .datas(payloads.map(\.1))])
      }
      let outputs = all.compactMap { change in change.output.map { (change.before.id, $0) } }
      if !outputs.isEmpty {
        connection.send(Self.outputsSQL, [.ids(outputs.map(\.0)), .datas(outputs.map(\.1))])
      }
    }

    /// Others that look at a lane rely on what they find there, even if a rule moved a seat without looking.
    private func lockLanes(of rows: some Sequence<JobRow>) {
      let names = Set(rows.compactMap { $0.lane?.name.composed })
      if !names.isEmpty { lock(names.sorted(), .lane) }
    }

    private func drop(_ sql: String, _ changes: [RowChange]) {
      if !changes.isEmpty { connection.send(sql, [.ids(changes.map(\.before.id))]) }
    }

    private func release(_ keys: [(String, JobID)]) {
      guard !keys.isEmpty else { return }
      connection.send(Self.releaseSQL, [.texts(keys.map(\.0.composed)), .ids(keys.map(\.1))])
    }

    private func leave(_ seats: [(lane: String, isSeated: Bool, job: JobID)]) {
      guard !seats.isEmpty else { return }
      connection.send(
        Self.leaveSQL,
        [.texts(seats.map(\.lane.composed)), .ints(seats.map { $0.isSeated ? 1 : 0 }), .ids(seats.map(\.job))])
    }

    private func dropDeadlines(_ deadlines: [(at: Int64, job: JobID)]) {
      guard !deadlines.isEmpty else { return }
      connection.send(Self.dropDeadlinesSQL, [.ints(deadlines.map(\.at)), .ids(deadlines.map(\.job))])
    }

    // MARK: Deleting

    /// Everything that is known of a job, its hot row last.
    static let deleteSQL = [
      "DELETE FROM §spec WHERE id=ANY($1)", "DELETE FROM §output WHERE id=ANY($1)",
      "DELETE FROM §failure WHERE job=ANY($1)", "DELETE FROM §progress WHERE id=ANY($1)", dropCrashesSQL, dropNotesSQL,
      dropStepsSQL, dropWaitsSQL, "DELETE FROM §edge WHERE child=ANY($1)", "DELETE FROM §edge_key WHERE child=ANY($1)",
      "DELETE FROM §edge WHERE parent=ANY($1) AND need<=\(Edge.never)", "DELETE FROM §job WHERE id=ANY($1)",
    ]
    static let leaveBatchSQL = """
      DELETE FROM §batch_job b USING unnest($1,$2) u(batch,job) WHERE b.batch=u.batch AND b.job=u.job
      """
    static let dropNamesSQL = "DELETE FROM §job_key k USING unnest($1,$2) u(key,job) WHERE k.key=u.key AND k.job=u.job"
    static let dropTagsSQL = "DELETE FROM §tag t USING unnest($1,$2) u(tag,job) WHERE t.tag=u.tag AND t.job=u.job"

    private func delete(_ rows: [JobRow]) {
      let batched = rows.compactMap { row in row.batch.map { ($0, row.id) } }
      if !batched.isEmpty {
        connection.send(Self.leaveBatchSQL, [.ints(batched.map(\.0.rawValue)), .ids(batched.map(\.1))])
      }
      dropDeadlines(
        rows.compactMap { row in row.isTimed ? row.deadline.map { ($0.date.milliseconds, row.id) } : nil })
      release(rows.compactMap { row in row.unique.map { ($0.key, row.id) } })
      let named = rows.compactMap { row in row.key.map { ($0.composed, row.id) } }
      if !named.isEmpty { connection.send(Self.dropNamesSQL, [.texts(named.map(\.0)), .ids(named.map(\.1))]) }
      let tagged = rows.flatMap { row in row.tags.map { ($0.composed, row.id) } }
      if !tagged.isEmpty { connection.send(Self.dropTagsSQL, [.texts(tagged.map(\.0)), .ids(tagged.map(\.1))]) }
      lockLanes(of: rows.lazy.filter { $0.seat != nil })
      leave(rows.compactMap { row in row.lane.flatMap { lane in row.seat.map { (lane.name, $0, row.id) } } })
      let ids = Value.ids(rows.map(\.id).sorted())
      for sql in Self.deleteSQL { connection.send(sql, [ids]) }
      for row in rows {
        news.moved(in: row.batch, from: row.course.state, to: nil)
        moved(row.id, route: row.route, from: row.course.state, to: nil)
      }
    }
  }
#endif
