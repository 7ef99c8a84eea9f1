// The engine's own limit: a job's life cycle written straight on SQLite's C API, with nothing around it.
//
// No encoding, no retries, no signals, no fence: what is left is what a durable queue on SQLite can't do without, so a
// library is judged by its ratio to this. One table, one partial index in the order of claims, WAL, synchronous=FULL.
//
//   cc -O2 -o limit limit.c -lsqlite3 -lpthread
//   ./limit enqueue       --batch K      one commit for K jobs, again and again
//   ./limit group-enqueue --threads N    N callers that each wait for a durable commit, one writer for all
//   ./limit drain         --batch K      claim K in a commit, finish K in another
//   ./limit fused         --batch K      finish the last K and claim the next K in one commit
//   ./limit fsync                        a page appended and flushed: what the disk itself costs
//
// Each run prints one line of JSON. Options: --dir D, --sync full|normal|off, --seconds S (of enqueueing or flushing),
// --jobs N (to drain, or at most to enqueue), --payload BYTES, --priorities P, --pause-ms M (between two commits).

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static struct {
  const char *dir, *sync;
  long jobs, batch, threads, payload, priorities, pause_ms;
  double seconds;
} set = {.dir = ".", .sync = "full", .batch = 100, .threads = 64, .payload = 100, .priorities = 4, .seconds = 2};

static char path[4096];

static void fail(const char *what, const char *why) {
  fprintf(stderr, "limit: %s: %s\n", what, why);
  exit(1);
}

// ---- measuring

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu(void) {
  struct rusage u;
  getrusage(RUSAGE_SELF, &u);
  return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

// How long each call took, in seconds. A call is one commit, or for `drain` the two that a batch needs.
struct calls {
  float *took;
  size_t count, room;
};

static void note(struct calls *calls, double took) {
  if (calls->count == calls->room) {
    calls->room = calls->room ? calls->room * 2 : 65536;
    calls->took = realloc(calls->took, calls->room * sizeof *calls->took);
    if (!calls->took) fail("memory", strerror(errno));
  }
  calls->took[calls->count++] = (float)took;
}

static int ascending(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static double micros(const struct calls *calls, double part) {
  return calls->count ? calls->took[(size_t)(part * (double)(calls->count - 1))] * 1e6 : 0;
}

static double began, began_cpu;

static void begin_timing(void) {
  began_cpu = cpu();
  began = now();
}

static void report(const char *mode, long jobs, struct calls *calls) {
  double took = now() - began, used = cpu() - began_cpu;
  qsort(calls->took, calls->count, sizeof *calls->took, ascending);
  printf("{\"bench\":\"limit\",\"mode\":\"%s\",\"sync\":\"%s\",\"batch\":%ld,\"threads\":%ld,\"priorities\":%ld,"
         "\"jobs\":%ld,\"seconds\":%.4f,\"ops_s\":%.1f,\"cpu_us_per_op\":%.2f,\"call_p50_us\":%.1f,"
         "\"call_p99_us\":%.1f,\"sqlite\":\"%s\"}\n",
         mode, set.sync, set.batch, set.threads, set.priorities, jobs, took, (double)jobs / took,
         used / (double)jobs * 1e6, micros(calls, .5), micros(calls, .99), sqlite3_libversion());
}

// ---- the database

static sqlite3 *db;
static sqlite3_stmt *begin_, *commit_, *insert_, *pick_, *mark_, *finish_;
static char *payload;
static long long *claimed;  // the ids in hand
static long held;

static void check(int code, const char *what) {
  if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW) fail(what, sqlite3_errmsg(db));
}

static void run(const char *sql) { check(sqlite3_exec(db, sql, NULL, NULL, NULL), sql); }

static sqlite3_stmt *prepared(const char *sql) {
  sqlite3_stmt *statement;
  check(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL), sql);
  return statement;
}

static void step(sqlite3_stmt *statement) {
  check(sqlite3_step(statement), sqlite3_sql(statement));
  sqlite3_reset(statement);
}

static void set_sync(const char *level) {
  char sql[64];
  snprintf(sql, sizeof sql, "PRAGMA synchronous=%s", level);
  run(sql);
}

static void delete_files(void) {
  char side[4200];
  unlink(path);
  snprintf(side, sizeof side, "%s-wal", path);
  unlink(side);
  snprintf(side, sizeof side, "%s-shm", path);
  unlink(side);
}

static void open_database(void) {
  snprintf(path, sizeof path, "%s/limit-%d.sqlite", set.dir, (int)getpid());
  delete_files();
  check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL), path);
  run("PRAGMA journal_mode=WAL");
  set_sync(set.sync);
  run("CREATE TABLE job(id INTEGER PRIMARY KEY, queue TEXT NOT NULL, kind TEXT NOT NULL, state INTEGER NOT NULL,"
      " priority INTEGER NOT NULL, due INTEGER NOT NULL, attempt INTEGER NOT NULL, max_attempts INTEGER NOT NULL,"
      " payload BLOB NOT NULL, created INTEGER NOT NULL, lease INTEGER, finished INTEGER, error TEXT)");
  run("CREATE INDEX job_in_order ON job(queue, priority DESC, due, id) WHERE state = 0");
  begin_ = prepared("BEGIN IMMEDIATE");
  commit_ = prepared("COMMIT");
  insert_ = prepared("INSERT INTO job(queue, kind, state, priority, due, attempt, max_attempts, payload, created)"
                     " VALUES ('default', 'noop', 0, ?1, ?2, 0, 10, ?3, ?2)");
  pick_ = prepared("SELECT id, kind, attempt, payload FROM job WHERE queue = 'default' AND state = 0 AND due <= ?1"
                   " ORDER BY priority DESC, due, id LIMIT ?2");
  mark_ = prepared("UPDATE job SET state = 1, attempt = attempt + 1, lease = ?2 WHERE id = ?1");
  finish_ = prepared("UPDATE job SET state = 2, finished = ?2, lease = NULL WHERE id = ?1 AND state = 1");
  payload = malloc((size_t)set.payload + 1);
  memset(payload, 'p', (size_t)set.payload);
  claimed = calloc((size_t)set.batch, sizeof *claimed);
}

static void close_database(void) {
  for (sqlite3_stmt *s; (s = sqlite3_next_stmt(db, NULL));) sqlite3_finalize(s);
  sqlite3_close(db);
  delete_files();
}

// ---- a job's life

static const long long far_ahead = 4000000000000;

static void insert(long count) {
  static uint64_t random = 88172645463325252u;
  static long long clock = 1;
  for (long i = 0; i < count; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    sqlite3_bind_int64(insert_, 1, (long long)(random % (uint64_t)set.priorities));
    sqlite3_bind_int64(insert_, 2, clock++);
    sqlite3_bind_blob(insert_, 3, payload, (int)set.payload, SQLITE_STATIC);
    step(insert_);
  }
}

static unsigned long bytes_read;

static void claim(void) {
  held = 0;
  sqlite3_bind_int64(pick_, 1, far_ahead);
  sqlite3_bind_int64(pick_, 2, set.batch);
  int code;
  while ((code = sqlite3_step(pick_)) == SQLITE_ROW) {
    claimed[held++] = sqlite3_column_int64(pick_, 0);
    bytes_read += sqlite3_column_text(pick_, 1)[0] + (unsigned)sqlite3_column_int(pick_, 2);
    bytes_read += ((const unsigned char *)sqlite3_column_blob(pick_, 3))[0];
  }
  check(code, "claim");
  sqlite3_reset(pick_);
  for (long i = 0; i < held; i++) {
    sqlite3_bind_int64(mark_, 1, claimed[i]);
    sqlite3_bind_int64(mark_, 2, far_ahead);
    step(mark_);
  }
}

static void finish(void) {
  for (long i = 0; i < held; i++) {
    sqlite3_bind_int64(finish_, 1, claimed[i]);
    sqlite3_bind_int64(finish_, 2, far_ahead);
    step(finish_);
    if (sqlite3_changes(db) != 1) fail("finish", "the job was not running");
  }
}

static void fill(void) {
  set_sync("off");
  for (long left = set.jobs; left > 0; left -= 10000) {
    step(begin_);
    insert(left < 10000 ? left : 10000);
    step(commit_);
  }
  run("PRAGMA wal_checkpoint(TRUNCATE)");
  set_sync(set.sync);
  sync();
}

static void check_all_finished(void) {
  sqlite3_stmt *count = prepared("SELECT count(*) FROM job WHERE state <> 2");
  check(sqlite3_step(count), "count");
  if (sqlite3_column_int64(count, 0) != 0) fail("drain", "jobs are left that did not succeed");
  sqlite3_finalize(count);
}

// ---- the modes

static void enqueue(void) {
  struct calls calls = {0};
  long jobs = 0;
  open_database();
  begin_timing();
  for (double end = began + set.seconds, start; (start = now()) < end && (!set.jobs || jobs < set.jobs); jobs += set.batch) {
    if (set.batch > 1) step(begin_);
    insert(set.batch);
    if (set.batch > 1) step(commit_);
    note(&calls, now() - start);
    if (set.pause_ms) usleep((useconds_t)set.pause_ms * 1000);
  }
  report("enqueue", jobs, &calls);
  close_database();
}

static void drain(int fused) {
  struct calls calls = {0};
  long jobs = 0;
  if (!set.jobs) set.jobs = 100000;
  open_database();
  fill();
  begin_timing();
  do {
    double start = now();
    step(begin_);
    if (fused) finish();
    claim();
    step(commit_);
    if (!fused && held) {
      step(begin_);
      finish();
      step(commit_);
    }
    jobs += held;
    note(&calls, now() - start);
  } while (held);
  report(fused ? "fused" : "drain", jobs, &calls);
  check_all_finished();
  close_database();
}

// Callers put themselves into a list and sleep; the writer takes the whole list, commits once, and wakes them.
struct caller {
  pthread_t thread;
  sem_t durable;
  struct caller *next;
  struct calls calls;
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t list_filled = PTHREAD_COND_INITIALIZER;
static struct caller *list;
static long at_work;
static double deadline;

static void *call(void *argument) {
  struct caller *self = argument;
  for (double start; (start = now()) < deadline; note(&self->calls, now() - start)) {
    pthread_mutex_lock(&list_lock);
    self->next = list;
    list = self;
    pthread_cond_signal(&list_filled);
    pthread_mutex_unlock(&list_lock);
    while (sem_wait(&self->durable) != 0) {
    }
  }
  pthread_mutex_lock(&list_lock);
  at_work--;
  pthread_cond_signal(&list_filled);
  pthread_mutex_unlock(&list_lock);
  return NULL;
}

static void group_enqueue(void) {
  struct calls all = {0};
  open_database();
  struct caller *callers = calloc((size_t)set.threads, sizeof *callers);
  at_work = set.threads;
  begin_timing();
  deadline = began + set.seconds;
  for (long i = 0; i < set.threads; i++) {
    sem_init(&callers[i].durable, 0, 0);
    if (pthread_create(&callers[i].thread, NULL, call, &callers[i])) fail("thread", strerror(errno));
  }
  for (;;) {
    pthread_mutex_lock(&list_lock);
    while (!list && at_work) pthread_cond_wait(&list_filled, &list_lock);
    struct caller *taken = list;
    list = NULL;
    pthread_mutex_unlock(&list_lock);
    if (!taken) break;
    step(begin_);
    for (struct caller *caller = taken; caller; caller = caller->next) insert(1);
    step(commit_);
    for (struct caller *caller = taken, *next; caller; caller = next) {
      next = caller->next;
      sem_post(&caller->durable);
    }
  }
  for (long i = 0; i < set.threads; i++) {
    pthread_join(callers[i].thread, NULL);
    for (size_t j = 0; j < callers[i].calls.count; j++) note(&all, callers[i].calls.took[j]);
  }
  report("group-enqueue", (long)all.count, &all);
  close_database();
}

static void flush(void) {
  struct calls calls = {0};
  char page[4096];
  memset(page, 'f', sizeof page);
  snprintf(path, sizeof path, "%s/limit-%d.flush", set.dir, (int)getpid());
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) fail(path, strerror(errno));
  begin_timing();
  for (double end = began + set.seconds, start; (start = now()) < end; note(&calls, now() - start)) {
    if (write(file, page, sizeof page) != (ssize_t)sizeof page || fdatasync(file) != 0) fail(path, strerror(errno));
  }
  report("fsync", (long)calls.count, &calls);
  close(file);
  unlink(path);
}

int main(int count, char **arguments) {
  const char *mode = count > 1 ? arguments[1] : "";
  struct {
    const char *name;
    long *number;
  } numbers[] = {{"--jobs", &set.jobs},       {"--batch", &set.batch},           {"--threads", &set.threads},
                 {"--payload", &set.payload}, {"--priorities", &set.priorities}, {"--pause-ms", &set.pause_ms}};
  for (int i = 2; i < count; i += 2) {
    const char *name = arguments[i], *value = i + 1 < count ? arguments[i + 1] : "";
    size_t known = 0;
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
      if (!strcmp(name, numbers[n].name)) *numbers[n].number = atol(value), known = 1;
    if (!strcmp(name, "--dir")) set.dir = value, known = 1;
    if (!strcmp(name, "--sync")) set.sync = value, known = 1;
    if (!strcmp(name, "--seconds")) set.seconds = atof(value), known = 1;
    if (!known) fail(name, "no such option");
  }
  if (set.jobs < 0 || set.batch < 1 || set.threads < 1 || set.payload < 1 || set.priorities < 1 || set.seconds <= 0)
    fail("options", "what is counted must be above 0");
  if (!strcmp(mode, "enqueue")) enqueue();
  else if (!strcmp(mode, "group-enqueue")) group_enqueue();
  else if (!strcmp(mode, "drain")) drain(0);
  else if (!strcmp(mode, "fused")) drain(1);
  else if (!strcmp(mode, "fsync")) flush();
  else fail("usage", "limit enqueue|group-enqueue|drain|fused|fsync [--option value]...");
  return 0;
}
