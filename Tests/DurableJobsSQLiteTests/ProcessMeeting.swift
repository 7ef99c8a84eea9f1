import DurableJobs
import Foundation

@testable import DurableJobsSQLite

/// A database of its own for one test, which is removed with this value, and who meets beside it.
final class ProcessMeeting: Sendable {
  let home: String
  let databasePath: String
  let folder: MeetingFolder

  init(folderName: String = "") throws {
    home = "/tmp/meeting-" + String(UInt64.random(in: .min ... .max), radix: 36)
    let parent = folderName.isEmpty ? home : home + "/" + folderName
    try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
    databasePath = parent + "/jobs.sqlite"
    try Data().write(to: URL(fileURLWithPath: databasePath))
    folder = try MeetingFolder(databasePath: databasePath)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: home)
    try? FileManager.default.removeItem(atPath: folder.path)
  }

  /// Another process that joined, and its session's name.
  func peer() async throws -> (probe: ProcessProbe, name: String) {
    let probe = try ProcessProbe("meet", databasePath)
    return (probe, try await probe.hear("session")[0])
  }

  /// Processes that joined, in the order of the ring, each of which watches the next.
  func peers(_ count: Int) async throws -> [(probe: ProcessProbe, name: String)] {
    var peers: [(probe: ProcessProbe, name: String)] = []
    for _ in 0..<count { peers.append(try await peer()) }
    // Who answers has taken its place, and has read what the others said when they came.
    for peer in peers {
      folder.postbox.post(.results, to: peer.name)
      try await peer.probe.hear("signal")
    }
    return peers.sorted { $0.name < $1.name }
  }

  /// A session of the test itself.
  func join() throws -> Guest { try Guest(folder) }

  /// Closes its session when it goes.
  final class Guest: Sendable {
    let session: ProcessSession
    let signals: AsyncStream<ForeignChange>
    let deaths: AsyncStream<String>

    fileprivate init(_ folder: MeetingFolder) throws {
      let signals = AsyncStream<ForeignChange>.makeStream()
      let deaths = AsyncStream<String>.makeStream()
      session = try ProcessSession(
        folder: folder, onSignal: { signals.continuation.yield($0) }, onDeath: { deaths.continuation.yield($0) })
      self.signals = signals.stream
      self.deaths = deaths.stream
    }

    deinit { session.close() }

    func nextSignal() async -> ForeignChange? { await signals.first { _ in true } }

    func nextDeaths(_ count: Int) async -> Set<String> {
      var names: Set<String> = []
      for await name in deaths {
        names.insert(name)
        if names.count == count { break }
      }
      return names
    }
  }
}

extension MeetingFolder.Standing {
  var isAlive: Bool { if case .alive = self { true } else { false } }
  var isUnknown: Bool { if case .unknown = self { true } else { false } }
  /// The lock of the dead one.
  var deadSession: DeadSession? { if case .dead(let lock) = self { lock } else { nil } }
}
