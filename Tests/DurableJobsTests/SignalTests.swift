import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

/// What wakes who waits: signals, gates, timers.
@Suite struct SignalTests {
  private let heard = Lock<[String]>([])

  private func listen(_ signals: StoreSignals, as name: String) -> StoreSignals.Subscription {
    signals.listen { [heard] _ in heard.withLock { $0.append(name) } }
  }

  @Test func `a listener may hold another subscription, which ends with its own`() {
    let signals = StoreSignals()
    func listen() -> StoreSignals.Subscription {
      let inner = signals.listen { _ in }
      return signals.listen { _ in withExtendedLifetime(inner) {} }
    }
    var outer: StoreSignals.Subscription? = listen()
    #expect(signals.hasListeners)
    outer = nil
    #expect(!signals.hasListeners)
    withExtendedLifetime(outer) {}
  }

  @Test("Each listener hears each signal, until its subscription is released")
  func listeners() {
    let signals = StoreSignals()
    #expect(!signals.hasListeners)
    let first = listen(signals, as: "first")
    do {
      let second = listen(signals, as: "second")
      signals.post(.committed([]))
      withExtendedLifetime(second) {}
    }
    signals.post(.changedElsewhere(.work))
    #expect(heard.withLock { $0.sorted() } == ["first", "first", "second"])
    #expect(signals.hasListeners)
    withExtendedLifetime(first) {}
  }

  @Test("A store learns when the first listener comes and when the last has gone")
  func interest() {
    let signals = StoreSignals()
    signals.onInterest { [heard] isWanted in heard.withLock { $0.append(isWanted ? "wanted" : "not wanted") } }
    do {
      let first = listen(signals, as: "")
      let second = listen(signals, as: "")
      #expect(heard.withLock { $0 } == ["wanted"])
      withExtendedLifetime((first, second)) {}
    }
    #expect(heard.withLock { $0 } == ["wanted", "not wanted"])
  }

  @Test("A listener may listen and post itself")
  func reentrance() {
    let signals = StoreSignals()
    let inner = Lock<StoreSignals.Subscription?>(nil)
    let outer = signals.listen { [self] signal in
      guard case .committed = signal else { return }
      let subscription = listen(signals, as: "inner")
      inner.withLock { $0 = subscription }
      signals.post(.changedElsewhere(.work))
    }
    signals.post(.committed([]))
    #expect(heard.withLock { $0 } == ["inner"])
    withExtendedLifetime(outer) {}
  }

  @Test("Who listens second returns once the store has done for the first what it does for a listener")
  func secondListener() async {
    let signals = StoreSignals()
    let (hasBegun, isSecondThere, isReady) = (Flag(false), Flag(false), Flag(false))
    signals.onInterest { isWanted in
      guard isWanted else { return }
      hasBegun.value = true
      while !isSecondThere.value { signals.post(.committed([])) }
      isReady.value = true
    }
    async let first = onAThreadOfItsOwn { signals.listen { _ in } }
    async let second = onAThreadOfItsOwn {
      while !hasBegun.value { sched_yield() }
      let subscription = signals.listen { _ in isSecondThere.value = true }
      return (subscription, wasReady: isReady.value)
    }
    #expect(await second.wasReady)
    _ = await first
  }

  // MARK: Gates

  @Test("A gate that was opened lets the next one pass, once, however often it was opened")
  func gate() async {
    let gate = Gate()
    gate.open()
    gate.open()
    await gate.pass()
    async let waiting: Void = {
      await gate.pass()
      heard.withLock { $0.append("passed") }
    }()
    heard.withLock { $0.append("opened") }
    gate.open()
    await waiting
    #expect(heard.withLock { $0 } == ["opened", "passed"])
  }

  @Test("A gate lets a cancelled task pass")
  func cancelledGate() async {
    let gate = Gate()
    let task = Task { await gate.pass() }
    task.cancel()
    await task.value
    #expect(task.isCancelled)
  }

  // MARK: Timers of the machine's clock

  @Test("Timers fire in the order in which they are due, and a cancelled one does not")
  func timers() async {
    let clock = SystemClock()
    let gate = Gate()
    let timers = Lock<[any JobTimer]>([])
    // Set on the thread on which they fire: none does before all are set.
    let first = clock.schedule(after: .zero) { [heard] in
      let now = clock.uptime
      let last = clock.schedule(at: now + .milliseconds(40)) { gate.open() }
      let named = [(30, "c"), (5, "cancelled"), (10, "a"), (20, "b")].map { delay, name in
        clock.schedule(at: now + .milliseconds(delay)) { heard.withLock { $0.append(name) } }
      }
      named[1].cancel()
      timers.withLock { $0 = named + [last] }
    }
    await gate.pass()
    #expect(heard.withLock { $0 } == ["a", "b", "c"])
    withExtendedLifetime((first, timers)) {}
  }

  @Test("A timer never fires before its time")
  func timerIsNotEarly() async {
    let clock = SystemClock()
    for _ in 0..<10 {
      let due = clock.uptime + .milliseconds(3)
      let gate = Gate()
      let timer = clock.schedule(after: .milliseconds(3)) { gate.open() }
      await gate.pass()
      #expect(clock.uptime >= due)
      withExtendedLifetime(timer) {}
    }
  }

  @Test("C14 Tasks and timers of the engine's thread go on while every other thread is blocked")
  func blockedPool() async {
    let clock = SystemClock()
    let release = DispatchSemaphore(value: 0)
    let blockers = (0..<ProcessInfo.processInfo.activeProcessorCount * 2).map { _ in Task { release.wait(blocking: ()) }
    }
    let engine = Task(executorPreference: EngineThread.shared) {
      let gate = Gate()
      let timer = clock.schedule(after: .milliseconds(1)) { gate.open() }
      await gate.pass()
      withExtendedLifetime(timer) {}
      for _ in blockers { release.signal() }
    }
    await engine.value
    for blocker in blockers { await blocker.value }
  }
}

extension DispatchSemaphore {
  /// Blocks the thread, as a synchronous handler does.
  fileprivate func wait(blocking: Void) { wait() }
}
