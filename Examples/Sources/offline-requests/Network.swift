import DurableJobs
import Foundation

/// A network to be switched off by a file, with a server that writes down what arrives.
struct Network: ConstraintMonitor {
  struct Unreachable: Error {}

  let folder: URL

  private var isThere: Bool { !FileManager.default.fileExists(atPath: folder.appending(path: "offline").path) }

  /// What a `NetworkMonitor` of DurableJobsSystem tells of a real one: whether it is there now, then each change.
  func changes() -> AsyncStream<Bool> {
    AsyncStream { continuation in
      let looking = Task {
        var last: Bool?
        while !Task.isCancelled {
          let now = isThere
          if now != last { continuation.yield(now) }
          last = now
          try? await Task.sleep(for: .milliseconds(50))
        }
      }
      continuation.onTermination = { _ in looking.cancel() }
    }
  }

  /// With the job's id, so that a server can tell a request that it gets twice: a process may die after it has sent one and
  /// before that is stored.
  func send(_ text: String, id: JobID) throws {
    guard isThere else { throw Unreachable() }
    let server = folder.appending(path: "server")
    let arrived = (try? String(contentsOf: server, encoding: .utf8)) ?? ""
    guard !arrived.split(separator: "\n").contains(where: { $0.hasPrefix("\(id) ") }) else { return }
    try (arrived + "\(id) \(text)\n").write(to: server, atomically: true, encoding: .utf8)
  }
}
