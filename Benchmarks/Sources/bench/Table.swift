import ArgumentParser
import Foundation

/// All figures, each the median of alternating pairs, as a Markdown table with what passed and what did not.
struct Table: AsyncParsableCommand {
  @Option(help: "The C program for the engine's limit.") var limit: String
  @Option(help: "A folder on the disk that is measured.") var dir = "."
  @Option(help: "Pairs a row.") var runs = 7
  @Option(help: "Only rows whose name contains this.") var only = ""
  @Option(help: "Seconds of the idle row.") var idleSeconds = 60

  func run() async throws {
    let lab = Lab(limit: URL(filePath: limit), dir: dir, runs: runs)
    print("| work | C | DurableJobs | ratio, least to most | CPU µs a job, C and ours | flush µs | floor | |")
    print("|---|--:|--:|--:|--:|--:|--:|---|")
    var isBelow = false
    for row in ratioRows + limitRows where only.isEmpty || row.name.contains(only) {
      let line = try row.measure(lab)
      isBelow = isBelow || line.hasSuffix("BELOW |")
      print(line)
      fflush(nil)
    }
    if isBelow { throw ExitCode.failure }
  }

  private var ratioRows: [Row] {
    [
      Row("enqueue one, await, in sequence", floor: 0.7, c: ["enqueue", "--batch", "1"], ours: ["enqueue-one"]),
      Row(
        "enqueue from 64 tasks, one each", floor: 0.6, c: ["group-enqueue", "--threads", "64"],
        ours: ["enqueue-many", "--tasks", "64"]),
      Row(
        "enqueue in batches of 1,000", floor: 0.6,
        c: ["enqueue", "--batch", "1000", "--jobs", "200000", "--seconds", "600"],
        ours: ["enqueue-batch", "--jobs", "200000"]),
      Row(
        "drain 100,000 jobs, concurrency 100", floor: 0.6, c: ["fused", "--batch", "100", "--jobs", "100000"],
        ours: ["drain", "--jobs", "100000", "--concurrency", "100"]),
      Row(
        "drain 20,000 jobs, concurrency 4", floor: nil, c: ["fused", "--batch", "4", "--jobs", "20000"],
        ours: ["drain", "--jobs", "20000", "--concurrency", "4"]),
    ]
  }

  private var limitRows: [Row] {
    [
      Row("enqueue to start, one process") { lab in
        let pairs = try lab.pairs(
          { try lab.c(["enqueue", "--batch", "1", "--jobs", "500", "--seconds", "600", "--pause-ms", "3"]) },
          { try lab.ours(["start-latency"]) })
        let ratio = pairs.median { $0.ours["start_p50_us"]! / $0.c["call_p50_us"]! }
        let p99 = pairs.median { $0.ours["start_p99_us"]! }
        return line(
          "enqueue to start, idle queue, one process", c: pairs.median { $0.c["call_p50_us"]! }.micros,
          ours: "p50 \(pairs.median { $0.ours["start_p50_us"]! }.micros), p99 \(p99.micros)", ratio: ratio.ratio,
          flush: pairs.flush, floor: "p50 ≤ 3 commits, p99 ≤ 10 ms", passes: ratio <= 3 && p99 <= 10_000)
      },
      Row("enqueue to start, another process") { lab in
        let all = try lab.repeated { try lab.ours(["start-latency", "--elsewhere"]) }
        let p99 = all.map { $0["start_p99_us"]! }.median
        return line(
          "enqueue to start, from another process",
          ours: "p50 \(all.map { $0["start_p50_us"]! }.median.micros), p99 \(p99.micros)", floor: "p99 ≤ 50 ms",
          passes: p99 <= 50_000)
      },
      Row("drain with 1,000,000 rows in the way") { lab in try lab.backlog() },
      Row("memory with 1,000,000 waiting jobs") { lab in
        let peak = try lab.ours(["memory"])["peak_mib"]!
        return line(
          "memory with 1,000,000 waiting jobs", ours: "\(peak.whole) MiB", floor: "≤ 64 MiB", passes: peak <= 64)
      },
      Row("idle for a minute") { lab in
        let arguments = ["idle", "--seconds", "\(idleSeconds)"]
        let without = try lab.ours(arguments + ["--without-worker"])
        let with = try lab.ours(arguments)
        let minute = 60 / Double(idleSeconds)
        let wakes = (with["wake_ups"]! - without["wake_ups"]!) * minute
        let cpu = (with["cpu_ms"]! - without["cpu_ms"]!) * minute
        let base = "\((without["wake_ups"]! * minute).whole), \((without["cpu_ms"]! * minute).tenths) ms"
        return line(
          "idle for a minute, beside what the process costs without a worker (not C)", c: base,
          ours: "\(wakes.whole) wake-ups, \(cpu.tenths) ms of CPU", floor: "≤ 5 wake-ups, ≤ 10 ms",
          passes: wakes <= 5 && cpu <= 10)
      },
    ]
  }
}

/// One line of the table.
struct Row {
  let name: String
  let measure: (Lab) throws -> String

  init(_ name: String, measure: @escaping (Lab) throws -> String) {
    self.name = name
    self.measure = measure
  }

  /// Jobs a second against the C program's.
  init(_ name: String, floor: Double?, c: [String], ours: [String]) {
    self.init(name) { lab in
      let pairs = try lab.pairs({ try lab.c(c) }, { try lab.ours(ours) })
      let ratios = pairs.map { $0.ours["ops_s"]! / $0.c["ops_s"]! }
      return line(
        name, c: "\(pairs.median { $0.c["ops_s"]! }.whole)/s", ours: "\(pairs.median { $0.ours["ops_s"]! }.whole)/s",
        ratio: "\(ratios.median.ratio), \(ratios.min()!.ratio)–\(ratios.max()!.ratio)",
        cpu: pairs.median { $0.c["cpu_us_per_op"]! }.tenths + ", "
          + pairs.median { $0.ours["cpu_us_per_op"]! }.tenths, flush: pairs.flush,
        floor: floor.map(\.ratio) ?? "–", passes: floor.map { ratios.median >= $0 })
    }
  }
}

private func line(
  _ name: String, c: String = "–", ours: String, ratio: String = "–", cpu: String = "–", flush: String = "–",
  floor: String, passes: Bool?
) -> String {
  let verdict = passes.map { $0 ? "PASS" : "BELOW" } ?? ""
  return "| \(name) | \(c) | \(ours) | \(ratio) | \(cpu) | \(flush) | \(floor) | \(verdict) |"
}

extension Double {
  fileprivate var whole: String { rounded().formatted(.number.locale(Locale(identifier: "en_US"))) }
  fileprivate var tenths: String { String(format: "%.1f", self) }
  fileprivate var ratio: String { String(format: "%.2f", self) }
  fileprivate var micros: String { self < 1000 ? "\(whole) µs" : "\(String(format: "%.1f", self / 1000)) ms" }
}

extension [Double] {
  var median: Double {
    let sorted = sorted()
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }
}

extension [Pair] {
  fileprivate func median(_ value: (Pair) -> Double) -> Double { map(value).median }
  fileprivate var flush: String { median { $0.flush }.whole }
}

extension Lab {
  /// The rate with a million rows in the way against the rate with a thousand, from copies of two databases.
  fileprivate func backlog() throws -> String {
    let folder = URL(filePath: dir).appending(path: "bench-backlog-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for rows in [1000, 1_000_000] {
      let store = folder.appending(path: "\(rows)/jobs.sqlite").path
      try FileManager.default.createDirectory(
        at: folder.appending(path: "\(rows)"), withIntermediateDirectories: true)
      try Child(["fill", "--store", store, "--in-the-way", "\(rows)"]).finish()
    }
    func drained(_ rows: Int) throws -> [String: Double] {
      let copy = folder.appending(path: "copy")
      try FileManager.default.copyItem(at: folder.appending(path: "\(rows)"), to: copy)
      defer { try? FileManager.default.removeItem(at: copy) }
      sync()
      return try figures(of: ["backlog", "--store", copy.appending(path: "jobs.sqlite").path])
    }
    let pairs = try pairs({ try drained(1000) }, { try drained(1_000_000) })
    let ratio = pairs.median { $0.ours["ops_s"]! / $0.c["ops_s"]! }
    return line(
      "drain with 1,000,000 rows in the way, against 1,000 (not C)", c: "\(pairs.median { $0.c["ops_s"]! }.whole)/s",
      ours: "\(pairs.median { $0.ours["ops_s"]! }.whole)/s", ratio: ratio.ratio,
      cpu: pairs.median { $0.c["cpu_us_per_op"]! }.tenths + ", " + pairs.median { $0.ours["cpu_us_per_op"]! }.tenths,
      flush: pairs.flush, floor: "0.80", passes: ratio >= 0.8)
  }
}
