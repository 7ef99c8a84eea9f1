import Foundation

/// A thread of the library for work that must continue when handlers block every thread of Swift's pool: turns,
/// renewals, timers. No job code runs on it. There is one per process; it waits without polling and never ends.
package final class EngineThread: TaskExecutor, @unchecked Sendable {
  // Checked by hand: all mutable state is inside `waiting`.
  package static let shared = EngineThread()

  private struct Waiting {
    var jobs: [UnownedJob] = []
    var timers: [Timer] = []  // the earliest last
    var isAsleep = false
  }

  private let waiting = Lock(Waiting())
  private let bell = Bell()

  private init() {
    let thread = Thread { [unowned self] in self.loop() }  // `shared` is never released
    thread.name = "durable-engine"
    thread.start()
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    add { $0.jobs.append(job) }
  }

  func schedule(at due: Duration, _ action: @escaping @Sendable () -> Void) -> any JobTimer {
    let timer = Timer(due: due, action: action)
    add { waiting in
      let index = waiting.timers.firstIndex { $0.due <= due } ?? waiting.timers.endIndex
      waiting.timers.insert(timer, at: index)
    }
    return timer
  }

  private func add(_ change: (inout Waiting) -> Void) {
    let mustRing = waiting.withLock { waiting in
      change(&waiting)
      return exchange(&waiting.isAsleep, with: false)
    }
    if mustRing { bell.ring() }
  }

  private func loop() {
    while true {
      let now = SystemClock().uptime
      var due: [Timer] = []
      let (jobs, next) = waiting.withLock { waiting in
        waiting.timers.removeAll(where: \.isCancelled)
        while let timer = waiting.timers.last, timer.due <= now {
          due.append(timer)
          waiting.timers.removeLast()
        }
        defer { waiting.jobs.removeAll(keepingCapacity: true) }
        waiting.isAsleep = waiting.jobs.isEmpty && due.isEmpty
        return (waiting.jobs, waiting.timers.last?.due)
      }
      for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
      for timer in due { timer.fire() }
      guard jobs.isEmpty, due.isEmpty else { continue }
      bell.wait(until: next)
      waiting.withLock { $0.isAsleep = false }
    }
  }

  private final class Timer: JobTimer {
    let due: Duration
    private let action: Lock<(@Sendable () -> Void)?>

    init(due: Duration, action: @escaping @Sendable () -> Void) {
      self.due = due
      self.action = Lock(action)
    }

    var isCancelled: Bool { action.value == nil }
    func cancel() { _ = action.exchange(nil) }
    func fire() { action.exchange(nil)?() }
  }
}
