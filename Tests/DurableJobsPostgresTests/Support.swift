#if Postgres
  import DurableJobs
  import Foundation
  import PostgresTestServer
  import Testing

  extension NewJob {
    static func plain(_ kind: String = "work", terms: JobTerms = JobTerms(), after edges: [JobEdge] = []) -> NewJob {
      NewJob(queue: "default", kind: kind, payload: Data("{}".utf8), terms: terms, edges: edges)
    }
  }

  extension TestServer {
    /// How many sessions of a database wait for a lock.
    func waiting(in database: String) throws -> Int {
      try psql(
        "SELECT 1 FROM pg_stat_activity WHERE datname=current_database() AND wait_event_type='Lock'", database: database
      ).count
    }
  }

  extension ClaimRequest {
    static func of(_ capacity: Int, worker: String = "w", kinds: Set<String> = ["work"]) -> ClaimRequest {
      ClaimRequest(worker: WorkerID(worker), kinds: kinds, free: ["default": capacity])
    }
  }

  extension ClaimedJob {
    func settled(_ result: ClaimSettlement.Result = .succeeded(output: nil)) -> ClaimSettlement {
      ClaimSettlement(token: token, result: result)
    }
  }

  /// Each start of an attempt that was committed, also of one that was cut short, as the server noted it at that commit.
  struct StartNotes {
    struct Start {
      let kind: String
      /// In milliseconds.
      let at: Int64
      /// How many jobs were running then, and how many of its kind.
      let running: Int
      let ofKind: Int
    }

    private let notes: String

    init(of server: TestServer, schema: String) throws {
      notes = "notes_\(schema)"
      try server.psql(
        """
        CREATE SCHEMA \(notes);
        CREATE TABLE \(notes).start(number bigserial, kind text, at bigint, running bigint, of_kind bigint);
        CREATE FUNCTION \(notes).note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO \(notes).start(kind,at,running,of_kind)
          SELECT (SELECT r.kind FROM \(schema).route r WHERE r.id=NEW.route),NEW.started_at,
            count(*),count(*) FILTER (WHERE j.route=NEW.route)
          FROM \(schema).job j WHERE j.state=5;
          RETURN NULL;
        END $$;
        CREATE CONSTRAINT TRIGGER note AFTER UPDATE ON job DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW WHEN (NEW.state=5 AND OLD.state<>5) EXECUTE FUNCTION \(notes).note()
        """, schema: schema)
    }

    /// In the order of the commits, where these waited for each other.
    func all(on server: TestServer) throws -> [Start] {
      try server.psql("SELECT kind,at,running,of_kind FROM \(notes).start ORDER BY number").map { row in
        Start(kind: row[0], at: Int64(row[1]) ?? 0, running: Int(row[2]) ?? 0, ofKind: Int(row[3]) ?? 0)
      }
    }
  }

  extension JobRate {
    /// Whether there are more starts in no window, of these times in milliseconds, than the rate and its burst allow.
    func allows(_ times: [Int64]) -> Bool {
      let interval = Double(period.milliseconds) / Double(count)
      return times.indices.allSatisfy { first in
        times[first...].indices.allSatisfy { last in
          Double(last - first + 1) <= Double(burst) + Double(times[last] - times[first]) / interval
        }
      }
    }
  }

  extension WholeStore {
    static func expect(
      of server: TestServer, schema: String, database: String = "postgres",
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
      #expect(try faults(of: server, schema: schema, database: database) == [], sourceLocation: sourceLocation)
    }
  }
#endif
