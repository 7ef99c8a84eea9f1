#if Postgres
  import DurableJobs
  import Foundation

  /// The tables of a store, in a schema of their own. Times are milliseconds since 1970.
  enum Schema {
    /// The version that this version of the library writes into `meta`.
    static var version: Int64 { Int64(steps.count) }
    static let oldestServer = 130_000

    /// What each version adds to the one before, in parts that are sent separately. `§` stands for the schema.
    private static let steps = [
      [tables], [identity], [limitsAndCodes], [emptyBatches], [laneRates], [processes], [functions],
      ["UPDATE §meta SET version=8;"], [enqueue, complete, "UPDATE §meta SET version=9;"],
    ]

    private static let tables = """
      -- `changes` counts changes of routes, pauses and conditions, which processes keep in memory. `epoch`: how often the
      -- clock was seen to be set back, the time at which it was last, and the highest job of before.
      CREATE TABLE §meta(id smallint PRIMARY KEY CHECK(id=1), version bigint NOT NULL, changes bigint NOT NULL,
        epoch bigint NOT NULL, epoch_at bigint NOT NULL, epoch_job bigint NOT NULL);
      CREATE SEQUENCE §job_id;
      -- So that no claim is that of nobody.
      CREATE SEQUENCE §worker_id START 65537;
      CREATE SEQUENCE §batch_id;

      CREATE TABLE §queue(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE,
        paused boolean NOT NULL DEFAULT false);
      -- What a worker must be able to serve.
      CREATE TABLE §route(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, queue bigint NOT NULL,
        kind text COLLATE "C" NOT NULL, requires text COLLATE "C" NOT NULL DEFAULT '', UNIQUE(queue,kind,requires));
      -- How many jobs there are of a route, in shares: each connection adds to one, so that they need not wait for each
      -- other. Ready and running jobs are not counted here: running ones are few, and ready is what is left.
      CREATE TABLE §tally(route bigint NOT NULL, share smallint NOT NULL, jobs bigint NOT NULL, blocked bigint NOT NULL,
        scheduled bigint NOT NULL, suspended bigint NOT NULL, succeeded bigint NOT NULL, failed bigint NOT NULL,
        cancelled bigint NOT NULL, skipped bigint NOT NULL, PRIMARY KEY(route,share)) WITH (fillfactor=50);

      -- The hot row: what a transition changes, and nothing else. `rank` is the time while scheduled, else -priority.
      -- `links` tells which tables below know the job, and what was asked of its worker.
      CREATE TABLE §job(id bigint PRIMARY KEY, route bigint NOT NULL, rank bigint NOT NULL, priority bigint NOT NULL,
        claim bigint NOT NULL, entered_at bigint NOT NULL, started_at bigint NOT NULL, links integer NOT NULL,
        attempt integer NOT NULL, state smallint NOT NULL, run_at bigint, batch bigint)
        WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
      CREATE INDEX job_line ON §job(route,state,rank,id) WHERE state<>7;
      -- The cold row: what was asked for, written once.
      CREATE TABLE §spec(id bigint PRIMARY KEY, created_at bigint NOT NULL, options text, lane text COLLATE "C",
        deadline bigint, payload bytea NOT NULL);
      CREATE TABLE §job_key(key text COLLATE "C", job bigint, PRIMARY KEY(key,job));
      CREATE TABLE §tag(tag text COLLATE "C", job bigint, PRIMARY KEY(tag,job));

      -- One row or more for each living worker. `lease_until` is -1 once somebody recovers it.
      CREATE TABLE §worker(id bigint PRIMARY KEY, lease_until bigint NOT NULL, name text NOT NULL, session text NOT NULL,
        kinds text NOT NULL, queues text NOT NULL, satisfied text NOT NULL, absent text NOT NULL, host text NOT NULL,
        pid bigint NOT NULL, started_at bigint NOT NULL) WITH (fillfactor=50);

      -- Which end of `parent` the job `child` needs: 1 success, 2 any, 3 failure, and 4 more where the parent was removed
      -- and had not ended so. `slot` is the input that it is, or -1.
      CREATE TABLE §edge(parent bigint, child bigint, need bigint, slot bigint, PRIMARY KEY(parent,child,need,slot));
      CREATE INDEX edge_child ON §edge(child);
      -- The same for the first job that comes with a key.
      CREATE TABLE §edge_key(key text COLLATE "C", child bigint, need bigint, slot bigint,
        PRIMARY KEY(key,child,need,slot));
      CREATE INDEX edge_key_child ON §edge_key(child);
      CREATE TABLE §wait(job bigint PRIMARY KEY, n bigint NOT NULL);
      -- The jobs of a lane: those that have a seat in it, and those that wait for one.
      CREATE TABLE §lane(name text COLLATE "C", seat smallint, job bigint, PRIMARY KEY(name,seat,job));
      CREATE TABLE §lane_width(name text COLLATE "C" PRIMARY KEY, width bigint NOT NULL);
      -- Who has a unique key: unfinished jobs, and those that have ended till the time in `until`.
      CREATE TABLE §uniq(key text COLLATE "C", job bigint, until bigint, PRIMARY KEY(key,job));
      CREATE TABLE §deadline(at bigint, job bigint, PRIMARY KEY(at,job));
      CREATE TABLE §condition(name text COLLATE "C" PRIMARY KEY, satisfied boolean NOT NULL);
      CREATE TABLE §batch(id bigint PRIMARY KEY, name text COLLATE "C" NOT NULL, total bigint NOT NULL DEFAULT 0,
        live bigint NOT NULL DEFAULT 0, succeeded bigint NOT NULL DEFAULT 0, jobs bigint NOT NULL DEFAULT 0,
        done boolean NOT NULL DEFAULT false, open boolean NOT NULL DEFAULT false, completion text, follower bigint);
      CREATE INDEX batch_name ON §batch(name,id);
      CREATE TABLE §batch_job(batch bigint, job bigint, PRIMARY KEY(batch,job));

      -- Written only when there is something to write.
      CREATE TABLE §output(id bigint PRIMARY KEY, bytes bytea NOT NULL);
      CREATE TABLE §failure(job bigint, number bigint, attempt bigint NOT NULL, at bigint NOT NULL, message text NOT NULL,
        PRIMARY KEY(job,number));
      CREATE TABLE §progress(id bigint PRIMARY KEY, fraction float8 NOT NULL, message text, at bigint NOT NULL,
        highest float8 NOT NULL);
      CREATE TABLE §crash(job bigint PRIMARY KEY, in_row bigint NOT NULL, total bigint NOT NULL);
      CREATE TABLE §note(job bigint PRIMARY KEY, text text NOT NULL, cause bigint);
      CREATE TABLE §step(job bigint, name text COLLATE "C", value bytea NOT NULL, PRIMARY KEY(job,name));
      INSERT INTO §meta VALUES(1,1,0,0,0,0);
      """

    private static let identity = """
      -- Which store it is, by whatever name it is reached.
      ALTER TABLE §meta ADD COLUMN identity uuid NOT NULL DEFAULT gen_random_uuid();
      -- Stores that were moved here.
      CREATE TABLE §origin(source text PRIMARY KEY, job bigint NOT NULL, at bigint NOT NULL);
      UPDATE §meta SET version=2;
      """

    private static let limitsAndCodes = """
      -- How many jobs of a queue run at once at most, and how many begin: `rate` in `period` milliseconds, `burst` at once
      -- after a rest. `tat` is the time in microseconds at which all of a burst may begin again.
      ALTER TABLE §queue ADD COLUMN running bigint, ADD COLUMN rate bigint, ADD COLUMN period bigint,
        ADD COLUMN burst bigint, ADD COLUMN tat bigint NOT NULL DEFAULT 0;
      -- By what a program matches the error.
      ALTER TABLE §failure ADD COLUMN code text;
      UPDATE §meta SET version=3;
      """

    private static let emptyBatches = """
      -- When it was done, if it had no jobs then.
      ALTER TABLE §batch ADD COLUMN empty_at bigint;
      CREATE INDEX batch_empty ON §batch(empty_at,id) WHERE empty_at IS NOT NULL;
      UPDATE §batch SET empty_at=extract(epoch FROM now())::bigint*1000 WHERE done AND jobs<=0;
      UPDATE §meta SET version=4;
      """

    private static let laneRates = """
      -- How often an attempt of a lane begins at most, as in `queue`.
      ALTER TABLE §lane_width ADD COLUMN rate bigint, ADD COLUMN period bigint, ADD COLUMN burst bigint,
        ADD COLUMN tat bigint NOT NULL DEFAULT 0;
      UPDATE §meta SET version=5;
      """

    private static let processes = """
      -- Where the process of `pid` can be found, and when it started, as its system says; null where that does not tell.
      ALTER TABLE §worker ADD COLUMN machine text, ADD COLUMN process_start bigint;
      UPDATE §meta SET version=6;
      """

    /// Functions are replaced as a whole: they come with the last version that changed them.
    private static let functions = "UPDATE §meta SET version=7;"

    /// `name` as an SQL identifier.
    static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    /// The number under which the schema's names are locked.
    static func lockSeed(_ name: String) -> Int64 {
      let hash = name.utf8.reduce(into: UInt64(14_695_981_039_346_656_037)) { hash, byte in
        hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211
      }
      return Int64(bitPattern: hash) << 4
    }

    /// All statements for the schema `name`, from that version or from none, for people.
    static func script(_ name: String, from version: Int64 = 0) -> String {
      parts(name, from: version).map { $0 + "\n" }.joined(separator: "\n")
    }

    /// The same one by one: a prepared statement is only one.
    static func statements(_ name: String, from version: Int64) -> [String] {
      parts(name, from: version).flatMap { part in
        guard !part.contains("$$") else { return [part] }
        return part.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("--") }.joined(separator: "\n")
          .split(separator: ";").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
      }
    }

    private static func parts(_ name: String, from version: Int64) -> [String] {
      steps.dropFirst(Int(version)).joined().map {
        $0.replacing("§", with: quoted(name) + ".").replacing("¤", with: Notices.channel(of: name))
          .replacing("¶", with: "\(lockSeed(name) &+ Transaction.NameSpace.route.rawValue)")
      }
    }

    static func creation(of name: String) -> String { "CREATE SCHEMA IF NOT EXISTS \(quoted(name))" }
  }
#endif
