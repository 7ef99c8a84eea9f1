#if Postgres
  import DurableJobs
  import Foundation

  /// What is counted or noted beside jobs, derived again from the jobs themselves. Each is a question that must have no answer.
  package enum WholeStore {
    private static let questions: [(what: String, sql: String)] = [
      (
        "the counts of a route",
        """
        SELECT r.id,s.name,coalesce(t.n,0),coalesce(j.n,0) FROM route r
        CROSS JOIN (VALUES('jobs',0),('blocked',2),('scheduled',3),('suspended',6),('succeeded',7),('failed',8),
          ('cancelled',9),('skipped',10)) s(name,code)
        CROSS JOIN LATERAL(SELECT sum((to_jsonb(t)->>s.name)::bigint) AS n FROM tally t WHERE t.route=r.id) t
        CROSS JOIN LATERAL(SELECT count(*) AS n FROM job WHERE route=r.id AND (s.code=0 OR state=s.code)) j
        WHERE coalesce(t.n,0)<>j.n
        """
      ),
      (
        "what a job waits for",
        """
        SELECT j.id,j.state,w.n,e.n FROM job j LEFT JOIN wait w ON w.job=j.id CROSS JOIN LATERAL(
          SELECT (SELECT count(*) FROM edge e JOIN job p ON p.id=e.parent WHERE e.child=j.id AND p.state<7)
            +(SELECT count(*) FROM edge_key WHERE child=j.id)
            +(SELECT count(*) FROM lane WHERE job=j.id AND seat=0) AS n) e
        WHERE coalesce(w.n,0)<>CASE WHEN j.state<7 THEN e.n ELSE 0 END AND j.state<>10
          OR j.state IN(2,3,4) AND (j.state=2)<>(e.n>0)
        """
      ),
      (
        "a job whose need can't be met, and that waits",
        """
        SELECT j.id,e.parent,e.need,p.state FROM job j JOIN edge e ON e.child=j.id LEFT JOIN job p ON p.id=e.parent
        WHERE j.state IN(2,3,4) AND (p.id IS NULL OR e.need>4 OR p.state>=7 AND e.need=1 AND p.state<>7
          OR p.state>=7 AND e.need=3 AND NOT(p.state=8 OR p.links&8192<>0))
        """
      ),
      (
        "the seats of a lane",
        """
        SELECT n.name,w.width,s.taken,s.waiting FROM (SELECT DISTINCT name FROM lane) n
        LEFT JOIN lane_width w ON w.name=n.name CROSS JOIN LATERAL(
          SELECT count(*) FILTER(WHERE seat=1) AS taken,count(*) FILTER(WHERE seat=0) AS waiting FROM lane
          WHERE name=n.name) s
        WHERE s.taken>coalesce(w.width,1) OR s.waiting>0 AND s.taken<coalesce(w.width,1)
        """
      ),
      (
        "a job's place in its lane",
        """
        SELECT j.id,j.state,j.links,l.name,l.seat FROM job j JOIN spec s ON s.id=j.id
        LEFT JOIN lane l ON l.job=j.id AND l.name=s.lane
        WHERE s.lane IS NOT NULL AND (j.links&4096<>0)<>coalesce(l.seat=1,false)
          OR s.lane IS NOT NULL AND j.state<7 AND l.name IS NULL OR s.lane IS NULL AND j.links&4098<>0
        """
      ),
      (
        "who has a unique key",
        """
        SELECT j.id,j.state,u.key FROM job j JOIN spec s ON s.id=j.id
        LEFT JOIN uniq u ON u.job=j.id AND u.key=s.options::json->>'unique'
        WHERE j.links&8<>0 AND j.state<7 AND u.key IS NULL
          OR u.key IS NOT NULL AND j.state>=7 AND u.until IS NULL
        UNION ALL SELECT u.job,0,u.key FROM uniq u LEFT JOIN job j ON j.id=u.job WHERE j.id IS NULL
        """
      ),
      (
        "two jobs that have a unique key, neither appended to the other",
        """
        SELECT a.job,b.job,a.key FROM uniq a JOIN uniq b ON b.key=a.key AND b.job>a.job
        JOIN job x ON x.id=a.job JOIN job y ON y.id=b.job
        WHERE x.state<7 AND y.state<7 AND x.links&16=0 AND NOT EXISTS(SELECT 1 FROM edge WHERE child=y.id)
        """
      ),
      (
        "the numbers of a batch",
        """
        SELECT b.*,m.n,m.live FROM batch b CROSS JOIN LATERAL(
          SELECT count(*) AS n,count(*) FILTER(WHERE state<7) AS live FROM batch_job x JOIN job j ON j.id=x.job
          WHERE x.batch=b.id) m
        WHERE b.jobs<>m.n OR b.live<>m.live OR b.live=0 AND NOT b.done AND NOT b.open
          OR b.done<>(b.follower IS NOT NULL) AND b.completion IS NOT NULL
        """
      ),
      (
        "what stands beside a job",
        """
        SELECT j.id,j.links FROM job j LEFT JOIN spec s ON s.id=j.id
        LEFT JOIN note n ON n.job=j.id LEFT JOIN crash c ON c.job=j.id
        WHERE s.id IS NULL OR (j.links&1024<>0)<>(n.job IS NOT NULL) OR (j.links&512<>0)<>(c.job IS NOT NULL)
          OR j.state<7 AND (j.links&16384<>0)<>EXISTS(SELECT 1 FROM deadline WHERE at=s.deadline AND job=j.id)
          OR (j.links&64<>0)<>(EXISTS(SELECT 1 FROM edge WHERE child=j.id)OR EXISTS(SELECT 1 FROM edge_key WHERE child=j.id))
            AND j.links&64=0
          OR j.links&1=0 AND EXISTS(SELECT 1 FROM edge WHERE parent=j.id)
        """
      ),
      (
        "what belongs to no job",
        """
        SELECT 'spec',id FROM spec WHERE id NOT IN(SELECT id FROM job) UNION ALL
        SELECT 'wait',job FROM wait WHERE job NOT IN(SELECT id FROM job) UNION ALL
        SELECT 'lane',job FROM lane WHERE job NOT IN(SELECT id FROM job) UNION ALL
        SELECT 'edge',child FROM edge WHERE child NOT IN(SELECT id FROM job) UNION ALL
        SELECT 'tag',job FROM tag WHERE job NOT IN(SELECT id FROM job) UNION ALL
        SELECT 'key',job FROM job_key WHERE job NOT IN(SELECT id FROM job) UNION ALL
        SELECT 'batch',job FROM batch_job WHERE job NOT IN(SELECT id FROM job) UNION ALL
        SELECT 'claim',id FROM job WHERE state=5 AND claim>>24 NOT IN(SELECT id FROM worker)
        """
      ),
    ]

    /// What does not hold of the store in a schema: nothing.
    package static func faults(
      of server: TestServer, schema: String, database: String = "postgres"
    ) throws -> [String] {
      try questions.flatMap { question in
        try server.psql(question.sql, schema: schema, database: database).map {
          "\(question.what): \($0.joined(separator: " "))"
        }
      }
    }
  }
#endif
