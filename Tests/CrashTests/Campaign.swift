import DurableJobs
import Foundation
import TestProcesses
import Testing

@testable import DurableJobsSQLite

/// Producers and workers on one file, which are killed again and again and replaced, and what they said they did.
final class Campaign: CustomStringConvertible {
  let folder: URL
  let storePath: String
  private let recordPath: String
  private var processes: [ChildProcess] = []
  /// By the number of each life: on a busy machine another process soon has the same process id.
  private(set) var killed: Set<Int> = []
  private var lives: [ObjectIdentifier: Int] = [:]
  private(set) var killedThemselves = 0

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "crash-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    storePath = folder.appending(path: "jobs.sqlite").path
    recordPath = folder.appending(path: "record").path
  }

  deinit {
    for process in processes { process.send(SIGKILL) }
    for process in processes { process.wait() }
    try? FileManager.default.removeItem(at: folder)
  }

  var description: String { "kills \(killed.count), \(killedThemselves) at fault points" }

  // MARK: Processes

  /// `fault`: where, and at which passage, the process kills itself. See `FaultPoint`.
  @discardableResult
  func start(_ mode: String, _ arguments: [String] = [], fault: String? = nil) throws -> ChildProcess {
    var environment = ProcessInfo.processInfo.environment
    environment["DURABLE_FAULT"] = fault
    environment["DURABLE_LIFE"] = "\(processes.count)"
    let process = try ChildProcess(
      Self.probe.path, [mode, storePath, recordPath] + arguments, environment: environment)
    lives[ObjectIdentifier(process)] = processes.count
    processes.append(process)
    return process
  }

  func life(of process: ChildProcess) -> Int? { lives[ObjectIdentifier(process)] }

  /// Three workers and two producers, of which one after the other is killed and replaced; then all are, and what they left
  /// is worked off. A long campaign has a hundred jobs and more pass between two kills.
  func kill(_ count: Int, producing mode: String) async throws {
    let produce = { (fault: String?) in try self.start(mode, ["100000", "3"], fault: fault) }
    var workers = try (0..<3).map { _ in try start("work") }
    var producers = try (0..<2).map { _ in try produce(nil) }
    let most = count < 1000 ? 3000 : 8000
    while killed.count < count {
      // Every other process gets a place to die in; the others are killed at a moment of no choosing of theirs.
      let fault = Bool.random() ? "\(FaultPoint.allCases.randomElement()!.rawValue):\(Int.random(in: 1...40))" : nil
      await said(more: .random(in: 0...most), workers + producers)
      let deadProducer = producers.firstIndex { !$0.isRunning }
      let deadWorker = workers.firstIndex { !$0.isRunning }
      if deadProducer != nil || deadWorker == nil && Int.random(in: 0..<4) == 0 {
        let index = deadProducer ?? producers.indices.randomElement()!
        await kill(producers[index])
        producers[index] = try produce(fault)
      } else {
        let index = deadWorker ?? workers.indices.randomElement()!
        await kill(workers[index])
        workers[index] = try start("work", fault: fault)
      }
    }
    for process in workers + producers { await kill(process) }
    try await drain()
  }

  /// SIGKILL, and the end of it. One that killed itself meanwhile, at a fault point, counts all the same.
  func kill(_ process: ChildProcess) async {
    let wasRunning = process.isRunning
    process.send(SIGKILL)
    if !wasRunning { killedThemselves += 1 }
    #expect(await noteEnd(of: process), "process \(process.pid) ended by itself: \(process.wait())")
  }

  /// Whether its end, which is waited for, was a SIGKILL.
  @discardableResult
  func noteEnd(of process: ChildProcess) async -> Bool {
    let wasKilled = await process.ended() == .killed(by: SIGKILL)
    if wasKilled, let life = life(of: process) { killed.insert(life) }
    return wasKilled
  }

  /// Works off what is left, with processes that replace those which a poison takes along.
  func drain() async throws {
    for _ in 0..<200 {
      let worker = try start("work", ["idle"])
      if await !noteEnd(of: worker) {
        #expect(worker.wait() == .exited(0), "a worker that was not killed ended in order")
        return
      }
    }
    Issue.record("200 workers were killed by what they ran")
  }

  /// Waits until the processes have said so many bytes more, or one of them has ended.
  func said(more bytes: Int, _ processes: [ChildProcess]) async {
    let goal = sizeOfRecord + bytes
    await until { sizeOfRecord >= goal || !processes.allSatisfy(\.isRunning) }
  }

  private var sizeOfRecord: Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: recordPath)
    return (attributes?[.size] as? Int) ?? 0
  }

  /// Has another process recover what it finds, by a clock so many seconds ahead. Who lives and is in doubt is given so many
  /// seconds to answer. Returns how many jobs it took.
  func recover(shift: Int, doubt: Double) async throws -> Int {
    try await start("recover", ["\(shift)", "\(doubt)"]).ended()
    return try #require(try deeds().recovered.last)
  }

  private static let probe = URL.built("CrashProbe")

  // MARK: What they did

  func deeds() throws -> Deeds { try Deeds((try? String(contentsOfFile: recordPath, encoding: .utf8)) ?? "") }

  func store(clock: any JobClock = SystemClock()) throws -> SQLiteStore {
    var configuration = SQLiteStore.Configuration()
    configuration.clock = clock
    configuration.busyTimeout = .seconds(864_000)  // as long as it takes
    return try SQLiteStore(path: storePath, configuration: configuration)
  }

  func allJobs() async throws -> [JobSnapshot] {
    let store = try store()
    var all: [JobSnapshot] = []
    while true {
      let page = try await store.jobs(JobQuery(detail: [.edges, .output], after: all.last?.id, limit: 10_000))
      if page.isEmpty { return all }
      all += page
    }
  }
}
