import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite("Sessions of one database")
struct ProcessSessionTests {
  let meeting: ProcessMeeting

  init() throws { meeting = try ProcessMeeting() }

  @Test("A presence that was resumed while it was to be suspended stays")
  func resumedMeanwhile() throws {
    let presence = Presence(folder: meeting.folder)
    let before = presence.resumptions
    let name = try presence.session()
    presence.resume()
    presence.suspend(unlessResumedSince: before)
    #expect(try presence.session() == name)
    presence.suspend(unlessResumedSince: presence.resumptions)
    #expect(throws: JobError.self) { try presence.session() }
    presence.end()
  }

  // MARK: Signals

  @Test("A change that one process posts reaches another, and not itself")
  func postReachesOthers() async throws {
    let (probe, name) = try await meeting.peer()
    let guest = try meeting.join()
    meeting.folder.postbox.post([.work, .stops], except: guest.session.name)
    #expect(try await probe.hear("signal")[0] == "5")
    try probe.tell("post 2")
    #expect(await guest.nextSignal() == .results)
    meeting.folder.postbox.post(.doubt, to: name)
    #expect(try await probe.hear("signal")[0] == "8")
  }

  @Test("A stopped session neither blocks who posts nor keeps the others from hearing, and misses nothing")
  func stoppedSessionHarmsNobody() async throws {
    let (probe, name) = try await meeting.peer()
    let guest = try meeting.join()
    probe.send(SIGSTOP)
    for _ in 0..<2000 { meeting.folder.postbox.post(.work, to: name) }
    meeting.folder.postbox.post(.stops, to: name)
    meeting.folder.postbox.post(.results, to: guest.session.name)
    #expect(await guest.nextSignal() == .results)
    probe.send(SIGCONT)
    var heard: ForeignChange = []
    while !heard.isSuperset(of: [.work, .stops]) {
      heard.formUnion(ForeignChange(rawValue: UInt8(try await probe.hear("signal")[0]) ?? 0))
    }
  }

  @Test("Many that read nothing do not use up a sender's room for the others")
  func fullBoxesLeaveRoom() async throws {
    let deaf = try (10..<60).map { number in
      let path = { (kind: SessionFile) in kind.path(of: "000000\(number)", in: meeting.folder.path) }
      try Data().write(to: URL(fileURLWithPath: path(.lock)))
      return try #require(UnixSocket.bound(UnixSocket.datagram, to: path(.mail)))
    }
    for _ in 0..<50 { meeting.folder.postbox.post(.work, except: nil) }
    let guest = try meeting.join()
    meeting.folder.postbox.post(.results, except: nil)
    #expect(await guest.nextSignal() == .results)
    #expect(UnixSocket.receive(from: deaf[0]) == ForeignChange.work.rawValue)
    withExtendedLifetime(deaf) {}
  }

  @Test("A session is closed only when the callback that runs has ended")
  func closingWaitsForTheCallback() async throws {
    for _ in 0..<20 {
      let events = AsyncStream<String>.makeStream()
      let name = Lock("")
      let session = try ProcessSession(
        folder: meeting.folder,
        onSignal: { [folder = meeting.folder] _ in
          events.continuation.yield("begun")
          // The lock file goes as the session begins to close.
          while folder.standing(of: name.withLock { $0 }).isAlive { sched_yield() }
          events.continuation.yield("ended")
        }, onDeath: { _ in })
      name.withLock { $0 = session.name }
      meeting.folder.postbox.post(.work, to: session.name)
      #expect(await events.stream.first { _ in true } == "begun")
      Thread {
        session.close()
        events.continuation.yield("closed")
      }.start()
      #expect(await events.stream.first { _ in true } == "ended")
      #expect(await events.stream.first { _ in true } == "closed")
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
    meeting.folder.postbox.post(.work, to: session.name)
    #expect(await heard.stream.first { _ in true } == .work)
    session.close()
    box.withLock { $0 = nil }
    #expect(meeting.folder.files().isEmpty)
  }

  @Test("A process that lets go of its presence leaves in order")
  func releasedPresenceLeaves() async throws {
    do {
      let presence = Presence(folder: meeting.folder)
      #expect(meeting.folder.standing(of: try presence.session()).isAlive)
    }
    #expect(meeting.folder.files().isEmpty)
  }

  // MARK: Deaths

  @Test("A session that is abandoned is dead to the others as if its process were, while that goes on")
  func abandonedSessionIsDead() async throws {
    let watching = try meeting.join()
    let other = try meeting.join()
    let abandoned = try meeting.join()
    abandoned.session.close(.asDead)
    abandoned.session.close()
    #expect(await watching.nextDeaths(1) == [abandoned.session.name])
    #expect(await other.nextDeaths(1) == [abandoned.session.name])
    withExtendedLifetime(abandoned) {}
  }

  @Test("A process that is killed is noticed, and can be buried once")
  func killedProcessIsNoticed() async throws {
    let guest = try meeting.join()
    let (probe, name) = try await meeting.peer()
    #expect(meeting.folder.standing(of: name).isAlive)
    probe.send(SIGKILL)
    #expect(await guest.nextDeaths(1) == [name])
    // Who noticed it may look once more, and holds its lock for that moment.
    var lock = meeting.folder.standing(of: name).deadSession
    while lock == nil {
      await Task.yield()
      lock = meeting.folder.standing(of: name).deadSession
    }
    #expect(meeting.folder.standing(of: name).isAlive, "somebody clears up after it")
    lock?.bury()
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

  @Test(
    "A child that outlives its killed parent holds neither its lock nor its connections", arguments: ["child", "fork"])
  func childHoldsNothing(kind: String) async throws {
    let guest = try meeting.join()
    let (probe, name) = try await meeting.peer()
    let child = try #require(Int32(try await probe.ask(kind, hear: "child")[0]))
    defer { kill(child, SIGKILL) }
    probe.send(SIGKILL)
    #expect(await guest.nextDeaths(1) == [name])
    #expect(meeting.folder.standing(of: name).deadSession != nil)
    #expect(kill(child, 0) == 0)
  }
}
