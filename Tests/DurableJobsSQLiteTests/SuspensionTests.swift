import DurableJobs
import DurableJobsTesting
import Foundation
import TestProcesses
import Testing

@testable import DurableJobsSQLite

/// Stores that are suspended.
@Suite struct SuspensionTests {
  let folder: StoreFolder
  let store: SQLiteStore
  private let own = OwnThread()

  init() throws {
    folder = try StoreFolder()
    store = try folder.store()
  }

  /// Calls the store while it is suspended, and expects that to be answered once it goes on, and not before.
  private func waits<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) async throws -> R {
    let isDone = Lock(false)
    let task = Task(executorPreference: own) {
      let answer = try await body()
      isDone.withLock { $0 = true }
      return answer
    }
    await own.rests()
    // Whoever came in is waited for, with what the writer does for it.
    await store.suspendForBackground()
    await own.rests()
    #expect(!isDone.value)
    store.resumeFromBackground()
    return try await task.value
  }

  @Test func `A store that is suspended is made smaller once it goes on`() async throws {
    await store.suspendForBackground()
    _ = try await waits { [store] in try await store.compact() }
  }

  @Test func `Who claims from a store that is suspended waits until it goes on`() async throws {
    try await store.insert(.plain(), .plain())
    await store.suspendForBackground()
    let batch = try await waits { [store] in try await store.claim(.of(1)) }
    #expect(batch.jobs.count == 1)
    await store.suspendForBackground()
    let turn = try await waits { [store] in try await store.settle([], thenClaim: .of(1)) }
    #expect(turn.claimed?.jobs.count == 1)
    await store.close()
  }

  @Test func `A worker that goes on after its store was suspended is found under the name of its new session`()
    async throws
  {
    let clock = ManualClock()
    let store = try folder.store("later.sqlite", clock: clock)
    func isNamed() async throws -> Bool {
      let name = try #require(store.engine.session)
      return try await store.numbers("SELECT count(*) FROM durable_worker WHERE session='\(name)'") == [1]
    }
    try await store.insert(.plain(), .plain())
    let job = try await store.claim(.of(1)).jobs[0]
    #expect(try await isNamed())
    await store.suspendForBackground()
    store.resumeFromBackground()
    _ = try await store.renew(RenewalRequest(worker: "w", renewals: [ClaimRenewal(token: job.token)]))
    #expect(try await isNamed())
    await store.suspendForBackground()
    store.resumeFromBackground()
    clock.advance(by: Defaults.renewalInterval + .seconds(1))
    #expect(try await store.claim(.of(1)).jobs.count == 1)
    #expect(try await isNamed())
    await store.close()
  }

  @Test func `A worker at work has its new session known as soon as its store goes on`() async throws {
    let store = try folder.store("later.sqlite", clock: ManualClock())
    let mayEnd = Gate()
    let worker = try await JobWorker.busy(on: JobQueue(store: store), until: mayEnd)
    await store.suspendForBackground()
    store.resumeFromBackground()
    let name = try #require(store.engine.session)
    let sql = "SELECT count(*) FROM durable_worker WHERE session='\(name)'"
    while try await store.numbers(sql) == [0] { await Task.yield() }
    mayEnd.open()
    await worker.stop()
    await store.close()
  }

  enum Work: CaseIterable { case none, itself, aStep }

  @Test(arguments: Work.allCases)
  func `A worker stops although its store is suspended, and what it could not store runs again`(work: Work) async throws
  {
    let isAtWork = work != .none
    let queue = JobQueue(store: store)
    let (began, mayEnd) = (Gate(), Gate())
    let worker = JobWorker(queue)
    worker.register(kind: "k") { _, context in
      began.open()
      await mayEnd.pass()
      if work == .aStep { try await context.step("step") {} }
      return nil
    }
    let id = isAtWork ? try await queue.enqueue(kind: "k", payload: Data()) : nil
    worker.start()
    if isAtWork { await began.pass() } else { try await queue.waitUntilIdle() }
    await store.suspendForBackground()
    mayEnd.open()
    await worker.stop(grace: .zero)
    // One that begins meanwhile waits for the store, until it is stopped too.
    let next = JobWorker(queue)
    next.register(kind: "k") { _, _ in nil }
    next.start()
    await next.stop(grace: .zero)
    store.resumeFromBackground()
    if let id {
      #expect(try await queue.job(id).state == .running, "until its lease is over")
      try await queue.resetAll()
    }
    let counts = try await next.runUntilIdle()
    #expect(counts == (isAtWork ? JobCounts([.succeeded: 1]) : JobCounts()))
    await store.close()
  }

  #if os(Linux)
    /// The locks that this process has on files of the folder.
    private static func locks(in folder: String) throws -> Set<String> {
      var names: [UInt64: String] = [:]
      for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
        names[FileStat("\(folder)/\(name)")?.key.file ?? 0] = name
      }
      let data = try FileHandle(forReadingFrom: URL(filePath: "/proc/locks")).readToEnd() ?? Data()
      let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
      let all = lines.compactMap { line -> String? in
        // NUMBER: KIND ADVISORY MODE PROCESS DEVICE:INODE FIRST LAST
        let words = line.split(separator: " ")
        guard words.count == 8, Int32(words[4]) == getpid(),
          let name = words[5].split(separator: ":").last.flatMap({ UInt64($0) }).flatMap({ names[$0] })
        else { return nil }
        return "\(words[1]) \(words[3]) \(name) \(words[6])"
      }
      return Set(all)
    }

    /// Again and again, since the list is read in pieces, and locks of others come and go meanwhile.
    private static func locks(in folder: String, until isShown: (Set<String>) -> Bool) throws -> Set<String> {
      var found = try locks(in: folder)
      for _ in 0..<1000 where !isShown(found) { found = try locks(in: folder) }
      return found
    }

    private static let areLocksTold = FileManager.default.isReadableFile(atPath: "/proc/locks")

    @Test(.enabled("the system does not tell who has a lock") { areLocksTold })
    func `A store that is suspended has no lock but SQLite's shared ones, which say that its file is open`()
      async throws
    {
      let path = folder.path
      let shared: Set = ["POSIX READ jobs.sqlite 1073741826", "POSIX READ jobs.sqlite-shm 128"]
      try await store.insert(.plain())
      _ = try await store.claim(.of(1))
      let inWrite = try await store.onWriter { _ in
        try Self.locks(in: path) { $0.contains("POSIX WRITE jobs.sqlite-shm 120") }
      }
      #expect(inWrite.contains("POSIX WRITE jobs.sqlite-shm 120"), "else nothing is shown: \(inWrite)")
      let inRead = try await store.engine.read { connection in
        _ = try Statement("SELECT count(*) FROM durable_job", on: connection).first { $0.int(0) }
        return try Self.locks(in: path) { found in
          found.contains { $0.hasPrefix("FLOCK") }
            && found.contains { $0.hasPrefix("POSIX READ jobs.sqlite-shm") && !shared.contains($0) }
        }
      }
      #expect(inRead.contains { $0.hasPrefix("POSIX READ jobs.sqlite-shm") && !shared.contains($0) }, "\(inRead)")
      #expect(inRead.contains { $0.hasPrefix("FLOCK") }, "\(inRead)")
      await store.suspendForBackground()
      #expect(try Self.locks(in: path).subtracting(shared) == [])
      store.resumeFromBackground()
      await store.close()
      #expect(try Self.locks(in: path) == [])
    }
  #endif
}
