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
}
