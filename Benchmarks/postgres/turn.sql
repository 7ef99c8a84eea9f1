-- A hundred jobs' life, a commit each: stored, claimed, finished.
WITH n AS MATERIALIZED(SELECT nextval('limit_c.job_id') AS id FROM generate_series(1,100)),
  i AS(INSERT INTO limit_c.job SELECT id,1,0,0,1,0,4 FROM n)
  INSERT INTO limit_c.spec SELECT id,1,convert_to(repeat('x',106),'UTF8') FROM n;
WITH u AS(UPDATE limit_c.job SET state=5,attempt=attempt+1,claim=1,entered_at=3 WHERE id=ANY(ARRAY(
    SELECT id FROM limit_c.job WHERE route=1 AND state=4 ORDER BY rank,id LIMIT 100 FOR UPDATE SKIP LOCKED)) RETURNING id)
  SELECT array_agg(u.id)::text AS ids,sum(length(payload)) AS bytes FROM u JOIN limit_c.spec s ON s.id=u.id \gset
UPDATE limit_c.job SET state=7,entered_at=2 WHERE id=ANY(:ids::bigint[]) AND claim=1 AND state=5;
