// What of libpq is used, from wherever its header is: Debian has that in a folder of its own.
#ifndef CPOSTGRES_H
#define CPOSTGRES_H

#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>

/// Loads libpq, unless it is loaded. Null if it is there, else why it can't be used, as the system says it.
const char *_Nullable durable_load_libpq(void);

// A file that becomes readable when that process has ended; -1 where there is none such, or the kernel is older than
// 5.3. The C library has it under a name since glibc 2.36.
static inline int durable_open_process(pid_t process) { return (int)syscall(434, process, 0); }
#endif

#endif
