#if Postgres
  import DurableJobs

  /// What programs in any language, triggers or people in `psql` may do in a transaction of their own. `§` stands for
  /// the schema, `¤` for the channel of its notices and `¶` for the number under which the names of routes are locked.
  extension Schema {
    /// How many shares of the counts there are for these, from 1000 on.
    private static let shares = 1000
    private static let chooseShare = """
      -- The counts have shares for these functions, so that nobody need wait till the caller commits: of all shares, the
              -- first from some one on that no other open transaction has.
              FOR i IN 0..\(shares - 1) LOOP
                tally_share := 1000+(pg_backend_pid()%64+i)%\(shares);
                EXIT WHEN pg_try_advisory_xact_lock(hashtextextended('share '||tally_share,¶));
              END LOOP;
      """

    static let enqueue = """
      -- Stores a job in the caller's transaction, and gives its id. Workers hear of it when that commits.
      CREATE OR REPLACE FUNCTION §enqueue(queue text, kind text, payload json, priority bigint DEFAULT 0,
        run_at timestamptz DEFAULT NULL, max_attempts integer DEFAULT \(Defaults.maxAttempts))
      RETURNS bigint LANGUAGE plpgsql AS $$
      #variable_conflict use_column
      DECLARE
        -- As the library writes them: composed, and with the one character escaped that stands for another.
        queue_name CONSTANT text := replace(normalize(enqueue.queue),chr(983040),chr(983040)||'1');
        kind_name CONSTANT text := replace(normalize(enqueue.kind),chr(983040),chr(983040)||'1');
        bytes CONSTANT bytea := convert_to(enqueue.payload::text,'UTF8');
        moment CONSTANT bigint := floor(extract(epoch FROM clock_timestamp())*1000);
        due bigint := CASE WHEN isfinite(enqueue.run_at) THEN floor(extract(epoch FROM enqueue.run_at)*1000) END;
        route_id bigint;
        new_id bigint;
        tally_share smallint;
      BEGIN
        IF NOT coalesce(octet_length(enqueue.queue) BETWEEN 1 AND \(Limits.nameBytes)
          AND octet_length(enqueue.kind) BETWEEN 1 AND \(Limits.nameBytes),false) THEN
          RAISE EXCEPTION 'queue and kind must have 1 to \(Limits.nameBytes) bytes' USING ERRCODE='22023';
        ELSIF NOT coalesce(octet_length(bytes)<=\(Limits.payloadBytes),false) THEN
          RAISE EXCEPTION 'the payload must have at most \(Limits.payloadBytes) bytes, and not be NULL' USING ERRCODE='22023';
        ELSIF NOT coalesce(enqueue.max_attempts>=1 AND enqueue.priority>-9223372036854775808,false) THEN
          RAISE EXCEPTION 'max_attempts must be at least 1, and priority a number' USING ERRCODE='22023';
        ELSIF enqueue.run_at='infinity' THEN
          RAISE EXCEPTION 'run_at must be a time that comes' USING ERRCODE='22023';
        END IF;
        IF due<=moment THEN due := NULL; END IF;
        LOOP
          SELECT r.id INTO route_id FROM §route r JOIN §queue q ON q.id=r.queue
          WHERE q.name=queue_name AND r.kind=kind_name AND r.requires='';
          EXIT WHEN FOUND;
          PERFORM pg_advisory_xact_lock(hashtextextended('routes',¶));
          INSERT INTO §queue(name) VALUES(queue_name) ON CONFLICT DO NOTHING;
          INSERT INTO §route(queue,kind) SELECT id,kind_name FROM §queue WHERE name=queue_name ON CONFLICT DO NOTHING;
          UPDATE §meta SET changes=changes+1 WHERE id=1;
        END LOOP;
        new_id := nextval('§job_id');
        INSERT INTO §job(id,route,state,rank,priority,links,attempt,claim,run_at,entered_at,started_at)
        VALUES(new_id,route_id,CASE WHEN due IS NULL THEN 4 ELSE 3 END,coalesce(due,-enqueue.priority),enqueue.priority,
          CASE WHEN due IS NULL THEN 0 ELSE \(Links.dated.rawValue) END,0,\(ClaimNumber.nobody.rawValue),due,moment,moment);
        INSERT INTO §spec(id,created_at,options,payload)
        VALUES(new_id,moment,CASE WHEN enqueue.max_attempts<>\(Defaults.maxAttempts)
          THEN '{"maxAttempts":'||enqueue.max_attempts||'}' END,bytes);
        \(chooseShare)
        INSERT INTO §tally AS t VALUES(route_id,tally_share,1,0,(due IS NOT NULL)::integer,0,0,0,0,0)
        ON CONFLICT(route,share) DO UPDATE SET jobs=t.jobs+1,scheduled=t.scheduled+excluded.scheduled;
        PERFORM pg_notify('¤','sql \(ForeignChange.work.rawValue) *');
        RETURN new_id;
      END $$;
      """

    /// What remains of a job's links when it has ended, if it may be ended here.
    private static let lasting = Links([.crash, .parents])

    static let complete = """
      -- Has a job succeed in the caller's transaction, one that nobody waits for. False if it had succeeded before.
      CREATE OR REPLACE FUNCTION §complete(id bigint, output json DEFAULT NULL) RETURNS boolean LANGUAGE plpgsql AS $$
      #variable_conflict use_column
      DECLARE
        was §job%ROWTYPE;
        obstacle text;
        moment CONSTANT bigint := floor(extract(epoch FROM clock_timestamp())*1000);
        tally_share smallint;
      BEGIN
        SELECT * INTO was FROM §job j WHERE j.id=complete.id FOR UPDATE;
        IF NOT FOUND THEN
          RAISE EXCEPTION 'there is no job %',complete.id USING ERRCODE='P0002';
        ELSIF was.state=7 THEN
          RETURN false;
        ELSIF was.state>7 THEN
          RAISE EXCEPTION 'job % has ended already, and not well',complete.id USING ERRCODE='55000';
        END IF;
        obstacle := CASE
          WHEN was.batch IS NOT NULL THEN 'has a batch'
          WHEN was.links&\(Links([.lane, .seated]).rawValue)<>0 THEN 'has a lane'
          WHEN was.links&\(Links.unique.rawValue)<>0 THEN 'has a unique key'
          -- Also while it is suspended. One that runs began before what it waits for was run again.
          WHEN was.state=2 OR was.state<>5 AND EXISTS(SELECT 1 FROM §wait w WHERE w.job=complete.id) THEN 'waits for others'
          WHEN was.links&\(Links.children.rawValue)<>0 THEN 'is waited for'
        END;
        IF obstacle IS NOT NULL THEN
          RAISE EXCEPTION 'job % %, which is left to the queue',complete.id,obstacle
            USING ERRCODE='0A000',HINT='durable complete '||complete.id||' ends it with all that follows.';
        ELSIF octet_length(complete.output::text)>\(Limits.payloadBytes) THEN
          RAISE EXCEPTION 'the output must have at most \(Limits.payloadBytes) bytes' USING ERRCODE='22023';
        END IF;
        UPDATE §job j SET state=7,rank=-priority,links=links&\(lasting.rawValue),run_at=NULL,entered_at=moment,
          -- The claim of a worker is void.
          claim=CASE WHEN claim=\(ClaimNumber.nobody.rawValue) THEN claim ELSE -abs(claim) END
        WHERE j.id=complete.id;
        DELETE FROM §wait w WHERE w.job=complete.id;
        DELETE FROM §note n WHERE n.job=complete.id;
        DELETE FROM §step s WHERE s.job=complete.id;
        DELETE FROM §deadline d USING §spec s WHERE s.id=complete.id AND d.at=s.deadline AND d.job=s.id;
        IF complete.output IS NOT NULL THEN
          INSERT INTO §output VALUES(complete.id,convert_to(complete.output::text,'UTF8'))
          ON CONFLICT(id) DO UPDATE SET bytes=excluded.bytes;
        END IF;
        \(chooseShare)
        INSERT INTO §tally AS t VALUES(was.route,tally_share,0,0,-(was.state=3)::integer,
          -(was.state=6)::integer,1,0,0,0)
        ON CONFLICT(route,share) DO UPDATE SET scheduled=t.scheduled+excluded.scheduled,
          suspended=t.suspended+excluded.suspended,succeeded=t.succeeded+1;
        PERFORM pg_notify('¤',CASE was.state WHEN 5 THEN 'sql \(ForeignChange([.results, .stops]).rawValue) *'
          ELSE 'sql \(ForeignChange.results.rawValue) *' END);
        RETURN true;
      END $$;
      """
  }
#endif
