#if HTTP
  import DurableJobs
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsHTTP

  /// A folder that hangs, as one on a server that is away, holds up what is of it.
  @Suite struct DiskThreadTests {
    @Test func `more tasks than a folder has threads hang in it, and those of another folder run`() async {
      let (hung, other) = (DiskThreads.of(folder: "/hung"), DiskThreads.of(folder: "/other"))
      let end = DispatchSemaphore(value: 0)
      let begun = Lock(0)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<20 {
          group.addTask(executorPreference: hung) {
            begun.withLock { $0 += 1 }
            Self.wait(for: end)
          }
        }
        await until { begun.withLock { $0 } == 16 }
        let ran = await Task(executorPreference: other) { true }.value
        #expect(ran)
        for _ in 0..<20 { end.signal() }
        await group.waitForAll()
      }
      #expect(begun.withLock { $0 } == 20)
    }

    /// As a disk does.
    private static func wait(for end: DispatchSemaphore) { end.wait() }

    @Test func `threads are those of a folder as long as somebody has them`() {
      let threads = DiskThreads.of(folder: "/a")
      #expect(DiskThreads.of(folder: "/a") === threads)
      #expect(DiskThreads.of(file: "/a/b") === threads)
      #expect(DiskThreads.of(folder: "/b") !== threads)
      weak let old = DiskThreads.of(folder: "/c")
      #expect(old == nil)
    }
  }
#endif
