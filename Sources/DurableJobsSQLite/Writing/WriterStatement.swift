import DurableJobs
import Foundation

/// The statements that the writer keeps prepared. Each that must use `durable_job_line` contains `state<>7`, since
/// SQLite does not infer that another state implies it. Without its index, `INDEXED BY` fails, and is not slow.
struct WriterStatement: Hashable, Sendable, ExpressibleByStringInterpolation {
  let sql: String
  /// Its place among those that are prepared.
  let number: Int

  private static let made = Lock(0)

  init(stringLiteral sql: String) {
    self.sql = sql
    number = Self.made.withLock { made in
      defer { made += 1 }
      return made
    }
  }

  /// The columns of a job `j` that rules see.
  private static let row = """
    SELECT j.route,j.state,j.priority,j.links,j.attempt,j.claim,j.run_at,j.entered_at,s.options,c.in_row,c.total,n.text,
      CASE WHEN c.in_row>0 THEN(SELECT highest FROM durable_progress WHERE id=j.id) END,n.cause,
      CASE WHEN j.links&\(Links([.parents, .lane]).rawValue)<>0 THEN(SELECT n FROM durable_wait WHERE job=j.id) END,j.id
    """
  private static let waitingSQL = """
    SELECT l.job FROM durable_lane l CROSS JOIN durable_job j ON j.id=l.job
    WHERE l.name=?1 AND l.seat=0 AND j.state<7 ORDER BY l.job
    """
  private static let besideRow = """
    LEFT JOIN durable_spec s ON s.id=j.id LEFT JOIN durable_crash c ON c.job=j.id LEFT JOIN durable_note n ON n.job=j.id
    """

  static let begin: WriterStatement = "BEGIN IMMEDIATE"
  static let commit: WriterStatement = "COMMIT"
  static let rollback: WriterStatement = "ROLLBACK"
  static let beginPart: WriterStatement = "SAVEPOINT durable"
  static let endPart: WriterStatement = "RELEASE durable"
  static let busyTimeout: WriterStatement = "PRAGMA busy_timeout"
  static let rollbackPart: WriterStatement = "ROLLBACK TO durable"

  static let insertJob: WriterStatement = """
    INSERT INTO durable_job(route,state,rank,priority,links,attempt,claim,run_at,entered_at,started_at)
    VALUES(?1,?2,?3,?4,?7,0,\(ClaimNumber.nobody.rawValue),?5,?6,?6)
    """
  static let replacePayload: WriterStatement = "UPDATE durable_spec SET payload=?2 WHERE id=?1"
  static let insertSpec: WriterStatement =
    "INSERT OR REPLACE INTO durable_spec(id,created_at,options,payload) VALUES(?1,?2,?3,?4)"
  static let insertKey: WriterStatement = "INSERT OR IGNORE INTO durable_job_key(key,job) VALUES(?1,?2)"
  static let insertTag: WriterStatement = "INSERT OR IGNORE INTO durable_tag(tag,job) VALUES(?1,?2)"

  // A row that damage or another program left behind holds nothing: the job's own row decides.
  static let keyOwners: WriterStatement = """
    SELECT u.job,j.id NOT NULL AND (j.state<7 OR ifnull(u.until>?2,0)),ifnull(j.state<7,0)
    FROM durable_uniq u LEFT JOIN durable_job j ON j.id=u.job WHERE u.key=?1 ORDER BY u.job DESC
    """
  static let takeKey: WriterStatement = "INSERT OR REPLACE INTO durable_uniq(key,job,until) VALUES(?1,?2,?3)"
  static let releaseKey: WriterStatement = "DELETE FROM durable_uniq WHERE key=?1 AND job=?2"

  static let findQueue: WriterStatement = "SELECT id,paused FROM durable_queue WHERE name=?1"
  static let insertQueue: WriterStatement = "INSERT INTO durable_queue(name) VALUES(?1)"
  static let findRoute: WriterStatement = "SELECT id FROM durable_route WHERE queue=?1 AND kind=?2 AND requires=?3"
  static let insertRoute: WriterStatement = "INSERT INTO durable_route(queue,kind,requires) VALUES(?1,?2,?3)"
  // Not the highest, whose number would be reused.
  static let dropRoutes: WriterStatement = """
    DELETE FROM durable_route WHERE requires<>'' AND jobs=0 AND succeeded=0
      AND id<(SELECT max(id) FROM durable_route) AND NOT EXISTS(
        SELECT 1 FROM durable_job INDEXED BY durable_job_line WHERE route=durable_route.id AND state<>7)
    """
  static let pauseQueue: WriterStatement = """
    INSERT INTO durable_queue(name,paused) VALUES(?1,?2)
    ON CONFLICT(name) DO UPDATE SET paused=excluded.paused WHERE paused<>excluded.paused
    """
  static let setConstraint: WriterStatement = """
    INSERT INTO durable_constraint(name,satisfied) VALUES(?1,?2)
    ON CONFLICT(name) DO UPDATE SET satisfied=excluded.satisfied WHERE satisfied<>excluded.satisfied
    """
  static let clearConstraint: WriterStatement = "DELETE FROM durable_constraint WHERE name=?1"
  static let setLimits: WriterStatement = """
    INSERT INTO durable_queue(name,running,rate,period,burst) SELECT ?1,?2,?3,?4,?5
      WHERE ?2 NOT NULL OR ?3 NOT NULL OR EXISTS(SELECT 1 FROM durable_queue WHERE name=?1)
    ON CONFLICT(name) DO UPDATE
      SET running=excluded.running,rate=excluded.rate,period=excluded.period,burst=excluded.burst
      WHERE (running,rate,period,burst) IS NOT (excluded.running,excluded.rate,excluded.period,excluded.burst)
    """
  static let limitOf: WriterStatement = """
    SELECT tat,(SELECT count(*) FROM(SELECT 1 FROM durable_route r CROSS JOIN durable_job j INDEXED BY durable_job_line
      ON j.route=r.id AND j.state=5 AND j.state<>7 WHERE r.queue=q.id LIMIT ?2)) FROM durable_queue q WHERE name=?1
    """
  static let putTat: WriterStatement = "UPDATE durable_queue SET tat=?2 WHERE name=?1"
  static let bumpChanges: WriterStatement = "UPDATE durable_meta SET changes=(changes&\(Self.ring))+1 WHERE id=1"
  static let count: WriterStatement = """
    UPDATE durable_route SET \(RouteTotals.columns.enumerated().map { "\($1)=\($1)+?\($0 + 2)" }.joined(separator: ","))
    WHERE id=?1
    """

  static let beforeClaim: WriterStatement = """
    SELECT m.changes,w.lease_until,m.epoch FROM durable_meta m LEFT JOIN durable_worker w ON w.id=?1 WHERE m.id=1
    """
  static let nextDue: WriterStatement = """
    SELECT rank FROM durable_job INDEXED BY durable_job_line
    WHERE route=?1 AND state=3 AND state<>7 AND rank<=\(Date.latest) ORDER BY rank LIMIT 1
    """
  static let promote: WriterStatement = """
    UPDATE durable_job SET state=4,rank=-priority,entered_at=?2 WHERE id IN(
      SELECT id FROM durable_job INDEXED BY durable_job_line
      WHERE route=?1 AND state=3 AND state<>7 AND rank<=?2 ORDER BY rank LIMIT ?3)
    """
  static let routeOf: WriterStatement = "SELECT route FROM durable_job WHERE id=?1"
  static let pickOnly: WriterStatement =
    "\(Self.picked) FROM durable_job j LEFT JOIN durable_spec s ON s.id=j.id WHERE j.id=?1 AND j.state=4 LIMIT ?2"
  static let mark: WriterStatement =
    "UPDATE durable_job SET state=5,attempt=attempt+1,claim=?2,entered_at=?3,started_at=?3 WHERE id=?1"

  // One changed row means that the lease is valid, that no stop was requested since, and that no one waits.
  static let succeed: WriterStatement = """
    UPDATE durable_job SET state=7,entered_at=?2
    WHERE id=?1 AND claim=?3 AND state=5 AND links&\(Links.stopAsked.union(.slow).rawValue)=0
    """
  static let insertOutput: WriterStatement = "INSERT OR REPLACE INTO durable_output(id,bytes) VALUES(?1,?2)"

  static let load: WriterStatement = "\(Self.row) FROM durable_job j \(Self.besideRow) WHERE j.id=?1"
  static let childRows: WriterStatement = """
    \(Self.row) FROM durable_edge e CROSS JOIN durable_job j ON j.id=e.child \(Self.besideRow) WHERE e.parent=?1
    """
  static let save: WriterStatement = """
    UPDATE durable_job SET state=?2,rank=?3,links=?4,attempt=?5,run_at=?6,entered_at=?7,claim=?8,priority=?9 WHERE id=?1
    """
  static let seize: WriterStatement = """
    UPDATE durable_job SET state=6,rank=0,entered_at=?2,
      links=links&\(Links([.unique, .parents, .children, .lane, .seated, .steps, .deadline]).rawValue)|\(Links.note.rawValue)
    WHERE id=?1
    """
  // Skips invalid numbers, and those without a successor.
  static let appendFailure: WriterStatement = """
    INSERT OR REPLACE INTO durable_failure(job,number,attempt,at,message,code)
    VALUES(?1,1+ifnull((SELECT max(number) FROM durable_failure WHERE job=?1 AND number BETWEEN 1 AND \(Self.ring)),0),
      ?2,?3,?4,?5)
    RETURNING number
    """
  static let trimFailures: WriterStatement =
    "DELETE FROM durable_failure WHERE job=?1 AND(number<=?2 OR number>\(Self.ring))"
  static let putProgress: WriterStatement = """
    INSERT INTO durable_progress(id,fraction,message,at,highest) VALUES(?1,?2,?3,?4,?2)
    ON CONFLICT(id) DO UPDATE SET fraction=excluded.fraction,message=excluded.message,at=excluded.at,
      highest=max(highest,excluded.highest)
    """
  static let putCrash: WriterStatement = "INSERT OR REPLACE INTO durable_crash(job,in_row,total) VALUES(?1,?2,?3)"
  static let deleteCrash: WriterStatement = "DELETE FROM durable_crash WHERE job=?1"
  static let putNote: WriterStatement = "INSERT OR REPLACE INTO durable_note(job,text,cause) VALUES(?1,?2,?3)"
  static let deleteNote: WriterStatement = "DELETE FROM durable_note WHERE job=?1"
  static let putStep: WriterStatement = "INSERT OR REPLACE INTO durable_step(job,name,value) VALUES(?1,?2,?3)"
  static let steps: WriterStatement = "SELECT name,value FROM durable_step WHERE job=?1"
  static let deleteSteps: WriterStatement = "DELETE FROM durable_step WHERE job=?1"
  // Not after a number so high that there is none.
  static let insertBatch: WriterStatement = """
    INSERT INTO durable_batch(id,name,completion,done) SELECT 1+max(
      ifnull((SELECT seq FROM sqlite_sequence WHERE name='durable_batch' AND seq BETWEEN 0 AND 1<<60),0),
      ifnull((SELECT max(id) FROM durable_batch WHERE id BETWEEN 0 AND 1<<60),0)),?1,?2,?3
    """
  static let closeBatch: WriterStatement = "UPDATE durable_batch SET done=0 WHERE id=?1 AND done=2"
  static let batch: WriterStatement = "SELECT live,done,completion,jobs FROM durable_batch WHERE id=?1"
  static let putMember: WriterStatement = "INSERT OR IGNORE INTO durable_batch_job(batch,job) VALUES(?1,?2)"
  static let deleteMember: WriterStatement = "DELETE FROM durable_batch_job WHERE batch=?1 AND job=?2"
  static let tally: WriterStatement = """
    UPDATE durable_batch SET total=total+?2,live=live+?3,succeeded=succeeded+?4,jobs=jobs+?5 WHERE id=?1
    RETURNING live,done,CASE WHEN live<=0 AND done=0 THEN completion END,jobs
    """
  static let complete: WriterStatement =
    "UPDATE durable_batch SET done=1,follower=?2,empty_at=CASE WHEN jobs<=0 THEN ?3 END WHERE id=?1"
  static let deleteBatch: WriterStatement = "DELETE FROM durable_batch WHERE id=?1 AND jobs<=0 AND done<>2"
  static let putDeadline: WriterStatement = "INSERT OR IGNORE INTO durable_deadline(at,job) VALUES(?1,?2)"
  static let deleteDeadline: WriterStatement = "DELETE FROM durable_deadline WHERE at=?1 AND job=?2"
  static let forgetDeadlines: WriterStatement = "DELETE FROM durable_deadline WHERE at<=?2 AND CAST(job AS INT)=?1"
  static let overdue: WriterStatement = "SELECT job FROM durable_deadline WHERE at<=?1 ORDER BY at,job LIMIT ?2"

  static let insertSeat: WriterStatement = "INSERT OR IGNORE INTO durable_lane(name,seat,job) VALUES(?1,?2,?3)"
  static let deleteSeat: WriterStatement = "DELETE FROM durable_lane WHERE name=?1 AND seat=?2 AND job=?3"
  static let seats: WriterStatement = """
    SELECT(SELECT count(*) FROM durable_lane l CROSS JOIN durable_job j ON j.id=l.job
      WHERE l.name=?1 AND l.seat=1 AND(j.state<7 OR j.links&\(Links.seated.rawValue)<>0)),
      w.width,(\(Self.waitingSQL) LIMIT ?2>0),w.rate,w.period,w.burst,w.tat
    FROM(SELECT 1) LEFT JOIN durable_lane_width w ON w.name=?1
    """
  static let waiting: WriterStatement = "\(Self.waitingSQL) LIMIT ?2"
  static let putWidth: WriterStatement =
    "INSERT INTO durable_lane_width(name,width) VALUES(?1,?2) ON CONFLICT(name) DO UPDATE SET width=excluded.width"
  static let putPace: WriterStatement = """
    INSERT INTO durable_lane_width(name,width,rate,period,burst,tat) VALUES(?1,1,?2,?3,?4,?5)
    ON CONFLICT(name) DO UPDATE SET rate=excluded.rate,period=excluded.period,burst=excluded.burst,tat=excluded.tat
    """
  static let dropLane: WriterStatement = "DELETE FROM durable_lane_width WHERE name=?1 AND width=1 AND rate IS NULL"
  static let rebaseLanes: WriterStatement = "UPDATE durable_lane_width SET tat=tat-?1*1000 WHERE rate NOT NULL"
  static let named: WriterStatement = """
    SELECT ifnull(
      (SELECT k.job FROM durable_job_key k CROSS JOIN durable_job j ON j.id=k.job WHERE k.key=?1 AND j.state<7
        AND(?2 IS NULL OR j.id NOT IN(SELECT value FROM json_each(?2))) ORDER BY k.job DESC LIMIT 1),
      (SELECT k.job FROM durable_job_key k CROSS JOIN durable_job j ON j.id=k.job WHERE k.key=?1 AND j.state=7
        ORDER BY k.job DESC LIMIT 1))
    """
  static let waiters: WriterStatement = "SELECT child FROM durable_edge_key WHERE key=?1"
  static let isKeyAwaited: WriterStatement = "SELECT 1 FROM durable_edge_key WHERE key>='' LIMIT 1"
  static let waitForKey: WriterStatement =
    "INSERT OR IGNORE INTO durable_edge_key(key,child,need,slot) VALUES(?1,?2,?3,?4)"
  // A job may wait twice for the same end, by id and by key.
  static let bindKey: WriterStatement = """
    INSERT OR IGNORE INTO durable_edge(parent,child,need,slot) SELECT ?2,k.child,k.need,k.slot-EXISTS(
      SELECT 1 FROM durable_edge e WHERE e.parent=?2 AND e.child=k.child AND e.need=k.need AND e.slot=k.slot)
    FROM durable_edge_key k WHERE k.key=?1
    """
  static let unbindKey: WriterStatement = "DELETE FROM durable_edge_key WHERE key=?1"
  static let markBound: WriterStatement = "UPDATE durable_job SET links=links|\(Links.children.rawValue) WHERE id=?1"
  static let deleteKeyEdges: WriterStatement = "DELETE FROM durable_edge_key WHERE child=?1"
  static let insertEdge: WriterStatement =
    "INSERT OR IGNORE INTO durable_edge(parent,child,need,slot) VALUES(?1,?2,?3,?4)"
  static let children: WriterStatement = "SELECT child,need,slot FROM durable_edge WHERE parent=?1"
  static let parents: WriterStatement = """
    SELECT e.parent,e.need,e.slot,CASE WHEN j.links&\(Links.afterFailure.rawValue)<>0 THEN 8 ELSE j.state END
    FROM durable_edge e LEFT JOIN durable_job j ON j.id=e.parent WHERE e.child=?1
    UNION ALL SELECT 0,need,slot,2 FROM durable_edge_key WHERE child=?1
    """
  static let inputs: WriterStatement = """
    SELECT e.slot,e.parent,j.state,o.bytes FROM durable_edge e CROSS JOIN durable_job j ON j.id=e.parent
      LEFT JOIN durable_output o ON o.id=e.parent
    WHERE e.child=?1 AND e.slot>=0
    """
  static let putWait: WriterStatement = "INSERT OR REPLACE INTO durable_wait(job,n) VALUES(?1,?2)"
  static let deleteWait: WriterStatement = "DELETE FROM durable_wait WHERE job=?1"
  static let neverMet: WriterStatement =
    "UPDATE OR REPLACE durable_edge SET need=need+\(Edge.never) WHERE parent=?1 AND child=?2 AND need=?3"
  static let deleteParents: WriterStatement = "DELETE FROM durable_edge WHERE child=?1"
  static let deleteChildren: WriterStatement = "DELETE FROM durable_edge WHERE parent=?1 AND need<=\(Edge.never)"

  static let insertWorker: WriterStatement = """
    INSERT INTO durable_worker(lease_until,asked,name,session,kinds,queues,pid,started_at,satisfied,absent)
    VALUES(?1,0,?2,?3,?4,?5,?6,?7,?8,?9)
    """
  static let grantLease: WriterStatement = """
    UPDATE durable_worker SET lease_until=?2,session=ifnull(?3,session),kinds=?4,queues=?5,satisfied=?6,absent=?7
    WHERE id=?1
    """
  static let workerLease: WriterStatement = "SELECT lease_until FROM durable_worker WHERE id=?1"
  static let renewLease: WriterStatement =
    "UPDATE durable_worker SET lease_until=?2,session=ifnull(?3,session) WHERE id=?1 AND lease_until<>\(WorkerRow.taken)"
  static let noteDoubt: WriterStatement = "UPDATE durable_worker SET asked=?2 WHERE id=?1"
  static let takeWorker: WriterStatement =
    "UPDATE durable_worker SET lease_until=\(WorkerRow.taken) WHERE id=?1 AND CAST(lease_until AS INT)=?2"
  static let deleteWorker: WriterStatement = "DELETE FROM durable_worker WHERE id=?1"
  static let heldBy: WriterStatement = """
    SELECT id,claim,links FROM durable_job INDEXED BY durable_job_line
    WHERE route=?1 AND state=5 AND state<>7 AND claim BETWEEN ?2 AND ?3 LIMIT ?4
    """

  static let epoch: WriterStatement = "SELECT epoch,epoch_at FROM durable_meta WHERE id=1"
  static let nextEpoch: WriterStatement = "UPDATE durable_meta SET epoch=(epoch&\(Self.ring))+1 WHERE id=1"
  static let noteTime: WriterStatement = """
    UPDATE durable_meta SET epoch_at=?1,epoch_job=ifnull((SELECT max(id) FROM durable_job),0) WHERE id=1
    """
  static let rebase: WriterStatement = """
    UPDATE durable_job SET run_at=run_at-?2,rank=CASE state WHEN 3 THEN rank-?2 ELSE rank END,
      entered_at=CASE WHEN entered_at>?3 AND state<4 THEN entered_at-?2 ELSE entered_at END WHERE id IN(
      SELECT id FROM durable_job INDEXED BY durable_job_line
      WHERE route=?1 AND state IN(\(JobState.codesWithTime)) AND state<>7)
    AND run_at NOT NULL AND links&\(Links.dated.rawValue)=0
    """

  static let highestID: WriterStatement = "SELECT max(id) FROM durable_job"
  static let stub: WriterStatement = "SELECT stub FROM durable_meta WHERE id=1"
  static let setStub: WriterStatement = "UPDATE durable_meta SET stub=?1 WHERE id=1"
  static let makeStub: WriterStatement = "UPDATE durable_job SET route=0,state=\(stubCode),rank=0 WHERE id=?1"
  static let deleteStub: WriterStatement = "DELETE FROM durable_job WHERE id=?1 AND state=\(stubCode)"
  static let deleteJob: WriterStatement = "DELETE FROM durable_job WHERE id=?1"
  static let deleteSpec: WriterStatement = "DELETE FROM durable_spec WHERE id=?1"
  static let deleteKey: WriterStatement = "DELETE FROM durable_job_key WHERE key=?1 AND job=?2"
  static let deleteTag: WriterStatement = "DELETE FROM durable_tag WHERE tag=?1 AND job=?2"
  static let deleteOutput: WriterStatement = "DELETE FROM durable_output WHERE id=?1"
  static let deleteFailures: WriterStatement = "DELETE FROM durable_failure WHERE job=?1"
  static let deleteProgress: WriterStatement = "DELETE FROM durable_progress WHERE id=?1"

  /// Counters that only need to change wrap around here, so that they never overflow.
  static let ring: Int64 = 0xffff_ffff

  private static let picked = "SELECT j.id,j.rank,j.attempt,s.created_at,s.options,s.payload,j.links"

  /// Reads the ready jobs of a route in order. There is one for each route that a claim reads at the same time.
  static let pick = """
    \(picked)
    FROM durable_job j INDEXED BY durable_job_line LEFT JOIN durable_spec s ON s.id=j.id
    WHERE j.route=?1 AND j.state=4 AND j.state<>7 ORDER BY j.rank,j.id LIMIT ?2
    """
}
