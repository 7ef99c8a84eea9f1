import Foundation
import Testing

@testable import DurableJobs

@Suite struct BellTests {
  @Test func `A bell that was rung before is heard once, and a time that has passed is not waited for`() {
    let bell = Bell()
    bell.ring()
    bell.ring()
    bell.wait(until: nil)
    let begin = SystemClock().uptime
    bell.wait(until: begin + .milliseconds(1))
    #expect(SystemClock().uptime >= begin + .milliseconds(1))
    bell.wait(until: .zero)
  }

  @Test func `A thread that waits is woken by a ring, long before the time that it waits for`() async {
    let (bell, answer) = (Bell(), Bell())
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        answer.ring()
        bell.wait(until: SystemClock().uptime + .seconds(1_000_000))
        continuation.resume()
      }
      answer.wait(until: nil)
      bell.ring()
    }
  }

  /// Notes how deep the calls are that let it go.
  private final class Depth: Sendable {
    let frames: Lock<Int>
    init(_ frames: Lock<Int>) { self.frames = frames }
    deinit { frames.withLock { $0 = Thread.callStackReturnAddresses.count } }
  }

  /// Wrapped anew by each look, it would take more stack at last than a thread has.
  @Test func `However often a timer is looked at, its action is let go of in a few calls`() async {
    let (clock, frames) = (SystemClock(), Lock(0))
    let timer = clock.schedule(after: .seconds(1_000_000)) { [depth = Depth(frames)] in _ = depth }
    // Each is a look at all timers.
    for _ in 0..<200 {
      await withCheckedContinuation { continuation in
        _ = clock.schedule(at: .zero) { continuation.resume() }
      }
    }
    timer.cancel()
    #expect((1..<100).contains(frames.value), "no more than 128 are told")
  }
}
