import Foundation

/// What a process has used since some moment.
struct Usage {
  var seconds: Double
  var cpu: Double
  var waits: Int

  static func now() -> Usage {
    let usage = rusage.now()
    return Usage(
      seconds: Double(monotonicNanoseconds()) / 1e9, cpu: usage.ru_utime.seconds + usage.ru_stime.seconds,
      waits: Int(usage.ru_nvcsw))
  }

  static func - (a: Usage, b: Usage) -> Usage {
    Usage(seconds: a.seconds - b.seconds, cpu: a.cpu - b.cpu, waits: a.waits - b.waits)
  }

  /// The most memory that the process has had in use, in MiB.
  static var peakMemory: Double {
    #if os(Linux)
      return Double(rusage.now().ru_maxrss) / 1024
    #else
      return Double(rusage.now().ru_maxrss) / 1_048_576
    #endif
  }
}

extension rusage {
  fileprivate static func now() -> rusage {
    var usage = rusage()
    #if os(Linux)
      getrusage(RUSAGE_SELF.rawValue, &usage)
    #else
      getrusage(RUSAGE_SELF, &usage)
    #endif
    return usage
  }
}

extension timeval {
  fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}

/// A clock that all processes of the machine share.
func monotonicNanoseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Durations in nanoseconds, to be asked for percentiles.
struct Durations {
  private var sorted: [Int]

  init(_ nanoseconds: [Int]) { sorted = nanoseconds.sorted() }

  func micros(_ part: Double) -> Double {
    sorted.isEmpty ? 0 : Double(sorted[Int(part * Double(sorted.count - 1))]) / 1000
  }
}

/// The line that a run prints.
struct Figures {
  private var fields: [String: Any]

  init(_ mode: String, _ numbers: [String: Double] = [:]) {
    fields = numbers
    fields["bench"] = "durable"
    fields["mode"] = mode
  }

  mutating func set(_ name: String, _ value: Double) { fields[name] = (value * 100).rounded() / 100 }
  mutating func set(_ name: String, _ value: Int) { fields[name] = value }

  mutating func setRate(_ jobs: Int, _ usage: Usage) {
    set("jobs", jobs)
    set("seconds", usage.seconds)
    set("ops_s", Double(jobs) / usage.seconds)
    set("cpu_us_per_op", usage.cpu / Double(jobs) * 1e6)
  }

  mutating func setCalls(_ calls: Durations, prefix: String = "call") {
    set("\(prefix)_p50_us", calls.micros(0.5))
    set("\(prefix)_p99_us", calls.micros(0.99))
    set("\(prefix)_max_us", calls.micros(1))
  }

  func print() throws {
    var line = try JSONSerialization.data(withJSONObject: fields, options: [.sortedKeys])
    line.append(UInt8(ascii: "\n"))
    FileHandle.standardOutput.write(line)
  }
}
