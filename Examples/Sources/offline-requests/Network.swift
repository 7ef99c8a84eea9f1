import DurableJobs
import Foundation

/// A network to be switched off by a file, with a server that writes down what arrives.
struct Network {
  struct Unreachable: Error {}

  let folder: URL

  /// With the job's id, so that a server can tell a request that it gets twice: a process may die after it has sent one and
  /// before that is stored.
  func send(_ text: String, id: JobID) throws {
    if FileManager.default.fileExists(atPath: folder.appending(path: "offline").path) { throw Unreachable() }
    let server = folder.appending(path: "server")
    let arrived = (try? String(contentsOf: server, encoding: .utf8)) ?? ""
    guard !arrived.split(separator: "\n").contains(where: { $0.hasPrefix("\(id) ") }) else { return }
    try (arrived + "\(id) \(text)\n").write(to: server, atomically: true, encoding: .utf8)
  }
}
