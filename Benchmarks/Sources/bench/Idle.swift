import ArgumentParser
import DurableJobs
import Foundation

/// What a worker costs that has nothing to do.
///
/// On Linux libdispatch wakes once a second to look after its threads, in any program that has used them. So the same
/// is measured without a worker, and what is above that is the worker's.
struct Idle: AsyncParsableCommand {
  @OptionGroup var place: Place
  @Option var seconds = 60
  @Flag(help: "Measure what the process costs by itself.") var withoutWorker = false

  func run() async throws {
    try await withQueue(in: place) { queue, _ in
      let worker = JobWorker(queue)
      worker.register(Noop.self)
      worker.start()
      try await queue.enqueue(Noop(0, priorities: 1))
      try await queue.waitUntilIdle()
      if withoutWorker { await worker.stop() }
      // The threads that the start needed end after some seconds without work.
      try await Task.sleep(for: .seconds(12))

      let start = Usage.now()
      // Blocks this thread on purpose: its one wake-up at the end is taken off below.
      sleep(UInt32(seconds))
      let usage = Usage.now() - start

      if !withoutWorker { await worker.stop() }
      var figures = Figures("idle")
      figures.set("seconds", usage.seconds)
      figures.set("wake_ups", usage.waits - 1)
      figures.set("cpu_ms", usage.cpu * 1000)
      try figures.print()
    }
  }
}
