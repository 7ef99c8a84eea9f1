import Dispatch

/// Runs the tasks that prefer it one after the other, beside all others: a test may stop it, or wait until it rests.
package final class OwnThread: TaskExecutor {
  private let queue = DispatchQueue(label: "own")

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }

  /// Returns once each task that was to run here has ended, or waits for something.
  package func rests() async {
    await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
  }
}
