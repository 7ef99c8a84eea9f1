// On Linux libpq is loaded when a store on a server is first named, and not with the program: it brings twenty other
// libraries along, which cost each start 5 ms, also of `durable add` for a file; and a program that was built
// with it starts where libpq is not installed. On Apple's systems it is linked, and this file is empty.
//
// Each function of libpq that is used has one line here, and the compiler compares it with libpq's own declaration.

#if defined(Postgres) && defined(__linux__)

#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static void *libpq;
static char failure[512];

static void load(void) {
  libpq = dlopen("libpq.so.5", RTLD_LAZY | RTLD_LOCAL);
  if (!libpq) {
    const char *words = dlerror();
    snprintf(failure, sizeof failure, "%s", words ? words : "libpq.so.5 can't be loaded");
  } else if (!dlsym(libpq, "PQenterPipelineMode")) {
    snprintf(failure, sizeof failure, "libpq has no pipeline mode; it must be 14 or newer");
  }
}

const char *durable_load_libpq(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return failure[0] ? failure : NULL;
}

static void *find(const char *name) {
  const char *problem = durable_load_libpq();
  void *function = problem ? NULL : dlsym(libpq, name);
  if (function) return function;
  fprintf(stderr, "%s: %s\n", name, problem ? problem : "libpq has no such function");
  abort();
}

#define FORWARD(type, name, parameters, arguments)                       \
  type name parameters {                                                 \
    static _Atomic(__typeof__(&name)) known;                             \
    __typeof__(&name) function = known;                                  \
    if (!function) known = function = (__typeof__(&name))find(#name);    \
    return function arguments;                                           \
  }

FORWARD(int, PQcancel, (PGcancel *a, char *b, int c), (a, b, c))
FORWARD(void, PQclear, (PGresult *a), (a))
FORWARD(char *, PQcmdTuples, (PGresult *a), (a))
FORWARD(PQconninfoOption *, PQconndefaults, (void), ())
FORWARD(PGconn *, PQconnectdb, (const char *a), (a))
FORWARD(PGconn *, PQconnectdbParams, (const char *const *a, const char *const *b, int c), (a, b, c))
FORWARD(PQconninfoOption *, PQconninfo, (PGconn *a), (a))
FORWARD(void, PQconninfoFree, (PQconninfoOption *a), (a))
FORWARD(PQconninfoOption *, PQconninfoParse, (const char *a, char **b), (a, b))
FORWARD(int, PQconsumeInput, (PGconn *a), (a))
FORWARD(char *, PQdb, (const PGconn *a), (a))
FORWARD(int, PQenterPipelineMode, (PGconn *a), (a))
FORWARD(char *, PQerrorMessage, (const PGconn *a), (a))
FORWARD(PGresult *, PQexec, (PGconn *a, const char *b), (a, b))
FORWARD(PGresult *, PQexecParams, (PGconn *a, const char *b, int c, const Oid *d, const char *const *e, const int *f,
        const int *g, int h), (a, b, c, d, e, f, g, h))
FORWARD(void, PQfinish, (PGconn *a), (a))
FORWARD(int, PQflush, (PGconn *a), (a))
FORWARD(void, PQfreeCancel, (PGcancel *a), (a))
FORWARD(void, PQfreemem, (void *a), (a))
FORWARD(PGcancel *, PQgetCancel, (PGconn *a), (a))
FORWARD(PGresult *, PQgetResult, (PGconn *a), (a))
FORWARD(int, PQgetisnull, (const PGresult *a, int b, int c), (a, b, c))
FORWARD(int, PQgetlength, (const PGresult *a, int b, int c), (a, b, c))
FORWARD(char *, PQgetvalue, (const PGresult *a, int b, int c), (a, b, c))
FORWARD(int, PQisBusy, (PGconn *a), (a))
FORWARD(int, PQnfields, (const PGresult *a), (a))
FORWARD(PGnotify *, PQnotifies, (PGconn *a), (a))
FORWARD(int, PQntuples, (const PGresult *a), (a))
FORWARD(const char *, PQparameterStatus, (const PGconn *a, const char *b), (a, b))
FORWARD(int, PQpipelineSync, (PGconn *a), (a))
FORWARD(void, PQreset, (PGconn *a), (a))
FORWARD(char *, PQresultErrorField, (const PGresult *a, int b), (a, b))
FORWARD(char *, PQresultErrorMessage, (const PGresult *a), (a))
FORWARD(ExecStatusType, PQresultStatus, (const PGresult *a), (a))
FORWARD(int, PQsendFlushRequest, (PGconn *a), (a))
FORWARD(int, PQsendPrepare, (PGconn *a, const char *b, const char *c, int d, const Oid *e), (a, b, c, d, e))
FORWARD(int, PQsendQueryParams, (PGconn *a, const char *b, int c, const Oid *d, const char *const *e, const int *f,
        const int *g, int h), (a, b, c, d, e, f, g, h))
FORWARD(int, PQsendQueryPrepared, (PGconn *a, const char *b, int c, const char *const *d, const int *e, const int *f,
        int g), (a, b, c, d, e, f, g))
FORWARD(int, PQserverVersion, (const PGconn *a), (a))
FORWARD(PGVerbosity, PQsetErrorVerbosity, (PGconn *a, PGVerbosity b), (a, b))
FORWARD(PQnoticeProcessor, PQsetNoticeProcessor, (PGconn *a, PQnoticeProcessor b, void *c), (a, b, c))
FORWARD(PQnoticeReceiver, PQsetNoticeReceiver, (PGconn *a, PQnoticeReceiver b, void *c), (a, b, c))
FORWARD(int, PQsetnonblocking, (PGconn *a, int b), (a, b))
FORWARD(int, PQsocket, (const PGconn *a), (a))
FORWARD(int, PQsslInUse, (PGconn *a), (a))
FORWARD(ConnStatusType, PQstatus, (const PGconn *a), (a))
FORWARD(PGTransactionStatusType, PQtransactionStatus, (const PGconn *a), (a))
FORWARD(char *, PQuser, (const PGconn *a), (a))

#endif
