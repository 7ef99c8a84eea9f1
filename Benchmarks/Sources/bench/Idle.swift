import ArgumentParser
import DurableJobs
import Foundation

/// What a worker costs that has nothing to do: how often its process wakes, and the CPU that this takes. Linux only.
///
/// libdispatch wakes once a second to look after its threads, in any program that has used them. That is left out of the
/// wake-ups; of the CPU, what is above that of a process without a worker is the worker's.
struct Idle: AsyncParsableCommand {
  @OptionGroup var place: Place
  @Option var seconds = 60
  @Flag(help: "Measure what the process costs by itself.") var withoutWorker = false

  func run() async throws {
    let child = try Child(
      ["idle-process", "--dir", place.dir, "--seconds", "\(seconds)"] + (withoutWorker ? ["--without-worker"] : []))
    guard child.nextLine() == "idle" else { throw WrongResult("the idle process did not start") }
    let wakes = Wakes.count(of: child.processIdentifier, seconds: seconds)
    guard let line = child.nextLine() else { throw WrongResult("the idle process printed no figures") }
    try child.finish()
    var figures = Figures("idle", try numbers(in: line))
    figures.set("wake_ups", wakes)
    try figures.print()
  }
}

/// The process that is idle.
struct IdleProcess: AsyncParsableCommand {
  static let configuration = CommandConfiguration(shouldDisplay: false)
  @OptionGroup var place: Place
  @Option var seconds: Int
  @Flag var withoutWorker = false

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

      FileHandle.standardOutput.write(Data("idle\n".utf8))
      let start = Usage.now()
      // Blocks this thread on purpose, so that measuring wakes nothing.
      sleep(UInt32(seconds))
      let usage = Usage.now() - start

      if !withoutWorker { await worker.stop() }
      var figures = Figures("idle")
      figures.set("seconds", usage.seconds)
      figures.set("switches", usage.waits - 1)
      figures.set("cpu_ms", usage.cpu * 1000)
      try figures.print()
    }
  }
}

/// How often a process woke from doing nothing: what its threads do within a tenth of a second is one wake-up, since one
/// timer may set several of them to work. The thread of libdispatch that wakes each second is left out.
enum Wakes {
  static func count(of process: Int32, seconds: Int) -> Int {
    var awake: [Set<String>] = []
    var total: [String: Int] = [:]
    var before = switches(of: process)
    for _ in 0..<(seconds * 10) {
      usleep(100_000)
      let now = switches(of: process)
      let new = now.filter { $0.value > before[$0.key] ?? 0 }
      for thread in new.keys { total[thread, default: 0] += 1 }
      awake.append(Set(new.keys))
      before = now
    }
    let metronome = total.first { $0.value >= seconds * 9 / 10 }?.key
    return awake.count { !$0.subtracting([metronome].compactMap(\.self)).isEmpty }
  }

  /// The voluntary context switches of each thread.
  private static func switches(of process: Int32) -> [String: Int] {
    let folder = "/proc/\(process)/task"
    var result: [String: Int] = [:]
    for thread in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      guard let status = try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8),
        let line = status.split(separator: "\n").first(where: { $0.hasPrefix("voluntary") })
      else { continue }
      result[thread] = line.split(separator: "\t").last.flatMap { Int($0) }
    }
    return result
  }
}
