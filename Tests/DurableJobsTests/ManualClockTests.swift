import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@Suite struct ManualClockTests {
  private let clock = ManualClock(now: Date(timeIntervalSince1970: 1000))
  private let log = Lock<[String]>([])

  private func set(_ name: String, after seconds: Double) -> any JobTimer {
    clock.schedule(after: .seconds(seconds)) { [log, clock] in
      log.withLock { $0.append("\(name) at \(Int(clock.now.timeIntervalSince1970))") }
    }
  }

  @Test("Timers fire in order, each at its own time, before the advance returns")
  func order() {
    _ = set("late", after: 9)
    _ = set("early", after: 2)
    _ = set("with early", after: 2)
    _ = set("beyond", after: 11)
    clock.advance(by: .seconds(10))
    #expect(log.withLock { $0 } == ["early at 1002", "with early at 1002", "late at 1009"])
    #expect(clock.now == Date(timeIntervalSince1970: 1010))
    #expect(clock.uptime == .seconds(10))
    #expect(clock.timers == [.seconds(1)])
  }

  @Test("A timer that a timer sets fires in the same advance, if it is due in it")
  func nested() {
    _ = clock.schedule(after: .seconds(1)) { [log, clock] in
      _ = clock.schedule(after: .seconds(1)) { log.withLock { $0.append("inner") } }
    }
    clock.advance(by: .seconds(2))
    #expect(log.withLock { $0 } == ["inner"])
  }

  @Test("A cancelled timer does not fire, and none fires twice")
  func cancel() {
    let timer = set("cancelled", after: 1)
    _ = set("once", after: 1)
    timer.cancel()
    clock.advance(by: .seconds(1))
    clock.advance(by: .seconds(1))
    #expect(log.withLock { $0 } == ["once at 1001"])
  }

  @Test("A step of the calendar fires nothing and changes no uptime")
  func step() {
    _ = set("timer", after: 5)
    clock.stepWallClock(by: .seconds(3600))
    #expect(clock.now == Date(timeIntervalSince1970: 4600))
    clock.stepWallClock(by: .seconds(-7200))
    #expect(clock.now == Date(timeIntervalSince1970: -2600))
    #expect(clock.uptime == .zero)
    #expect(log.withLock { $0 }.isEmpty)
    clock.advance(by: .seconds(5))
    #expect(log.withLock { $0 } == ["timer at -2595"])
  }

  @Test("Who waits for a timer goes on when one is set that is due soon enough")
  func wait() async {
    _ = set("far", after: 60)
    await clock.timerScheduled()
    let order = log
    async let waiting: Void = {
      await clock.timerScheduled(within: .seconds(10))
      order.withLock { $0.append("seen") }
    }()
    _ = set("near", after: 10)
    await waiting
    #expect(log.withLock { $0 } == ["seen"])
  }

  @Test("Who waits for a timer goes on when its task is cancelled")
  func cancelledWait() async {
    let task = Task { [clock] in await clock.timerScheduled() }
    task.cancel()
    await task.value
    #expect(clock.timers.isEmpty)
  }
}
