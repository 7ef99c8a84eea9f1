#if Process
  import DurableJobs
  import DurableJobsTesting
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsProcess

  /// Logs go with their jobs.
  @Suite struct SweepTests {
    private let clock = ManualClock()
    private let base: InMemoryStore
    /// What its worker hears nothing from, as if another process had done it.
    private let store: FaultyStore
    private var queue: JobQueue { JobQueue(store: store) }

    init() {
      ShellCommand.superviseIfAsked()
      base = InMemoryStore(clock: clock)
      store = FaultyStore(base, fault: .noSignals)
    }

    /// A job with a folder.
    private func add(to store: any JobStore) async throws -> JobID {
      let options = JobOptions(start: .after(.seconds(86_400)))
      let id = try await JobQueue(store: store).enqueue(ShellCommand(["true"]), options: options).id
      try JobFolder(id, in: store).create()
      return id
    }

    private func exists(_ id: JobID, _ store: any JobStore) -> Bool {
      FileManager.default.fileExists(atPath: JobFolder(id, in: store).path)
    }

    @Test func `a worker that runs deletes the logs of a job that is removed here, at once`() async throws {
      let worker = JobWorker(JobQueue(store: base))
      worker.register(ShellCommand.self)
      worker.start()
      let removed = try await add(to: base)
      let kept = try await add(to: base)
      try await JobQueue(store: base).remove(removed)
      await until { !exists(removed, base) }
      #expect(exists(kept, base))
      await worker.stop()
    }

    @Test func `what is left of jobs that are gone is deleted when a worker begins`() async throws {
      let gone = JobID(rawValue: 1000)
      try JobFolder(gone, in: base).create()
      let kept = try await add(to: base)
      let worker = JobWorker(JobQueue(store: base))
      worker.register(ShellCommand.self)
      try await worker.runUntilIdle()
      #expect(!exists(gone, base), "also if the worker ends at once")
      #expect(exists(kept, base))
    }

    @Test func `logs of a job that another process removed are found by a sweep, not more than one in ten minutes`()
      async throws
    {
      let gone = JobID(rawValue: 1000)
      try JobFolder(gone, in: store).create()
      let sweeping = Task { [store] in
        var sweep = FolderSweep(store, CommandRemains(store))
        await sweep.run()
      }
      await until { !exists(gone, store) }
      let removed = try await add(to: store)
      try await JobQueue(store: base).remove(removed)
      store.signals.post(.changedElsewhere(.results))
      await until { clock.timers == [FolderSweep.interval] }
      #expect(exists(removed, store))
      clock.advance(by: FolderSweep.interval)
      await until { !exists(removed, store) }
      sweeping.cancel()
      await sweeping.value
    }

    @Test func `a sweep takes many folders in bites, with pauses`() async throws {
      let count = FolderSweep.bite * 2 + 1
      for number in 1...count { try JobFolder(JobID(rawValue: Int64(number)), in: store).create() }
      func left() -> Int { JobFolder.ids(in: JobFolder.all(of: store)).count }
      let sweeping = Task { [store] in
        var sweep = FolderSweep(store, CommandRemains(store))
        await sweep.run()
      }
      await until { clock.timers == [FolderSweep.pause] }
      #expect(left() == count - FolderSweep.bite)
      clock.advance(by: FolderSweep.pause)
      await until { clock.timers == [FolderSweep.pause] }
      #expect(left() == 1)
      clock.advance(by: FolderSweep.pause)
      await until { left() == 0 }
      sweeping.cancel()
      await sweeping.value
    }

    @Test func `a store that can't be asked keeps its folders, and the next sweep looks again`() async throws {
      let id = try await add(to: store)
      let gone = JobID(rawValue: 1000)
      try JobFolder(gone, in: store).create()
      store.fail(next: 2, .jobs, with: JobError(.diskFull, "there is no room"))
      let sweeping = Task { [store] in
        var sweep = FolderSweep(store, CommandRemains(store))
        await sweep.run()
      }
      await until { clock.timers == [FolderSweep.interval] }
      #expect(exists(id, store) && exists(gone, store))
      clock.advance(by: FolderSweep.interval)
      await until { !exists(gone, store) }
      #expect(exists(id, store))
      sweeping.cancel()
      await sweeping.value
    }

    @Test func `logs of a job that is gone stay as long as its command lives`() async throws {
      let id = JobID(rawValue: 1)
      let folder = JobFolder(id, in: base)
      try folder.create()
      let lock = open(folder.path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      #expect(flock(lock, LOCK_EX) == 0)
      let worker = JobWorker(JobQueue(store: base))
      worker.register(ShellCommand.self)
      try await worker.runUntilIdle()
      #expect(exists(id, base))
      worker.start()
      await until { clock.timers.contains(FolderSweep.interval) }
      #expect(exists(id, base))
      release(lock)
      clock.advance(by: FolderSweep.interval)
      await until { !exists(id, base) }
      await worker.stop()
    }
  }
#endif
