import Foundation

/// Two runs next to each other in time, and what a flush of the disk cost beside them.
struct Pair {
  var c: [String: Double]
  var ours: [String: Double]
  /// In microseconds.
  var flush: Double
}

/// Runs the C program and this one, by turns.
struct Lab {
  let limit: URL
  let dir: String
  let runs: Int

  func c(_ arguments: [String]) throws -> [String: Double] {
    try figures(of: arguments + ["--dir", dir], program: limit)
  }

  func ours(_ arguments: [String]) throws -> [String: Double] {
    try figures(of: arguments + ["--dir", dir])
  }

  func repeated(_ run: () throws -> [String: Double]) throws -> [[String: Double]] {
    try (0..<runs).map { _ in
      sync()
      return try run()
    }
  }

  /// Pairs whose order alternates, so that neither always runs on the disk that the other left behind.
  func pairs(_ c: () throws -> [String: Double], _ ours: () throws -> [String: Double]) throws -> [Pair] {
    try (0..<runs).map { run in
      var pair = Pair(c: [:], ours: [:], flush: 0)
      sync()
      pair.flush = try self.c(["fsync", "--seconds", "0.3"])["call_p50_us"]!
      for isC in run.isMultiple(of: 2) ? [true, false] : [false, true] {
        sync()
        if isC { pair.c = try c() } else { pair.ours = try ours() }
      }
      return pair
    }
  }
}
