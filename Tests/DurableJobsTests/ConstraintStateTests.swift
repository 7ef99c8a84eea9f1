import Testing

@testable import DurableJobs

/// What a worker makes of the news about conditions, with no clock and no store.
@Suite struct ConstraintStateTests {
  private func state(_ known: [JobConstraint: Bool] = [:], setByHand: [JobConstraint: Bool] = [:]) -> ConstraintState {
    var state = ConstraintState()
    for (constraint, isSatisfied) in known {
      state.provides(constraint)
      _ = state.told(constraint, isSatisfied, .zero)
    }
    _ = state.set(setByHand, .zero)
    return state
  }

  @Test("What is set by hand goes before what a monitor says, and what nobody speaks of does not hold")
  func holding() {
    let state = state(["a": true, "b": false, "c": true], setByHand: ["b": true, "c": false, "d": true])
    #expect(["a", "b", "c", "d", "e"].map { state.holds($0) } == [true, true, false, true, false])
    #expect(state.satisfied == ["a", "c"], "what was set is the store's to know")
    #expect(state.absent == ["b"])
    #expect([:].holding(["a"]) == ["a"])
    #expect(["b": true, "c": false, "d": true].holding(["a", "c"]) == ["a", "b", "d"])
  }

  @Test("Until a monitor has told something, its condition does not hold and is not known")
  func unknown() {
    var state = ConstraintState()
    #expect(state.isKnown)
    state.provides("a")
    #expect(!state.isKnown)
    #expect(state.absent == ["a"])
    state.ended("a")
    #expect(state.isKnown)
    #expect(!state.holds("a"))
    _ = state.told("a", true, .zero)
    state.ended("a")
    #expect(state.holds("a"), "the last word of a monitor counts")
  }

  @Test("What comes back ends back-offs; the first that is heard of it is no return")
  func returns() {
    var state = state(["a": true], setByHand: ["b": true])
    #expect(state.nextBite(.zero) == nil)
    _ = state.told("a", false, .seconds(1))
    #expect(state.nextTime == nil)
    let isNews = [state.told("a", true, .seconds(2)), state.told("a", true, .seconds(2))]
    #expect(isNews == [true, false])
    #expect(state.nextBite(.seconds(2)) == .init(constraint: "a", after: nil, since: .seconds(2)))
    _ = state.set(["b": true, "c": true, "a": true], .seconds(3))
    #expect(state.nextTime == .seconds(2), "it held already when it was set")
    state.woke(state.nextBite(.seconds(3))!, next: nil, .seconds(3))
    #expect(state.nextBite(.seconds(3))?.constraint == "c")
  }

  @Test("Setting it by hand and leaving it to the monitor again are returns, where it did not hold before")
  func byHand() {
    var state = state(["a": true])
    _ = state.set(["a": false], .seconds(1))
    #expect(!state.holds("a"))
    #expect(state.nextTime == nil)
    _ = state.set([:], .seconds(2))
    #expect(state.nextBite(.seconds(2))?.constraint == "a")
    _ = state.set(["a": false], .seconds(3))
    #expect(state.nextTime == nil, "what is lost again ends nothing more")
  }

  @Test("A bite starts within a second, and the next one begins a second later")
  func bites() {
    var state = state(["a": false])
    _ = state.told("a", true, .zero)
    for number in 1...7 {
      let now = Duration.milliseconds(number * 1000)
      let bite = state.nextBite(now)!
      #expect(bite.after == (number == 1 ? nil : JobID(rawValue: Int64(number) * 1000)))
      state.woke(bite, next: number == 7 ? nil : JobID(rawValue: Int64(number + 1) * 1000), now)
      #expect(state.nextBite(now + .milliseconds(999)) == nil)
    }
    #expect(state.nextTime == nil)
  }

  @Test("C34 What comes and goes a hundred times ends back-offs once, and again when some time has passed")
  func flapping() {
    var state = state(["a": true])
    var wakes: [Duration] = []
    for second in 0..<100 {
      let now = Duration.milliseconds(second * 100)
      _ = state.told("a", second.isMultiple(of: 2), now)
      guard let bite = state.nextBite(now) else { continue }
      wakes.append(now)
      state.woke(bite, next: nil, now)
    }
    #expect(wakes == [.milliseconds(200)])
    _ = state.told("a", true, .seconds(10))
    #expect(state.nextTime == .milliseconds(200) + ConstraintState.interval)
    #expect(state.nextBite(.seconds(30)) == nil)
    #expect(state.nextBite(.seconds(31)) != nil)
  }

  @Test("A condition that goes and returns while a bite is carried out has returned again")
  func flappingDuringABite() {
    var state = state(["a": false])
    _ = state.told("a", true, .zero)
    let bite = state.nextBite(.zero)!
    _ = state.told("a", false, .seconds(1))
    _ = state.told("a", true, .seconds(2))
    state.woke(bite, next: nil, .seconds(3))
    #expect(state.nextBite(.seconds(3))?.since == .seconds(2))
  }

  @Test("A bite that the store refuses is tried again a second later, from where it was")
  func refusal() {
    var state = state(["a": false])
    _ = state.told("a", true, .zero)
    state.woke(state.nextBite(.zero)!, next: JobID(rawValue: 7), .zero)
    let bite = state.nextBite(.seconds(1))!
    state.wakeFailed(bite, .seconds(1))
    #expect(state.nextBite(.milliseconds(1999)) == nil)
    #expect(state.nextBite(.seconds(2)) == bite)
  }
}
