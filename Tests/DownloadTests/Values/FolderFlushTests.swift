#if HTTP
  import DurableJobs
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsHTTP

  struct FolderFlushTests {
    /// Asks on a thread of its own, and twice more while the folder is being flushed for the first. Returns how often it was
    /// flushed for all, which succeeds or not, and how often for one alone.
    private func flushThrice(succeeds: Bool) async -> [Int] {
      let (shared, alone, ended) = (Lock(0), Lock(0), Lock(0))
      let goesOn = DispatchSemaphore(value: 0)
      let flush = FolderFlush {
        let number = shared.withLock { shared in
          shared += 1
          return shared
        }
        if number == 1 { goesOn.wait() }
        return succeeds
      }
      for number in 1...3 {
        Thread.detachNewThread {
          flush.flush { alone.withLock { $0 += 1 } }
          ended.withLock { $0 += 1 }
        }
        await until { flush.asked == number && shared.value == 1 }
      }
      goesOn.signal()
      await until { ended.value == 3 }
      return [shared.value, alone.value]
    }

    @Test func `who asks while a folder is flushed shares the next flush with all who wait`() async {
      #expect(await flushThrice(succeeds: true) == [2, 0])
    }

    @Test func `once a flush has failed each asks the system, which tells each of it once`() async {
      #expect(await flushThrice(succeeds: false) == [1, 3])
    }

    @Test func `a folder has one for all who have it open, and another folder another`() throws {
      let (one, two) = (try TestFolder("one"), try TestFolder("two"))
      let folder = try Folder(path: one.url.path)
      #expect(try folder.flushes === Folder(path: one.url.path + "/.").flushes)
      #expect(try folder.flushes !== Folder(path: two.url.path).flushes)
    }
  }
#endif
