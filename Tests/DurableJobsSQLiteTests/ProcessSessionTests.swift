import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite("Sessions of one database", .timeLimit(.minutes(1)))
struct ProcessSessionTests {
  let meeting: ProcessMeeting

  init() throws { meeting = try ProcessMeeting() }

  // MARK: Signals

  @Test("A change that one process posts reaches another, and not itself")
  func postReachesOthers() async throws {
    let (probe, name) = try await meeting.peer()
    let guest = try meeting.join()
    meeting.folder.post([.work, .stops], except: guest.session.name)
    #expect(try await probe.hear("signal")[0] == "5")
    try probe.tell("post 2")
    #expect(await guest.nextSignal() == .results)
    meeting.folder.post(.doubt, to: name)
    #expect(try await probe.hear("signal")[0] == "8")
  }

  @Test("A stopped session neither blocks who posts nor keeps the others from hearing, and misses nothing")
  func stoppedSessionHarmsNobody() async throws {
    let (probe, name) = try await meeting.peer()
    let guest = try meeting.join()
    probe.send(SIGSTOP)
    for _ in 0..<2000 { meeting.folder.post(.work, to: name) }
    meeting.folder.post(.stops, to: name)
    meeting.folder.post(.results, to: guest.session.name)
    #expect(await guest.nextSignal() == .results)
    probe.send(SIGCONT)
    var heard: ForeignChange = []
    while !heard.isSuperset(of: [.work, .stops]) {
      heard.formUnion(ForeignChange(rawValue: UInt8(try await probe.hear("signal")[0]) ?? 0))
    }
  }

  @Test("No callback runs once a session is closed")
  func closedSessionIsSilent() throws {
    for _ in 0..<50 {
      let isClosed = Lock(false)
      let wasLate = Lock(false)
      let session = try ProcessSession(
        folder: meeting.folder,
        onSignal: { _ in if isClosed.withLock({ $0 }) { wasLate.withLock { $0 = true } } }, onDeath: { _ in })
      for _ in 0..<5 { meeting.folder.post(.work, to: session.name) }
      session.close()
      isClosed.withLock { $0 = true }
      #expect(!wasLate.withLock { $0 })
      #expect(meeting.folder.standing(of: session.name).isUnknown)
    }
    #expect(meeting.folder.files().isEmpty)
  }

  @Test("A session can be closed by its own callback, and hears nothing more")
  func closedByItsCallback() async throws {
    let heard = AsyncStream<ForeignChange>.makeStream()
    let box = Lock<ProcessSession?>(nil)
    let session = try ProcessSession(
      folder: meeting.folder,
      onSignal: { change in
        box.withLock { $0 }?.close()
        heard.continuation.yield(change)
        heard.continuation.finish()
      }, onDeath: { _ in })
    box.withLock { $0 = session }
    meeting.folder.post(.work, to: session.name)
    #expect(await heard.stream.first { _ in true } == .work)
    session.close()
    box.withLock { $0 = nil }
    #expect(meeting.folder.files().isEmpty)
  }

  @Test("A session that is let go of leaves in order")
  func releasedSessionLeaves() async throws {
    do {
      let guest = try meeting.join()
      #expect(meeting.folder.standing(of: guest.session.name).isAlive)
    }
    #expect(meeting.folder.files().isEmpty)
  }

  // MARK: Deaths

  @Test("A process that is killed is noticed, and can be buried once")
  func killedProcessIsNoticed() async throws {
    let guest = try meeting.join()
    let (probe, name) = try await meeting.peer()
    #expect(meeting.folder.standing(of: name).isAlive)
    probe.send(SIGKILL)
    #expect(await guest.nextDeaths(1) == [name])
    let lock = try #require(meeting.folder.standing(of: name).heldLock)
    #expect(meeting.folder.standing(of: name).isAlive, "somebody clears up after it")
    lock.bury()
    #expect(meeting.folder.standing(of: name).isUnknown)
    #expect(meeting.folder.sessions() == [guest.session.name])
  }

  @Test("A process that leaves in order is not reported")
  func leavingIsNoDeath() async throws {
    let guest = try meeting.join()
    let peers = try await meeting.peers(3)
    _ = try await peers[0].probe.ask("leave", hear: "left")
    peers[1].probe.send(SIGKILL)
    #expect(await guest.nextDeaths(1) == [peers[1].name])
    peers[2].probe.send(SIGKILL)
    #expect(await guest.nextDeaths(1) == [peers[2].name])
  }

  @Test("Where the middle one of three is killed, the ring closes over it")
  func ringCloses() async throws {
    let peers = try await meeting.peers(3)
    peers[1].probe.send(SIGKILL)
    #expect(try await peers[0].probe.hear("death")[0] == peers[1].name)
    peers[2].probe.send(SIGKILL)
    #expect(try await peers[0].probe.hear("death")[0] == peers[2].name)
  }

  @Test("Several that are killed at once are all noticed")
  func allDeathsAreNoticed() async throws {
    let guest = try meeting.join()
    let peers = try await meeting.peers(4)
    for peer in peers { peer.probe.send(SIGKILL) }
    #expect(await guest.nextDeaths(4) == Set(peers.map(\.name)))
  }

  @Test("A stopped process is not dead, and one that is killed beside it is noticed all the same")
  func stoppedProcessIsAlive() async throws {
    let peers = try await meeting.peers(3)
    peers[0].probe.send(SIGSTOP)
    peers[1].probe.send(SIGKILL)  // whom the stopped one watches
    #expect(try await peers[2].probe.hear("death")[0] == peers[1].name)
    #expect(meeting.folder.standing(of: peers[0].name).isAlive)
    peers[0].probe.send(SIGCONT)
    #expect(try await peers[0].probe.hear("death")[0] == peers[1].name)
    peers[0].probe.send(SIGKILL)
    #expect(try await peers[2].probe.hear("death")[0] == peers[0].name)
  }

  @Test("What died while nobody was there is reported to the next that comes")
  func deathsOfThePastAreReported() async throws {
    let peers = try await meeting.peers(2)
    for peer in peers { peer.probe.send(SIGKILL) }
    for peer in peers { await #expect(throws: ProcessProbe.Ended.self) { try await peer.probe.hear("nothing") } }
    let guest = try meeting.join()
    #expect(await guest.nextDeaths(2) == Set(peers.map(\.name)))
  }

  @Test("A child that outlives its killed parent holds neither its lock nor its connections")
  func childHoldsNothing() async throws {
    let guest = try meeting.join()
    let (probe, name) = try await meeting.peer()
    let child = try #require(Int32(try await probe.ask("child", hear: "child")[0]))
    defer { kill(child, SIGKILL) }
    probe.send(SIGKILL)
    #expect(await guest.nextDeaths(1) == [name])
    #expect(meeting.folder.standing(of: name).heldLock != nil)
    #expect(kill(child, 0) == 0)
  }
}
