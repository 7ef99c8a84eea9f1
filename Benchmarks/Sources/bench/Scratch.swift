import DurableJobs
import DurableJobsSQLite
import Foundation

/// A folder with one database, deleted at the end of the run.
struct Scratch {
  let folder: URL

  init(in parent: String) throws {
    folder = URL(filePath: parent).appending(path: "bench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  var path: String { folder.appending(path: "jobs.sqlite").path }

  func delete() { try? FileManager.default.removeItem(at: folder) }
}

/// Calls `body` with a queue on a database of its own.
func withQueue<R>(in place: Place, _ body: (JobQueue, Scratch) async throws -> R) async throws -> R {
  let scratch = try Scratch(in: place.dir)
  defer { scratch.delete() }
  return try await body(JobQueue(store: try SQLiteStore(path: scratch.path)), scratch)
}

/// A run that did not do what it measures is no figure.
struct WrongResult: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

extension JobQueue {
  /// Throws unless exactly these numbers of jobs are in each state.
  func verify(_ expected: JobCounts) async throws {
    let counts = try await counts()
    if counts != expected { throw WrongResult("expected \(expected), found \(counts)") }
  }
}
