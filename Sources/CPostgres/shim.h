// Debian has the header in a folder of its own, which only pkg-config knows.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>

// A file that becomes readable when that process has ended; -1 where there is none such, or the kernel is older than 5.3. The
// C library has it under a name since glibc 2.36.
static inline int durable_open_process(pid_t process) { return (int)syscall(434, process, 0); }
#endif
