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

  @Test func `a timer that is far ahead through many looks costs no more than one that is not`() async {
    let clock = SystemClock()
    let timer = clock.schedule(after: .seconds(1_000_000)) {}
    // Each is a look at all timers.
    for _ in 0..<100_000 {
      await withCheckedContinuation { continuation in
        _ = clock.schedule(at: .zero) { continuation.resume() }
      }
    }
    // Wrapped anew by each look, its action took more stack to be let go of than a thread has.
    timer.cancel()
  }
}
