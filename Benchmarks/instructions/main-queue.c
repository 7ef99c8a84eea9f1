// Has the main thread serve its queue in a loop. libdispatch's own ends that thread, after which valgrind (seen with 3.19)
// crashes when the process does. Preloaded by scripts/count-instructions; the two functions are those that
// CoreFoundation's run loop uses.
#include <poll.h>
#include <stdint.h>
#include <unistd.h>

extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *);

void dispatch_main(void) {
  struct pollfd news = {.fd = _dispatch_get_main_queue_handle_4CF(), .events = POLLIN};
  for (;;) {
    poll(&news, 1, 50);
    uint64_t number;
    if (news.revents & POLLIN && read(news.fd, &number, sizeof number) < 0) return;
    _dispatch_main_queue_callback_4CF(0);
  }
}
