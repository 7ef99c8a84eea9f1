import DurableJobs
import GRDB

/// The tables of a store. Their columns are documented in the migration that creates them.
enum Schema {
  /// The mark in the file's header that it is a store: "DurJ".
  static let applicationID: Int32 = 0x4475_724A
  /// The version that this library writes into `durable_meta`.
  static let version = Int64(steps.count)

  /// A table of somebody else's.
  static let foreignTableSQL = """
    SELECT name FROM sqlite_master WHERE type='table'
      AND name NOT GLOB 'durable_*' AND name NOT GLOB 'sqlite_*' AND name<>'grdb_migrations' LIMIT 1
    """

  /// The version of the tables in a database; 0 if it has none.
  static func versionFound(in db: Database) throws -> Int64 {
    // GRDB's `tableExists` reads all names of the database, which takes longer than to store a job.
    guard try Row.fetchOne(db, sql: "SELECT 1 FROM sqlite_master WHERE name='durable_meta'") != nil else { return 0 }
    guard let version = try Int64.fetchOne(db, sql: "SELECT version FROM durable_meta WHERE id=1") else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "its version is lost")
    }
    return version
  }

  /// Makes the tables, or those of this version of them, in one transaction. `isOwn`: the database is not an app's.
  static func migrate(_ db: Database, isOwn: Bool) throws {
    try db.inTransaction(.immediate) {
      let version = try versionFound(in: db)
      if isOwn, version == 0 { try db.execute(sql: "PRAGMA application_id = \(applicationID)") }
      for (index, step) in steps.enumerated().dropFirst(Int(clamping: max(version, 0))) {
        FaultPoint.migrateBegun.reach()
        try db.execute(sql: step)
        try db.execute(sql: "UPDATE durable_meta SET version=\(index + 1)")
        FaultPoint.migrateEnded.reach()
      }
      return .commit
    }
  }

  /// What makes each version of the one before it. Times are milliseconds since 1970.
  static let steps = [
    """
    -- `changes` counts changes of routes, pauses and constraints, which processes keep in memory. `stub`: see below.
    CREATE TABLE durable_meta(id INTEGER PRIMARY KEY CHECK(id=1), version INT NOT NULL, changes INT NOT NULL,
      stub INT NOT NULL);
    INSERT INTO durable_meta VALUES(1, 1, 0, 0);

    CREATE TABLE durable_queue(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, paused INT NOT NULL DEFAULT 0);

    -- What a worker must be able to serve, and how many jobs there are of it. Ready and running ones are not counted
    -- here: running ones are few, and counted in the index; ready is what is left.
    CREATE TABLE durable_route(id INTEGER PRIMARY KEY, queue INT NOT NULL, kind TEXT NOT NULL,
      requires TEXT NOT NULL DEFAULT '', jobs INT NOT NULL DEFAULT 0, blocked INT NOT NULL DEFAULT 0,
      scheduled INT NOT NULL DEFAULT 0, suspended INT NOT NULL DEFAULT 0, succeeded INT NOT NULL DEFAULT 0,
      failed INT NOT NULL DEFAULT 0, cancelled INT NOT NULL DEFAULT 0, skipped INT NOT NULL DEFAULT 0,
      UNIQUE(queue,kind,requires));

    -- The hot row: what a transition changes, and nothing else. `rank` is the time while scheduled, else -priority.
    -- `links` tells which tables below know the job, and what was asked of its worker. The highest id of all is never
    -- deleted, so that SQLite never gives it out again: it stays as a stub (state 11) until there is a higher one.
    CREATE TABLE durable_job(id INTEGER PRIMARY KEY, route INT NOT NULL, state INT NOT NULL, rank INT NOT NULL,
      priority INT NOT NULL, links INT NOT NULL, attempt INT NOT NULL, claim INT NOT NULL, run_at INT,
      entered_at INT NOT NULL, started_at INT NOT NULL);
    CREATE INDEX durable_job_line ON durable_job(route,state,rank) WHERE state<>7;

    -- The cold row: what was asked for, written once.
    CREATE TABLE durable_spec(id INTEGER PRIMARY KEY, created_at INT NOT NULL, options TEXT, payload BLOB);
    CREATE TABLE durable_job_key(key TEXT NOT NULL, job INT NOT NULL, PRIMARY KEY(key,job)) WITHOUT ROWID;
    CREATE TABLE durable_tag(tag TEXT NOT NULL, job INT NOT NULL, PRIMARY KEY(tag,job)) WITHOUT ROWID;

    -- One row or more for each living worker. `lease_until` is -1 once somebody recovers it. `session` is its process in the
    -- meeting folder. `asked` tells when it was last asked for a sign of life; `host` is not used any more.
    CREATE TABLE durable_worker(id INTEGER PRIMARY KEY AUTOINCREMENT, lease_until INT NOT NULL, asked INT NOT NULL,
      name TEXT NOT NULL, session TEXT NOT NULL, kinds TEXT NOT NULL, queues TEXT NOT NULL, host TEXT, pid INT,
      started_at INT NOT NULL);
    INSERT INTO sqlite_sequence VALUES('durable_worker', 65536);

    -- Written only when there is something to write.
    CREATE TABLE durable_output(id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
    CREATE TABLE durable_failure(job INT NOT NULL, number INT NOT NULL, attempt INT NOT NULL, at INT NOT NULL,
      message TEXT NOT NULL, PRIMARY KEY(job,number)) WITHOUT ROWID;
    CREATE TABLE durable_progress(id INTEGER PRIMARY KEY, fraction REAL NOT NULL, message TEXT, at INT NOT NULL,
      highest REAL NOT NULL);
    CREATE TABLE durable_crash(job INTEGER PRIMARY KEY, in_row INT NOT NULL, total INT NOT NULL);
    CREATE TABLE durable_note(job INTEGER PRIMARY KEY, text TEXT NOT NULL);
    """,
    """
    -- Which unfinished job has a unique key.
    CREATE TABLE durable_uniq(key TEXT PRIMARY KEY, job INT NOT NULL) WITHOUT ROWID;
    """,
    """
    -- How often the clock was seen to be set back, the time at which it was last, and the highest job of before: what is
    -- said of times up to there is of a clock that is gone. Jobs that wait for a date say so in `links`; till now, all first
    -- starts did.
    ALTER TABLE durable_meta ADD COLUMN epoch INT NOT NULL DEFAULT 0;
    ALTER TABLE durable_meta ADD COLUMN epoch_at INT NOT NULL DEFAULT 0;
    ALTER TABLE durable_meta ADD COLUMN epoch_job INT NOT NULL DEFAULT 0;
    UPDATE durable_job SET links=links|2048 WHERE state IN(3,6) AND run_at NOT NULL AND claim=1099511627776;
    """,
    """
    -- Which end of `parent` the job `child` needs: 1 success, 2 any, 3 failure, and 4 more where the parent was removed and
    -- had not ended so. `slot` is the input that it is, or -1.
    CREATE TABLE durable_edge(parent INT NOT NULL, child INT NOT NULL, need INT NOT NULL, slot INT NOT NULL,
      PRIMARY KEY(parent,child,need,slot)) WITHOUT ROWID;
    CREATE INDEX durable_edge_child ON durable_edge(child);
    -- The same for the first job that comes with a key.
    CREATE TABLE durable_edge_key(key TEXT NOT NULL, child INT NOT NULL, need INT NOT NULL, slot INT NOT NULL,
      PRIMARY KEY(key,child,need,slot)) WITHOUT ROWID;
    CREATE INDEX durable_edge_key_child ON durable_edge_key(child);
    -- How many of a job's edges are from jobs that have not ended, where there are any.
    CREATE TABLE durable_wait(job INTEGER PRIMARY KEY, n INT NOT NULL);
    -- The jobs of a lane: those that have a seat in it, and those that wait for one.
    CREATE TABLE durable_lane(name TEXT NOT NULL, seat INT NOT NULL, job INT NOT NULL, PRIMARY KEY(name,seat,job))
      WITHOUT ROWID;
    CREATE TABLE durable_lane_width(name TEXT PRIMARY KEY, width INT NOT NULL) WITHOUT ROWID;
    -- The job whose end skipped this one.
    ALTER TABLE durable_note ADD COLUMN cause INT;
    """,
    """
    -- What the steps gave of a job that has not succeeded.
    CREATE TABLE durable_step(job INT NOT NULL, name TEXT NOT NULL, value BLOB NOT NULL, PRIMARY KEY(job,name));
    -- Who has a unique key: unfinished jobs, and those that have ended till the time in `until`.
    CREATE TABLE durable_uniq_5(key TEXT NOT NULL, job INT NOT NULL, until INT, PRIMARY KEY(key,job)) WITHOUT ROWID;
    INSERT INTO durable_uniq_5 SELECT key,job,NULL FROM durable_uniq;
    DROP TABLE durable_uniq;
    ALTER TABLE durable_uniq_5 RENAME TO durable_uniq;
    -- When unfinished jobs are given up.
    CREATE TABLE durable_deadline(at INT NOT NULL, job INT NOT NULL, PRIMARY KEY(at,job)) WITHOUT ROWID;
    -- Conditions that hold for all workers, or for none, because somebody set them; and what each worker says of others.
    CREATE TABLE durable_constraint(name TEXT PRIMARY KEY, satisfied INT NOT NULL) WITHOUT ROWID;
    ALTER TABLE durable_worker ADD COLUMN satisfied TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE durable_worker ADD COLUMN absent TEXT NOT NULL DEFAULT '[]';
    -- Jobs that are counted together: all that there were, the unfinished ones, those that succeeded, and those that are
    -- still there. `completion` is the job to follow them, as JSON, and `follower` its id once it is stored.
    CREATE TABLE durable_batch(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, total INT NOT NULL DEFAULT 0,
      live INT NOT NULL DEFAULT 0, succeeded INT NOT NULL DEFAULT 0, jobs INT NOT NULL DEFAULT 0,
      done INT NOT NULL DEFAULT 0, completion BLOB, follower INT);
    CREATE INDEX durable_batch_name ON durable_batch(name);
    CREATE TABLE durable_batch_job(batch INT NOT NULL, job INT NOT NULL, PRIMARY KEY(batch,job)) WITHOUT ROWID;
    """,
    """
    -- How many jobs of a queue run at once at most, and how many begin: `rate` in `period` milliseconds, `burst` at once
    -- after a rest. `tat` is the time in microseconds at which all of a burst may begin again.
    ALTER TABLE durable_queue ADD COLUMN running INT;
    ALTER TABLE durable_queue ADD COLUMN rate INT;
    ALTER TABLE durable_queue ADD COLUMN period INT;
    ALTER TABLE durable_queue ADD COLUMN burst INT;
    ALTER TABLE durable_queue ADD COLUMN tat INT NOT NULL DEFAULT 0;
    -- By what a program matches the error.
    ALTER TABLE durable_failure ADD COLUMN code TEXT;
    """,
    """
    -- When it was done, if it had no jobs then.
    ALTER TABLE durable_batch ADD COLUMN empty_at INT;
    CREATE INDEX durable_batch_empty ON durable_batch(empty_at) WHERE empty_at NOT NULL;
    UPDATE durable_batch SET empty_at=CAST(strftime('%s','now') AS INT)*1000 WHERE done=1 AND jobs<=0;
    """,
    """
    -- How often an attempt of a lane begins at most, as in `durable_queue`.
    ALTER TABLE durable_lane_width ADD COLUMN rate INT;
    ALTER TABLE durable_lane_width ADD COLUMN period INT;
    ALTER TABLE durable_lane_width ADD COLUMN burst INT;
    ALTER TABLE durable_lane_width ADD COLUMN tat INT NOT NULL DEFAULT 0;
    """,
  ]
}
