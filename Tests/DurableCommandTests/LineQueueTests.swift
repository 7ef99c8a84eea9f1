#if Shell
  import DurableJobs
  import Foundation
  import Testing

  @testable import Console

  @Suite("Lines on their way out")
  struct LineQueueTests {
    @Test("the end waits for a reader as long as it must, and then does not wait for the same one again")
    func patience() {
      let reader = DispatchSemaphore(value: 0)
      let queue = LineQueue { _ in
        reader.wait()
      } tellOfMissing: { _ in
      }
      for _ in 0..<3 { queue.add(Data(count: 1)) }
      var looks = 0
      func mustWait() -> Bool {
        looks += 1
        return looks < 2
      }
      #expect(queue.finish(while: mustWait) == 3, "so many are lost")
      #expect(looks == 2)
      #expect(queue.finish(while: mustWait) == 3)
      #expect(looks == 2)
      for _ in 0..<3 { reader.signal() }
    }

    @Test("a line that is longer than all that may wait is written where nothing waits, and so is the next one")
    func longLine() {
      let written = Lock<[Int]>([])
      let queue = LineQueue(capacity: 10) { line in
        written.withLock { $0.append(line.count) }
      } tellOfMissing: { _ in
      }
      for size in [20, 1] {
        queue.add(Data(count: size))
        queue.finish()
      }
      #expect(written.withLock { $0 } == [20, 1])
    }

    @Test("while nobody reads, who says a line does not wait; what is too much is dropped, and its number said")
    func deafReader() {
      let reader = DispatchSemaphore(value: 0)
      let written = Lock(0)
      let missing = Lock<[Int]>([])
      let queue = LineQueue { _ in
        reader.wait()
        written.withLock { $0 += 1 }
      } tellOfMissing: { count in
        missing.withLock { $0.append(count) }
      }
      let line = Data(count: LineQueue.capacity / 4)
      for _ in 0..<7 { queue.add(line) }
      for _ in 0..<4 { reader.signal() }
      queue.finish()
      #expect(written.withLock { $0 } == 4)
      #expect(missing.withLock { $0 } == [3])
      reader.signal()
      queue.add(line)
      queue.finish()
      #expect(written.withLock { $0 } == 5)
      #expect(missing.withLock { $0 } == [3])
    }
  }
#endif
