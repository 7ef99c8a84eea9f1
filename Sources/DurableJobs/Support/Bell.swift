import Foundation

/// What a thread waits for. Its times are ``SystemClock/uptime``: on Linux, Dispatch's semaphores wait by the calendar, and
/// a clock that is set back by an hour would delay what is due by an hour.
final class Bell: @unchecked Sendable {
  // Checked by hand: on Linux `isRung` is touched under `mutex` alone. A bell lives as long as its process.
  #if os(Linux)
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isRung = false

    init() {
      var attributes = pthread_condattr_t()
      pthread_condattr_init(&attributes)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
      pthread_mutex_init(mutex, nil)
      pthread_cond_init(condition, &attributes)
    }

    func ring() {
      pthread_mutex_lock(mutex)
      isRung = true
      pthread_cond_signal(condition)
      pthread_mutex_unlock(mutex)
    }

    /// Returns once it was rung since the last time, or when `due` has come.
    func wait(until due: Duration?) {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      let (seconds, attoseconds) = due?.components ?? (0, 0)
      var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
      while !isRung {
        if due == nil {
          pthread_cond_wait(condition, mutex)
        } else if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT {
          return
        }
      }
      isRung = false
    }
  #else
    private let semaphore = DispatchSemaphore(value: 0)

    func ring() { semaphore.signal() }

    func wait(until due: Duration?) {
      _ = semaphore.wait(timeout: due.map { .now() + ($0 - SystemClock().uptime).seconds } ?? .distantFuture)
    }
  #endif
}
