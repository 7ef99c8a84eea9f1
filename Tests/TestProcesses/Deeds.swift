import DurableJobs

/// What processes wrote down, line by line, of what they did to a store. They may be killed at any moment.
package struct Deeds {
  /// A line that no process is known to write.
  package struct UnknownLine: Error { package let text: String }

  /// Acknowledged to a producer.
  package private(set) var stored: Set<JobID> = []
  /// The lives that began each job, in order, and at which line of the record.
  package private(set) var runs: [JobID: [(life: Int, attempt: Int, line: Int)]] = [:]
  /// The line in which a handler last said that it was through with the job.
  package private(set) var ends: [JobID: Int] = [:]
  /// The last line of each life.
  package private(set) var lastLine: [Int: Int] = [:]
  /// Why a handler that was told to stop was told so.
  package private(set) var stopped: [JobID: String] = [:]
  /// Steps that were begun, in order.
  package private(set) var steps: [JobID: [Int]] = [:]
  /// By each process that only recovered.
  package private(set) var recovered: [Int] = []

  package init(_ record: String) throws {
    for (number, line) in record.split(separator: "\n").enumerated() {
      let words = line.split(separator: " ")
      guard words.count > 2, let life = Int(words[0]) else { throw UnknownLine(text: String(line)) }
      lastLine[life] = number
      let (id, last) = (JobID(String(words[2])), Int(words[words.count - 1]))
      switch (words[1], id, last) {
      case ("stored", _, _): stored.formUnion(words[2...].compactMap { JobID(String($0)) })
      case ("run", let id?, let attempt?): runs[id, default: []].append((life, attempt, number))
      case ("end", let id?, _): ends[id] = number
      case ("stopped", let id?, _): stopped[id] = String(words[3])
      case ("step", let id?, let step?): steps[id, default: []].append(step)
      case ("recovered", _, let count?): recovered.append(count)
      default: throw UnknownLine(text: String(line))
      }
    }
  }

  /// Of the runs of one attempt all but the last were cut short. That takes a kill, before the next began: a process that
  /// writes a line later, or runs the job again itself, was not killed by then. Those of which that is not so, in words.
  package func repeats(without killed: Set<Int>) -> [String] {
    runs.flatMap { id, runs in
      Dictionary(grouping: runs, by: \.attempt).flatMap { attempt, same in
        zip(same, same.dropFirst())
          .filter { earlier, later in !killed.contains(earlier.life) || lastLine[earlier.life]! >= later.line }
          .map { _ in "job \(id), attempt \(attempt): \(same)" }
      }
    }
  }
}
