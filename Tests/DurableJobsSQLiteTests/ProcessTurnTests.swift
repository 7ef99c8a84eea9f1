import DurableJobs
import Foundation
import Testing

@testable import DurableJobsSQLite

@Suite("The turn to write")
struct ProcessTurnTests {
  let meeting: ProcessMeeting

  init() throws { meeting = try ProcessMeeting() }

  @Test("Two processes that take turns never overlap, and both come through")
  func turnsDoNotOverlap() async throws {
    let first = try ProcessProbe("turn", meeting.databasePath)
    let second = try ProcessProbe("turn", meeting.databasePath)
    let file = meeting.home + "/count"
    try Data("0".utf8).write(to: URL(fileURLWithPath: file))
    for probe in [first, second] { try await probe.hear("ready") }
    for probe in [first, second] { try probe.tell("count 200 \(file)") }
    for probe in [first, second] { try await probe.hear("counted") }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "400")
  }

  @Test("Who waits gets the turn when it is given back")
  func waitingEndsWithTheTurn() async throws {
    let probe = try ProcessProbe("turn", meeting.databasePath)
    let turn = try WriterLock(folder: meeting.folder)
    #expect(turn.take(within: .zero))
    try probe.tell("take 0")
    try await probe.hear("false")
    try probe.tell("take")
    turn.giveBack()
    try await probe.hear("true")
    #expect(!turn.take(within: .zero))
  }

  @Test("A turn whose holder is stopped is not waited for beyond the limit, and can be had once it goes on")
  func stoppedHolderHangsNobody() async throws {
    let probe = try ProcessProbe("turn", meeting.databasePath)
    let turn = try WriterLock(folder: meeting.folder)
    try probe.tell("take")
    try await probe.hear("true")
    probe.send(SIGSTOP)
    #expect(!turn.take(within: .milliseconds(20)))
    #expect(!turn.take(within: .seconds(864_000)), "it was waited for once")
    turn.giveBack()
    probe.send(SIGCONT)
    try probe.tell("back")
    while !turn.take(within: .seconds(864_000)) { await Task.yield() }
    try probe.tell("take 0")
    try await probe.hear("false")
    turn.giveBack()
    try probe.tell("take")
    try await probe.hear("true")
  }

  @Test("A turn whose holder shows that it works is waited for beyond the limit")
  func workIsWaitedFor() async throws {
    let (holder, waiter) = (try WriterLock(folder: meeting.folder), try WriterLock(folder: meeting.folder))
    #expect(holder.take(within: .zero))
    let (limit, answer, isOver) = (Duration.seconds(1), Lock<Bool?>(nil), Lock(false))
    Thread.detachNewThread {
      while !isOver.withLock({ $0 }) {
        holder.showWork()
        sched_yield()
      }
    }
    Thread.detachNewThread {
      let hasTurn = waiter.take(within: limit)
      answer.withLock { $0 = hasTurn }
    }
    let start = ContinuousClock.now
    while answer.withLock({ $0 }) == nil, ContinuousClock.now - start < limit * 3 { await Task.yield() }
    holder.giveBack()
    while answer.withLock({ $0 }) == nil { await Task.yield() }
    isOver.withLock { $0 = true }
    #expect(answer.withLock { $0 } == true)
  }

  @Test("A turn that comes after its caller gave up is passed on")
  func unwantedTurnIsPassedOn() async throws {
    let late = try WriterLock(folder: meeting.folder)
    let holder = try WriterLock(folder: meeting.folder)
    let next = try ProcessProbe("turn", meeting.databasePath)
    #expect(holder.take(within: .zero))
    #expect(!late.take(within: .milliseconds(1)))
    holder.giveBack()
    try next.tell("take")
    try await next.hear("true")
  }

  @Test("A turn dies with its holder, and with the last use of it")
  func turnDiesWithItsHolder() async throws {
    let turn = try WriterLock(folder: meeting.folder)
    let probe = try ProcessProbe("turn", meeting.databasePath)
    try probe.tell("take")
    try await probe.hear("true")
    probe.send(SIGKILL)
    #expect(turn.take(within: .seconds(864_000)))
    turn.giveBack()
    do {
      let passing = try WriterLock(folder: meeting.folder)
      #expect(passing.take(within: .zero))
      #expect(!turn.take(within: .milliseconds(1)))
    }
    while !turn.take(within: .seconds(864_000)) { await Task.yield() }
  }
}
