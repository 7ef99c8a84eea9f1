// The life cycle of a job on PostgreSQL, written straight on libpq with nothing around it: what DurableJobs is held against.
//
//   limit CONNECTION insert N            one row a commit, into a table with a key and nothing else
//   limit CONNECTION enqueue N BATCH     jobs, BATCH a commit
//   limit CONNECTION store N             one job a commit as the store stores it: its two rows, and the count of its kind, with
//                                        the id and the number of the transaction known before COMMIT is sent
//   limit CONNECTION drain N BATCH       N jobs that are there already: BATCH results and the next BATCH claims a commit
//
// Prints the operations a second. A hot row and a cold one a job, one index for claims, as in the store. cc limit.c -lpq
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static PGconn *connection;
static const char *payload =
    "{\"account\":\"c-0012345678\",\"index\":1234567,\"isUrgent\":false,\"note\":\"abcdefghijklmnopqrstuvwx\",\"rank\":1}";

static void fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, PQerrorMessage(connection));
  exit(1);
}

static PGresult *take(void) {
  PGresult *result = PQgetResult(connection);
  ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_PIPELINE_SYNC) fail("statement");
  return result;
}

static void run(const char *sql) {
  PGresult *result = PQexec(connection, sql);
  if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK) fail(sql);
  PQclear(result);
}

static void prepare(const char *name, const char *sql) {
  PGresult *result = PQprepare(connection, name, sql, 0, NULL);
  if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(sql);
  PQclear(result);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void make(void) {
  run("SET client_min_messages=warning; DROP SCHEMA IF EXISTS limit_c CASCADE; CREATE SCHEMA limit_c; SET search_path=limit_c;"
      "CREATE TABLE row(id bigserial PRIMARY KEY, payload bytea NOT NULL);"
      "CREATE TABLE job(id bigint PRIMARY KEY, route bigint NOT NULL, rank bigint NOT NULL, claim bigint NOT NULL,"
      " entered_at bigint NOT NULL, attempt integer NOT NULL, state smallint NOT NULL) WITH (fillfactor=70);"
      "CREATE INDEX line ON job(route,state,rank,id) WHERE state<>7;"
      "CREATE TABLE spec(id bigint PRIMARY KEY, created_at bigint NOT NULL, payload bytea NOT NULL);"
      "CREATE TABLE tally(route bigint, share smallint, jobs bigint NOT NULL, PRIMARY KEY(route,share)) WITH (fillfactor=50);"
      "CREATE SEQUENCE job_id;");
}

static void settings(void) {
  run("SET search_path=limit_c; SET enable_seqscan=off; SET enable_bitmapscan=off; SET enable_hashjoin=off;"
      "SET enable_mergejoin=off; SET jit=off; SET plan_cache_mode=force_generic_plan");
}

// A statement of a pipeline, with texts as values.
static void send_prepared(const char *name, int count, const char *const *values) {
  if (!PQsendQueryPrepared(connection, name, count, values, NULL, NULL, 0)) fail(name);
}

static void insert(int count) {
  prepare("insert", "INSERT INTO row(payload) VALUES(convert_to($1,'UTF8'))");
  double start = now();
  for (int i = 0; i < count; i++) {
    PGresult *result = PQexecPrepared(connection, "insert", 1, &payload, NULL, NULL, 0);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail("insert");
    PQclear(result);
  }
  printf("%.0f\n", count / (now() - start));
}

static void enqueue(int count, int batch) {
  prepare("enqueue",
          "WITH n AS MATERIALIZED(SELECT nextval('job_id') AS id,p FROM unnest($1::text[]) p),"
          "i AS(INSERT INTO job SELECT id,1,0,0,1,0,4 FROM n)"
          "INSERT INTO spec SELECT id,1,convert_to(p,'UTF8') FROM n RETURNING id");
  char *array = malloc((size_t)batch * 300 + 3);
  char *end = array;
  *end++ = '{';
  for (int i = 0; i < batch; i++) {
    if (i > 0) *end++ = ',';
    *end++ = '"';
    for (const char *c = payload; *c; c++) {
      if (*c == '"') *end++ = '\\';
      *end++ = *c;
    }
    *end++ = '"';
  }
  *end++ = '}';
  *end = 0;
  const char *value = array;
  double start = now();
  for (int done = 0; done < count; done += batch) {
    PGresult *result = PQexecPrepared(connection, "enqueue", 1, &value, NULL, NULL, 0);
    if (PQntuples(result) != batch) fail("enqueue");
    PQclear(result);
  }
  printf("%.0f\n", count / (now() - start));
  free(array);
}

// The results of so many statements of a pipeline.
static void answers(int count) {
  for (int i = 0; i < count; i++) {
    PQclear(take());
    if (PQgetResult(connection) != NULL) fail("result");
  }
}

static void store(int count) {
  prepare("begin", "BEGIN");
  prepare("commit", "COMMIT");
  prepare("head", "SELECT pg_current_xact_id(),clock_timestamp(),nextval('job_id')");
  prepare("add",
          "WITH i AS(INSERT INTO job VALUES(currval('job_id'),1,0,0,1,0,4)),"
          "s AS(INSERT INTO spec VALUES(currval('job_id'),1,convert_to($1,'UTF8')))"
          "INSERT INTO tally AS t VALUES(1,1,1) ON CONFLICT(route,share) DO UPDATE SET jobs=t.jobs+1");
  if (!PQenterPipelineMode(connection)) fail("pipeline");
  double start = now();
  for (int i = 0; i < count; i++) {
    send_prepared("begin", 0, NULL);
    send_prepared("head", 0, NULL);
    if (!PQsendFlushRequest(connection)) fail("flush");
    send_prepared("add", 1, &payload);
    answers(2);
    send_prepared("commit", 0, NULL);
    if (!PQpipelineSync(connection)) fail("sync");
    answers(2);
    PQclear(take());
  }
  printf("%.0f\n", count / (now() - start));
}

static void drain(int count, int batch) {
  char sql[300];
  snprintf(sql, sizeof sql,
           "INSERT INTO job SELECT nextval('job_id'),1,0,0,1,0,4 FROM generate_series(1,%d);"
           "INSERT INTO spec SELECT id,1,convert_to('%s','UTF8') FROM job; CHECKPOINT",
           count, payload);
  run(sql);
  prepare("begin", "BEGIN");
  prepare("commit", "COMMIT");
  prepare("finish", "UPDATE job SET state=7,entered_at=2 WHERE id=ANY($1::bigint[]) AND claim=$2::bigint AND state=5");
  prepare("claim",
          "WITH u AS(UPDATE job SET state=5,attempt=attempt+1,claim=$1::bigint,entered_at=3 WHERE id=ANY(ARRAY("
          "SELECT id FROM job WHERE route=1 AND state=4 ORDER BY rank,id LIMIT $2::bigint FOR UPDATE SKIP LOCKED)) "
          "RETURNING id,rank) SELECT u.id,(SELECT payload FROM spec WHERE id=u.id) FROM u ORDER BY u.rank,u.id");
  if (!PQenterPipelineMode(connection)) fail("pipeline");
  char *ids = malloc((size_t)batch * 21 + 3), claim[24] = "0", limit[24];
  snprintf(limit, sizeof limit, "%d", batch);
  strcpy(ids, "{}");
  int held = 0, done = 0, turn = 0;
  double start = now();
  do {
    const char *finish[] = {ids, claim};
    send_prepared("begin", 0, NULL);
    send_prepared("finish", 2, finish);
    char next[24];
    snprintf(next, sizeof next, "%d", ++turn);
    const char *values[] = {next, limit};
    send_prepared("claim", 2, values);
    send_prepared("commit", 0, NULL);
    if (!PQpipelineSync(connection)) fail("sync");
    PGresult *result;
    for (int i = 0; i < 4; i++) {
      result = take();
      if (i == 1) {
        if (atoi(PQcmdTuples(result)) != held) fail("finish");
        done += held;
      }
      if (i == 2) {
        held = PQntuples(result);
        char *end = ids;
        *end++ = '{';
        for (int row = 0; row < held; row++) {
          if (PQgetlength(result, row, 1) == 0) fail("payload");
          end += sprintf(end, row > 0 ? ",%s" : "%s", PQgetvalue(result, row, 0));
        }
        strcpy(end, "}");
      }
      PQclear(result);
      if (PQgetResult(connection) != NULL) fail("result");
    }
    PQclear(take());
    strcpy(claim, next);
  } while (held > 0);
  if (done != count) fail("drain");
  printf("%.0f\n", count / (now() - start));
  free(ids);
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "limit CONNECTION insert|enqueue|store|drain N [BATCH]\n");
    return 2;
  }
  connection = PQconnectdb(argv[1]);
  if (PQstatus(connection) != CONNECTION_OK) fail("connect");
  int count = atoi(argv[3]), batch = argc > 4 ? atoi(argv[4]) : 1;
  make();
  settings();
  if (strcmp(argv[2], "insert") == 0) insert(count);
  else if (strcmp(argv[2], "enqueue") == 0) enqueue(count, batch);
  else if (strcmp(argv[2], "store") == 0) store(count);
  else if (strcmp(argv[2], "drain") == 0) drain(count, batch);
  else return 2;
  PQfinish(connection);
  return 0;
}
