// swift-format-ignore-file
// Written by scripts/extract-snippets from README.md, docs and the comments in Sources. Change those, and run it.

import DurableJobs
import DurableJobsApp
import DurableJobsOperations
import DurableJobsSQLite
import DurableJobsSchedules
import DurableJobsSystem
import DurableJobsTesting
import Foundation
import GRDB
import Logging
import Synchronization
import Testing
#if HTTP
import DurableJobsHTTP
import DurableJobsSchedules
#endif
#if Postgres
import DurableJobsPostgres
#endif
#if Process
import DurableJobsProcess
#endif
#if Service
import DurableJobsService
import Logging
import ServiceLifecycle
#endif
#if Encryption
import Crypto
import DurableJobsEncryption
#endif

// README.md, block 1
func snippet1() async throws {
  struct Greet: Job {
    var name: String
    static let kind = "greet"
    func run(in context: JobContext) async throws { print("hello, \(name)") }
  }

  let queue = JobQueue(store: try SQLiteStore(path: "jobs.sqlite"))
  let worker = JobWorker(queue)
  worker.register(Greet.self)
  try await queue.enqueue(Greet(name: "world"))
  try await worker.runUntilIdle()
  await queue.store.close()
}

// README.md, block 3
func snippet2() async throws {
  struct UploadPhoto: Job {
    var file: URL
    static let kind = "upload-photo"

    func run(in context: JobContext) async throws -> RemoteID {
      try await server.upload(file) { try context.report(progress: $0, "uploading") }
    }
  }
  worker.register(UploadPhoto.self)
}

// README.md, block 4
func snippet3() async throws {
  struct SendMessage: JobPayload {
    var text: String
    static let kind = "send-message"
  }
  worker.register(SendMessage.self) { [server] message, _ in
    try await server.send(message.text)
  }
}

// README.md, block 5
func snippet4() async throws {
  struct Publish: JobPayload {
    typealias Output = RemoteID
    var file: URL
    static let kind = "publish"
  }
  worker.register(Publish.self) { job, _ in try await server.upload(job.file) { _ in } }
}

// README.md, block 6
func snippet5() async throws {
  worker.start()  // an app; `await worker.stop()` ends it
}

// README.md, block 7
func snippet6() async throws {
  try await worker.run()  // a server: until the task is cancelled
}

// README.md, block 8
func snippet7() async throws {
  let counts = try await worker.runUntilIdle()  // a test, a script: until nothing is left to do now
  print(counts[.failed], "failed jobs are kept,", counts.unfinished, "are left")  // of the queue, not of this run alone
}

// README.md, block 9
func snippet8() async throws {
  signal(SIGTERM, SIG_IGN)  // it no longer ends the process by itself
  let terminated = DispatchSource.makeSignalSource(signal: SIGTERM)
  terminated.setEventHandler { @Sendable in Task { await worker.stop(grace: .seconds(20)) } }
  terminated.activate()
  try await worker.run()  // returns once the last handler has
  terminated.cancel()
}

// README.md, block 10
func snippet9() async throws {
  var logger = Logger(label: "uploads")
  logger.logLevel = .warning
  let quiet = JobWorker(queue, logger: logger)
  quiet.register(UploadPhoto.self)
}

// README.md, block 11
func snippet10() async throws {
  let upload = try await queue.enqueue(photo)
  print(upload.id)  // keep it
  let remote = try await upload.value
  print(remote.name)
}

// README.md, block 12
func snippet11() async throws {
  let remote = try await queue.handle(id, as: UploadPhoto.self).value
  print(remote.name)
}

// README.md, block 13
func snippet12() async throws {
  try await queue.enqueue(
    SendMessage(text: "hello"),
    options: JobOptions(
      priority: .high, start: .after(.seconds(60)), maxAttempts: 3, timeout: .seconds(30), key: "message-7",
      tags: ["chat"]))
  try await queue.enqueue(contentsOf: ["a", "b"].map { SendMessage(text: $0) })  // one transaction
}

// README.md, block 14
func snippet13() async throws {
  let sync = JobOptions(unique: "sync-7")
  let first = try await queue.enqueue(SendMessage(text: "sync"), options: sync)
  let again = try await queue.enqueue(SendMessage(text: "sync"), options: sync)
  print(first.isNew, again.isNew, again.id == first.id)  // true false true
}

// README.md, block 15
func snippet14() async throws {
  let chat = JobOptions(lane: "chat-7")
  try await queue.enqueue(contentsOf: ["one", "two"].map { SendMessage(text: $0) }, options: chat)
  try await queue.setWidth(of: "uploads", to: 3)  // three of that lane at once, in every process
}

// README.md, block 16
func snippet15() async throws {
  struct FetchAvatar: Job {
    @JobInput var session: Session
    var size: Int
    static let kind = "fetch-avatar"

    func run(in context: JobContext) async throws -> Avatar { try await server.avatar(of: session, size: size) }
  }

  let chain = JobChain(Login(user: "ada"))
    .then { FetchAvatar(session: $0, size: 64) }
    .then { SaveAvatar(avatar: $0) }
    .catch { ReportFailure(failure: $0) }
  let file = try await queue.enqueue(chain).value
  print(file.path)
}

// README.md, block 17
func snippet16() async throws {
  let operations = DurableOperationQueue(name: "photos", store: store, maxConcurrency: 2, maxRetries: 5)
  operations.register("photo") { operation, _ in _ = try await server.upload(operation.decode()) { _ in } }
  operations.addOperation(try DurableOperation(id: "photo-7", kind: "photo", payload: photo.file))
}

// README.md, block 18
func snippet17() async throws {
  worker.provide(.network, NetworkMonitor())
  try await queue.enqueue(SendMessage(text: "hello"), options: JobOptions(requires: [.network]))
}

// README.md, block 19
func snippet18() async throws {
  worker.register(JobSchedule.self)
  try await queue.schedule("nightly", .cron("0 4 * * *", timeZone: "Europe/Berlin"), SendMessage(text: "good night"))
}

// README.md, block 20
func snippet19() async throws {
  try await queue.setLimits(JobLimits(running: 4, rate: JobRate(100, per: .seconds(60))))
}

// README.md, block 21
func snippet20() async throws {
  struct Import: JobPayload {
    var file: URL
    static let kind = "import"
    static let options = JobOptions(maxAttempts: 5)
    static let retry = RetryPolicy.exponential(base: .seconds(10))
      .byError { error in error is DecodingError ? .fail : nil }
  }
}

// README.md, block 22
func snippet21() async throws {
  worker.register(SendMessage.self) { message, _ in
    do {
      try await server.send(message.text)
    } catch let busy as Server.Busy {
      throw .retry(after: busy.retryAfter, because: busy)
    } catch let refused as Server.Refused {
      throw .permanent(refused)
    }
  }
}

// README.md, block 23
func snippet22() async throws {
  worker.register(UploadPhoto.self) { photo, context in
    let id = try await context.step("upload") { try await server.upload(photo.file) { _ in } }
    try await context.step("tell") { try await server.send("it is there: \(id.name)") }
    return id
  }
}

// README.md, block 24
func snippet23() async throws {
  worker.register(UploadPhoto.self) { photo, context in
    server.beginUpload(photo.file, as: context.id)
    throw .suspend(because: "the system uploads it")
  }
}

// README.md, block 25
func snippet24() async throws {
  let job = queue.handle(id, as: UploadPhoto.self)
  try await job.report(progress: 0.5)
  try await job.complete(with: RemoteID(name: "photo-1"))  // or: job.fail(error)
}

// README.md, block 26
func snippet25() async throws {
  struct Resize: JobPayload {
    var width: Int
    static let kind = "resize"
    static let formerKinds = ["scale"]

    struct Impossible: Error {}

    func validate() throws {
      if width < 1 { throw Impossible() }
    }
  }
}

// README.md, block 27
func snippet26() async throws {
  worker.register(kind: "legacy-import") { job, _ in
    print(job.payload.count, "bytes of", job.kind)
    return nil
  }
  try await queue.enqueue(kind: "legacy-import", payload: Data(#"{"file": "a.csv"}"#.utf8))
}

// README.md, block 28
func snippet27() async throws {
  print(try await queue.counts()[.failed], "failed")
  for job in try await queue.jobs(where: .kind(UploadPhoto.self) && !.state(.succeeded)) {
    print(job.id, job.state, job.attempt, job.progress?.fraction ?? 0)
  }
  try await queue.cancel(id, reason: "not needed any more")
  try await queue.retry(id)  // also resumes what is suspended
  try await queue.suspend(id)
  try await queue.resume(id)
  try await queue.remove(id)
  try await queue.retryAll()  // all that failed
  try await queue.cancelAll(where: .kind(UploadPhoto.self))
  try await queue.removeAll(where: .state(.succeeded))  // also while others run
  try await queue.suspendAll(where: .tag("upload"))
  try await queue.resumeAll(where: .tag("upload"))
  try await queue.setPriority(.high, of: id)  // also `where:`, for many
  try await queue.setStart(.after(.seconds(60)), of: id)
  try await queue.pause()  // no job of this queue is claimed, in any process
  print(try await queue.isPaused)
  try await queue.unpause()
  try await queue.waitUntilIdle()  // until no worker, not even one started just now, has anything to do here
}

// README.md, block 29
func snippet28() async throws {
  for row in try await queue.jobs(of: UploadPhoto.self, detail: .failures, order: .newestFirst, limit: 20) {
    print(row.id, row.state, row.payload.file, row.output?.name ?? row.failures.last?.message ?? "")
  }
  let job = try await queue.job(id)
  print(try job.payload(as: UploadPhoto.self).file, try job.output(as: UploadPhoto.self).name)
}

// README.md, block 30
func snippet29() async throws {
  worker.onFinish { job in
    if job.state == .failed { print("job \(job.id) failed: \(job.failures.last?.message ?? "")") }
  }
  worker.hold()
  worker.unhold()
  try await queue.waitUntilFinished(where: .kind(UploadPhoto.self))
}

// README.md, block 31
func snippet30() async throws {
  for try await jobs in queue.snapshots(where: .state(.failed)) { print(jobs.count) }  // now, and after changes
  for await event in queue.events { print(event) }  // each change, for a log
}

// README.md, block 32
#if HTTP
func snippet31() async throws {
  let downloader = Downloader(store: queue.store)
  downloader.register(with: worker)
  worker.start()

  let url = URL(string: "https://example.org/big.iso")!
  let download = Download(from: url, to: URL(filePath: "/srv/images"), sha256: checksum)
  let file = try await queue.enqueue(download).value
  print(file.path, file.size)
}
#endif

// README.md, block 33
#if HTTP
func snippet32() async throws {
  let outbox = Outbox(store: queue.store, secret: { name in name == "TOKEN" ? server.token : nil })
  outbox.register(with: worker)
  worker.start()

  let url = URL(string: "https://example.org/photos")!
  let body = try SendRequest.Body.file(photo.file, type: "image/jpeg", copiedBeside: queue.store)
  let token = HTTPHeader("Authorization", "Bearer {secret:TOKEN}")
  let sent = try await queue.enqueue(SendRequest(.post, url, headers: [token], body: body))
  let answer = try await sent.value
  print(answer.status, answer["Location"] ?? "", answer.body.count)
}
#endif

// README.md, block 34
#if Process
func snippet33() async throws {
  ShellCommand.superviseIfAsked()  // must be the first line: the program is started again as each command's supervisor
  worker.register(ShellCommand.self)
  worker.start()

  let pack = try await queue.enqueue(ShellCommand(["gzip", "-9kf", "video.mov"], in: "/srv/videos"))
  for try await part in CommandLogs(of: pack.id, in: queue.store).following(.stderr) {
    if case .bytes(let data) = part { print(String(decoding: data, as: UTF8.self), terminator: "") }
  }
  print(try await pack.value.exitCode)
}
#endif

// README.md, block 35
func snippet34() async throws {
  let queue = JobQueue(store: InMemoryStore())
  let worker = JobWorker(queue)
  worker.register(SendMessage.self) { _, _ in }
  try await queue.enqueue(SendMessage(text: "hello"))
  try await worker.runUntilIdle()
  let sent = try await queue.jobs(of: SendMessage.self, where: .state(.succeeded))
  assert(sent.map(\.payload.text) == ["hello"])
}

// docs/apps.md, block 1
func snippet35() async throws {
  worker.start()
}

// docs/apps.md, block 2
func snippet36() async throws {
  worker.register(SendMessage.self) { @MainActor message, _ in print(message.text) }
}

// docs/apps.md, block 3
func snippet37() async throws {
  let left = try await worker.run(until: Date() + 20)  // some seconds less than the system gives
  print(left.unfinished, "jobs wait")
  if let next = try await queue.nextRun { print("ask the system for", next) }
}

// docs/apps.md, block 4
func snippet38() async throws {
  let store = try SQLiteStore(path: "jobs.sqlite")
  await worker.stop(grace: .seconds(2))
  await store.suspendForBackground()  // no lock of ours and no transaction from here on
  // in the foreground again
  store.resumeFromBackground()
  worker.start()
}

// docs/apps.md, block 5
func snippet39() async throws {
  let inbox = JobInbox(folder: URL(fileURLWithPath: "group/jobs"))
  try inbox.drop(SendMessage(text: "shared"), on: "default")  // in the extension; durable when it returns
}

// docs/apps.md, block 6
func snippet40() async throws {
  let inbox = JobInbox(folder: URL(fileURLWithPath: "group/jobs"))
  try await inbox.takeIn(to: queue.store)  // in the app: at its start, before the worker, and in the foreground
  worker.start()
}

// docs/apps.md, block 7
func snippet41() async throws {
  await worker.stop()
  try await queue.cancelAll(where: .all, reason: "signed out")
  try await queue.removeAll(where: .all)
}

// docs/articles.md, block 1
func snippet42() async throws {
  struct UploadImageTask: JobPayload {
    typealias Output = RemoteID
    var image: URL
    static let kind = "UploadImageTask"
    static let options = JobOptions(priority: .high, maxAttempts: 3)

    struct NoImage: Error {}

    func validate() throws {  // prepareForAddToQueue
      if image.pathExtension.isEmpty { throw NoImage() }
    }
  }

  let tasks = JobWorker(queue, maxConcurrentJobs: 1)  // a serial queue
  tasks.register(UploadImageTask.self) { task, context in  // run
    server.beginUpload(task.image, as: context.id)
    throw .suspend(because: "the upload goes on")  // suspend
  }
  let task = try await queue.enqueue(UploadImageTask(image: photo.file), options: JobOptions(key: "7"))  // addTask:
  if try await tasks.runNext() { print("one ran") }  // runNextTask

  // From the callback, in this launch or another:
  let found = try await queue.jobs(where: .kind(UploadImageTask.self) && .key("7") && .state(.suspended))
  if let id = found.first?.id {
    try await queue.handle(id, as: UploadImageTask.self).complete(with: RemoteID(name: "7.jpg"))  // pop
  }
  print(try await task.value.name, try await queue.isIdle)  // isAllTaskFinish
  try await queue.retryAll()  // retryAllFailTasks
  try await queue.removeAll(where: .kind(UploadImageTask.self) && .key("7"))
}

// docs/articles.md, block 2
func snippet43() async throws {
  let requests = DurableOperationQueue(name: "requests", store: store, maxConcurrency: 1, maxRetries: 5)
  requests.register("send", callback: { task in  // taskCallbacks["send"]
    Task {
      do {
        try await server.send(task.decode())
        task.completed()
      } catch {
        task.completed(error)  // tried again, with back-off
      }
    }
  })
  requests.provide(.network, NetworkMonitor())
  let online = JobOptions(requires: [.network])  // waits until there is one, and uses no retry
  requests.addOperation(try DurableOperation(id: "request-7", kind: "send", options: online, payload: "hello"))
}

// docs/articles.md, block 3
func snippet44() async throws {
  struct PropertyListProvider: SnapshotProvider {
    let file: URL
    private var entries: [String: Data] = [:]

    init(file: URL) { self.file = file }

    mutating func load() throws -> [String: Data] {
      if FileManager.default.fileExists(atPath: file.path) {
        entries = try PropertyListDecoder().decode([String: Data].self, from: Data(contentsOf: file))
      }
      return entries
    }

    mutating func save(_ changed: [String: Data]) throws {
      try write(entries.merging(changed) { $1 })
    }

    mutating func remove(_ names: [String]) throws {
      try write(entries.filter { !names.contains($0.key) })
    }

    /// In one step, so that no crash leaves half of it.
    private mutating func write(_ new: [String: Data]) throws {
      let encoder = PropertyListEncoder()
      encoder.outputFormat = .binary
      try encoder.encode(new).write(to: file, options: .atomic)
      entries = new
    }
  }

  let plist = try InMemoryStore(provider: PropertyListProvider(file: URL(filePath: "jobs.plist")))
  let small = DurableOperationQueue(name: "requests", store: plist)
  print(small.durableOperations.count, "requests are to be sent")
}

// docs/articles.md, block 4
func snippet45() async throws {
  let console = Logger(label: "requests") { StreamLogHandler.standardError(label: $0) }
  let spoken = DurableOperationQueue(name: "requests", store: store, logger: console)
  print(spoken.jobs.name)
}

// docs/articles.md, block 5
func snippet46() async throws {
  let login = JobChain(Login(user: "ada"))
    .then { FetchAvatar(session: $0, size: 64) }
    .then { SaveAvatar(avatar: $0) }
    .catch { ReportFailure(failure: $0) }
  let imageFile = try await queue.enqueue(login).value  // then, on the main actor: imageView.image = …
  print(imageFile.path)
}

// docs/articles.md, block 6
func snippet47() async throws {
  let maxAsyncTasks = 10  // DispatchSemaphore(value: 10)
  let downloads = JobWorker(queue, maxConcurrentJobs: maxAsyncTasks)
  downloads.register(Fetch.self) { task, context in
    for percent in [5, 20, 40, 60, 80] {
      try context.report(progress: Double(percent) / 100)  // stateUpdateHandler
      try await Task.sleep(for: .seconds(1))
    }
    return Page()
  }
  try await queue.enqueueBatch(
    "downloads", contentsOf: (0..<100).map { Fetch(page: $0) },
    whenDone: SendMessage(text: "Info: all download tasks have been completed"))  // group.notify, also if the app dies before
}

// docs/articles.md, block 7
func snippet48() async throws {
  let cells = DurableOperationQueue(name: "cells", store: store, maxConcurrency: 2, maxRetries: 3) { error, task in
    print(task.id, error.map { "\($0)" } ?? "done")
  }
  cells.register("cellTask") { task, context in
    let data = try task.decode([String: String].self)
    try await server.send(data["text"] ?? "")
  }

  let t1 = try DurableOperation(id: "t1", kind: "cellTask", payload: ["text": "one"])
  let t2 = try DurableOperation(id: "t2", kind: "cellTask", payload: ["text": "two"])
  t2.addDependency(t1)
  cells.addOperation(t2)
  cells.addOperation(t1)
}

// docs/batches.md, block 1
func snippet49() async throws {
  let messages = ["ada", "grace", "mary"].map { SendMessage(text: "hello, \($0)") }
  let batch = try await queue.enqueueBatch("greetings", contentsOf: messages, whenDone: SendMessage(text: "all are greeted"))
  print(batch.id)  // keep it, or the name

  for try await status in batch.statuses {
    print(Int(status.fraction * 100), "%", status.batch.succeeded, "of", status.batch.total)
  }
  let status = try await batch.waitUntilDone()
  print(status.unsuccessful, "did not succeed")
}

// docs/batches.md, block 2
func snippet50() async throws {
  let batch = try await queue.batch(named: "greetings")
  print(try await batch.status.fraction)
  print(try await queue.counts(where: .batch(batch.id))[.failed], "failed")
  try await queue.retryAll(where: .batch(batch.id) && .state(.failed))
}

// docs/batches.md, block 3
func snippet51() async throws {
  let intake = try await queue.openBatch("import", whenDone: SendMessage(text: "all is in"))
  for name in ["ada", "grace"] { try await intake.enqueue(SendMessage(text: "hello, \(name)")) }
  try await intake.close()
}

// docs/batches.md, block 4
func snippet52() async throws {
  struct Announce: JobPayload {
    var names: [String]
    static let kind = "announce"
  }
  worker.register(Announce.self) { job, context in
    let id = try await context.step("batch") {
      let name = "mails \(context.id)"
      do { return try await queue.batch(named: name).id } catch let error as JobError where error.code == .notFound {}
      return try await queue.openBatch(name, whenDone: SendMessage(text: "all of \(job.names.count) are told")).id
    }
    for name in job.names {
      try await context.step("mail \(name)") {
        let key = UniqueKey("\(context.id) \(name)", scope: .whileStored)
        try await queue.batch(id).enqueue(SendMessage(text: "dear \(name)"), options: JobOptions(unique: key))
      }
    }
    try await queue.batch(id).close()
  }
}

// docs/batches.md, block 5
func snippet53() async throws {
  for batch in try await queue.batches() where batch.isOpen {
    print(batch.id, batch.name, batch.total)
    try await queue.batch(batch.id).close()
  }
}

// docs/batches.md, block 6
func snippet54() async throws {
  worker.register(SendMessage.self) { message, context in
    if let batch = context.batch {
      let failed = try await queue.jobs(of: SendMessage.self, where: .batch(batch.id) && .state(.failed))
      try await server.send("\(message.text): \(try await batch.status.batch.succeeded), without \(failed.map(\.payload.text))")
    }
  }
}

// docs/callbacks.md, block 1
func snippet55() async throws {
  worker.register(Login.self) { job, _ in
    try await withCheckedThrowingContinuation { continuation in
      service.login(job.user) { session, error in
        continuation.resume(with: Result { try session ?? { throw error ?? Server.Refused() }() })
      }
    }
  }
}

// docs/callbacks.md, block 2
func snippet56() async throws {
  final class Upload: UploaderDelegate {
    private let continuation: CheckedContinuation<RemoteID, any Error>

    init(_ continuation: CheckedContinuation<RemoteID, any Error>) { self.continuation = continuation }

    func uploader(_ uploader: Uploader, didFinishWith id: RemoteID) { continuation.resume(returning: id) }
    func uploader(_ uploader: Uploader, didFailWith error: any Error) { continuation.resume(throwing: error) }
  }

  worker.register(UploadPhoto.self) { photo, _ in
    let uploader = Uploader()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        uploader.start(photo.file, delegate: Upload(continuation))  // keeps it until it has called it
      }
    } onCancel: {
      uploader.cancel()  // which calls back with an error
    }
  }
}

// docs/callbacks.md, block 3
#if canImport(ObjectiveC)
func snippet57() async throws {
  @MainActor final class Ring: NSObject {
    private var continuation: CheckedContinuation<Void, Never>?

    func wait(for seconds: TimeInterval) async {
      await withCheckedContinuation { continuation in
        self.continuation = continuation
        Timer.scheduledTimer(
          timeInterval: seconds, target: self, selector: #selector(rings), userInfo: nil, repeats: false)
      }
    }

    @objc private func rings() {
      continuation?.resume()
      continuation = nil
    }
  }

  worker.register(SendMessage.self) { message, _ in
    await Ring().wait(for: 1)
    try await server.send(message.text)
  }
}
#endif

// docs/callbacks.md, block 4
func snippet58() async throws {
  worker.register(Scan.self) { scan, _ in
    let posts = AsyncStream<Void> { continuation in
      // Safe: it is only handed back to the center.
      nonisolated(unsafe) let observer = NotificationCenter.default.addObserver(
        forName: .syncEnded, object: nil, queue: nil
      ) { _ in continuation.yield() }
      continuation.onTermination = { _ in NotificationCenter.default.removeObserver(observer) }
    }
    service.beginSync()  // once somebody listens
    for await _ in posts { break }  // also ends when the job is asked to stop
    try Task.checkCancellation()
    return try await server.scan(scan)
  }
}

// docs/callbacks.md, block 5
func snippet59() async throws {
  service.login("ada") { session, error in
    guard let session else { return print("failed:", error as Any) }
    service.avatar(of: session) { avatar, error in
      guard let avatar else { return print("failed:", error as Any) }
      service.save(avatar) { file, error in
        guard let file else { return print("failed:", error as Any) }
        print(file.path)
      }
    }
  }
}

// docs/callbacks.md, block 6
func snippet60() async throws {
  let chain = JobChain(Login(user: "ada"))
    .then { FetchAvatar(session: $0, size: 64) }
    .then { SaveAvatar(avatar: $0) }
    .catch { ReportFailure(failure: $0) }
  let file = try await queue.enqueue(chain).value
  print(file.path)
}

// docs/callbacks.md, block 7
func snippet61() async throws {
  struct ShowUser: JobPayload {
    typealias Output = URL
    var user: String
    static let kind = "show-user"
  }

  worker.register(ShowUser.self) { job, context in
    let session = try await context.step("login") { try await server.login(job.user) }
    let avatar = try await context.step("avatar") { try await server.avatar(of: session, size: 64) }
    return try await context.step("save") { try await server.save(avatar) }
  }
  let picture = try await queue.enqueue(ShowUser(user: "ada")).value
  print(picture.path)
}

// docs/constraints.md, block 1
func snippet62() async throws {
  try await queue.enqueue(SendMessage(text: "hello"), options: JobOptions(requires: [.network, "vpn"]))
}

// docs/constraints.md, block 2
func snippet63() async throws {
  worker.provide(.network, NetworkMonitor())
  worker.provide(.externalPower, PowerMonitor())
  worker.provide(.diskSpace, DiskSpaceMonitor(atLeast: 1_000_000_000, of: URL(filePath: "/srv/videos")))
  worker.start()
}

// docs/constraints.md, block 3
struct VPNMonitor: ConstraintMonitor {
  let updates: @Sendable () -> AsyncStream<Bool>
  func changes() -> some AsyncSequence<Bool, Never> { updates() }
}

// docs/constraints.md, block 4
func snippet64() async throws {
  try await queue.setConstraint("office-hours", satisfied: true)
  try await queue.setConstraint(.network, satisfied: false)  // this line costs money: nothing is sent, whatever monitors say
  try await queue.setConstraint(.network, satisfied: nil)  // it is the workers' to say again
}

// docs/constraints.md, block 5
func snippet65() async throws {
  let options = JobOptions(requires: [.externalPower], whenLost: .interrupts)
  try await queue.enqueue(UploadPhoto(file: URL(filePath: "film.mov")), options: options)
}

// docs/deadlines.md, block 1
func snippet66() async throws {
  try await queue.enqueue(photo, options: JobOptions(deadline: .end(by: .after(.seconds(3600)))))
  try await queue.enqueue(SendMessage(text: "good morning"), options: JobOptions(deadline: .start(by: .at(.now + 600))))
}

// docs/dependencies.md, block 1
func snippet67() async throws {
  struct Merge: Job {
    @JobInput var cover: Page
    var pages: [JobInput<Page>]
    @JobInput var scan: JobOutcome<Report>
    var title: String
    static let kind = "merge"

    func run(in context: JobContext) async throws -> Album {
      let report = try? scan.get()
      return Album(title: title, pages: [cover] + pages.map(\.wrappedValue), isClean: report?.isClean ?? false)
    }
  }

  let cover = try await queue.enqueue(Fetch(page: 0))
  let pages = try await queue.enqueue(contentsOf: (1...9).map { Fetch(page: $0) })
  let scan = try await queue.enqueue(Scan())
  let album = Merge(cover: cover.output, pages: pages.map(\.output), scan: scan.outcome, title: "Summer")
  try await queue.enqueue(album)
}

// docs/dependencies.md, block 2
func snippet68() async throws {
  let upload = try await queue.enqueue(photo)
  let note = try await queue.enqueue(SendMessage(text: "it begins"))
  try await queue.enqueue(SendMessage(text: "done"), after: [upload, .end(of: note)])
  try await queue.enqueue(SendMessage(text: "no photo today"), after: [.failure(of: upload)])
  try await queue.enqueue(SendMessage(text: "imported"), after: [.key("import-7"), id])
}

// docs/dependencies.md, block 3
func snippet69() async throws {
  var plan = JobPlan("album")
  let cover = plan.add(Fetch(page: 0))
  let pages = (1...9).map { plan.add(Fetch(page: $0), on: JobQueue("slow", store: queue.store)) }
  let index = plan.add(MakeIndex(pages: pages.map(\.output)), named: "index")
  plan.add(SendMessage(text: "done"), after: [index, .end(of: cover)])
  print(plan.mermaid)  // the graph as a picture

  let stored = try await queue.enqueue(plan)  // in one transaction
  print(stored.id)  // keep it
  print(try await stored.handle(of: index).value)
}

// docs/dependencies.md, block 4
func snippet70() async throws {
  let plan = queue.plan(planID)
  for job in try await plan.jobs { print(job.kind, job.state) }
  print(try await plan.handle(named: "index", as: MakeIndex.self).value)
  print(try await plan.mermaid())  // with the state of each job
  try await plan.retry()  // what failed or was cancelled, and what was skipped because of it
  try await plan.cancel(reason: "the album is not wanted any more")
}

// docs/dependencies.md, block 5
func snippet71() async throws {
  for try await counts in queue.countSnapshots(where: .plan(planID)) {  // now, and after changes
    print(counts[.succeeded], "of", counts.total)
  }
  for try await jobs in queue.snapshots(where: .plan(planID)) { print(jobs.map(\.state)) }
}

// docs/dependencies.md, block 6
func snippet72() async throws {
  worker.register(Scan.self) { scan, context in
    let report = try await server.scan(scan)
    if !report.isClean { try context.enqueueOnSuccess(SendMessage(text: "the scan found something")) }
    return report
  }
}

// docs/explain.md, block 1
func snippet73() async throws {
  let why = try await queue.explain(id)
  print(why)  // Job 7 is blocked. It waits for job 5, which is suspended. Resume job 5. The queue 'default' is paused. …
  for reason in why.reasons {
    switch reason {
    case .noWorker: print("start one")
    case .backOff(let time, let failure): print("again at \(time), since \(failure.message)")
    case .needs(let other, .suspended, _): try await queue.resume(other)
    default: print(reason, reason.help ?? "")
    }
  }
}

// docs/gotchas.md, block 1
func snippet74() async throws {
  worker.register(SendMessage.self) { message, context in
    try await server.send("message \(context.id): \(message.text)")
  }
}

// docs/gotchas.md, block 2
func snippet75() async throws {
  worker.register(SendMessage.self) { message, context in
    guard await context.isHeld() else { throw CancellationError() }
    try await server.send(message.text)
  }
}

// docs/gotchas.md, block 3
func snippet76() async throws {
  struct ResizePhoto: JobPayload {
    var file: URL
    var width: Int?  // new: older jobs have none
    static let kind = "resize-photo"
    static let formerKinds = ["scale-photo", "thumbnail"]
  }
  worker.register(ResizePhoto.self) { job, _ in print(job.file, job.width ?? 1024) }
}

// docs/gotchas.md, block 4
func snippet77() async throws {
  struct SharePhoto: Job {
    var name: String
    static let kind = "share-photo"

    func run(in context: JobContext) async throws -> RemoteID {
      try await server.upload(URL(filePath: NSHomeDirectory()).appending(path: "Documents/\(name)")) { _ in }
    }
  }
  worker.register(SharePhoto.self)
}

// docs/gotchas.md, block 5
func snippet78() async throws {
  nonisolated struct Thumbnail: Codable, Sendable {
    var file: URL
  }

  struct MakeThumbnail: JobPayload {
    typealias Output = Thumbnail
    var photo: URL
    static let kind = "make-thumbnail"
  }
  worker.register(MakeThumbnail.self) { job, _ in Thumbnail(file: job.photo) }
}

// docs/gotchas.md, block 6
func snippet79() async throws {
  struct Publish: Job {
    @JobInput var page: Page
    static let kind = "publish"

    func run(in context: JobContext) async throws { print("publishing", page) }
  }

  let page = try await queue.enqueue(Fetch(page: 1))
  try await queue.enqueue(Publish(page: page.output))  // runs once the page has come, also in a later process
}

// docs/gotchas.md, block 7
func snippet80() async throws {
  worker.register(SendMessage.self) { message, _ in
    do {
      try await server.send(message.text)
      throw .snooze(for: .seconds(60))
    } catch let exit as JobExit {
      throw exit
    } catch {
      throw .permanent(error)
    }
  }
}

// docs/lanes.md, block 1
func snippet81() async throws {
  let chat = JobOptions(lane: "chat-7")
  try await queue.enqueue(contentsOf: ["one", "two"].map { SendMessage(text: $0) }, options: chat)
  let last = try await queue.enqueue(SendMessage(text: "three"), options: chat)
  print(try await queue.explain(last.id))
}

// docs/lanes.md, block 2
func snippet82() async throws {
  try await queue.enqueue(
    SendMessage(text: "typing…"), options: JobOptions(lane: JobLane("chat-7", failedHead: .letsNextRun)))
}

// docs/lanes.md, block 3
func snippet83() async throws {
  try await queue.setWidth(of: "uploads", to: 3)  // three of that lane at once, in every process
  try await queue.setRate(of: "customer-7", to: JobRate(10, per: .seconds(60)))
}

// docs/limits.md, block 1
func snippet84() async throws {
  let mail = JobQueue("mail", store: store)
  try await mail.setLimits(JobLimits(running: 4, rate: JobRate(100, per: .seconds(60), burst: 10)))
  print(try await mail.limits?.running ?? "any number")
  try await mail.setLimits(nil)
}

// docs/limits.md, block 2
func snippet85() async throws {
  try await queue.setRate(of: "customer-7", to: JobRate(10, per: .seconds(60), burst: 3))
}

// docs/outbox.md, block 1
#if HTTP
func snippet86() async throws {
  let outbox = Outbox(store: queue.store, secret: { name in name == "TOKEN" ? server.token : nil })
  outbox.register(with: worker)

  let url = URL(string: "https://example.org/photos")!
  let body = try SendRequest.Body.file(photo.file, type: "image/jpeg", copiedBeside: queue.store)
  let token = HTTPHeader("Authorization", "Bearer {secret:TOKEN}")
  let sent = try await queue.enqueue(SendRequest(.post, url, headers: [token], body: body))
  do {
    let answer = try await sent.value
    print(answer.status, answer["Location"] ?? "", answer.body.count)
  } catch let failure as JobFailure {
    print("not sent:", failure.message)  // `queue.retry(failure.job)` sends it again
  }
}
#endif

// docs/postgres.md, block 1
#if Postgres
func snippet87() async throws {
  let store = try await PostgresStore("postgres://jobs@db.example.com/app")
  let queue = JobQueue(store: store)
  try await queue.enqueue(SendMessage(text: "hello"))
}
#endif

// docs/postgres.md, block 2
#if Postgres
func snippet88() async throws {
  var configuration = PostgresStore.Configuration()
  configuration.folder = "/var/lib/shop"  // the same in all programs of this machine that use the store
  let store = try await PostgresStore("postgres://jobs@db.example.com/app", configuration: configuration)
  let queue = JobQueue(store: store)
  try await queue.enqueue(SendMessage(text: "hello"))
}
#endif

// docs/quick-start.md, block 1
struct CopyPhoto: Job {
  var photo: URL
  var folder: URL
  static let kind = "copy-photo"  // stored: the type may be renamed, this may not

  func run(in context: JobContext) async throws -> URL {
    let copy = folder.appending(path: photo.lastPathComponent)
    try Data(contentsOf: photo).write(to: copy, options: .atomic)  // done twice, it does no harm
    return copy
  }
}

// docs/quick-start.md, block 2
func snippet89() async throws {
  let queue = JobQueue("photos", store: try SQLiteStore(path: "jobs.sqlite"))
  let worker = JobWorker(queue, maxConcurrentJobs: 2)
  worker.register(CopyPhoto.self)
  worker.start()

  let (photo, disk) = (URL(filePath: "one.jpg"), URL(filePath: "/mnt/photos"))
  let options = JobOptions(unique: "one.jpg")  // not twice, if the program is started again meanwhile
  // On the disk when this returns.
  let job = try await queue.enqueue(CopyPhoto(photo: photo, folder: disk), options: options)
  let copy = try await job.value
  print(copy.path)
  await worker.stop()
}

// docs/quick-start.md, block 3
func snippet90() async throws {
  let copy = try await queue.handle(id, as: CopyPhoto.self).value
  print(copy.path)
}

// docs/quick-start.md, block 4
func snippet91() async throws {
  do {
    print(try await queue.handle(id, as: CopyPhoto.self).value)
  } catch let failure as JobFailure {
    print(failure.state, failure.code ?? "", failure.message)  // failed, cancelled or skipped; and why
  }
  print(try await queue.explain(id))  // why it does not run, and what helps
  try await queue.retryAll()  // once the disk is there again
}

// docs/quick-start.md, block 5
func snippet92() async throws {
  let jobs = TestJobs()  // in memory, on a clock that stands still
  jobs.worker.register(CopyPhoto.self)
  let folder = FileManager.default.temporaryDirectory
  let here = folder.appending(path: "one.jpg")
  try Data("photo".utf8).write(to: here)
  let copy = try await jobs.perform(CopyPhoto(photo: here, folder: folder))
  assert(copy.lastPathComponent == "one.jpg")
}

// docs/schedules.md, block 1
func snippet93() async throws {
  struct Cleanup: Job {
    static let kind = "cleanup"
    func run(in context: JobContext) async throws {
      print("of", context.scheduledFor ?? .now)  // its tick; the job may run later
    }
  }

  worker.register(Cleanup.self)
  worker.register(JobSchedule.self)  // who has a worker with this lets schedules tick
  try await queue.schedule("nightly", .cron("0 4 * * *", timeZone: "Europe/Berlin"), Cleanup())
  try await queue.schedule("mirror", .every(.seconds(900)), Cleanup(), catchUp: .skip)
}

// docs/schedules.md, block 2
func snippet94() async throws {
  let rule = try Recurrence.cron("30 4 * * MON-FRI", timeZone: "Europe/Berlin")
  print(rule)  // at 04:30 from Monday to Friday, Europe/Berlin
  print(rule.next(3, after: .now))  // the next three times
}

// docs/schedules.md, block 3
func snippet95() async throws {
  try await queue.schedule(
    "mirror", .every(.seconds(900)), SendMessage(text: "mirror"), options: JobOptions(maxAttempts: 3, unique: "mirror"))
}

// docs/schedules.md, block 4
#if HTTP
func snippet96() async throws {
  struct Report: Job {
    static let kind = "report"
    func run(in context: JobContext) async throws {
      guard let tick = context.scheduledFor else { return }
      let key = "report-\(Int(tick.timeIntervalSince1970))"  // the same in each attempt of this tick
      try context.enqueueOnSuccess(
        SendRequest(.post, URL(string: "https://example.org/reports")!, idempotencyKey: key))
    }
  }

  worker.register(Report.self)
  try await queue.schedule("report", .cron("0 6 * * *", timeZone: "Europe/Berlin"), Report())
}
#endif

// docs/schedules.md, block 5
func snippet97() async throws {
  for schedule in try await queue.schedules() {
    print(schedule.name, schedule.recurrence, schedule.nextTimes(3, after: .now), schedule.isPaused)
  }
  try await queue.pauseSchedule("nightly")  // in every process, also if it is declared anew
  try await queue.resumeSchedule("nightly")  // with the next tick; what was due meanwhile is left out
  try await queue.unschedule("nightly")  // the jobs that it has stored stay
}

// docs/servers.md, block 1
#if Service
func snippet98() async throws {
  let mail = JobQueue("mail", store: store)
  let worker = JobWorker(mail, maxConcurrentJobs: 8)
  worker.register(SendMessage.self) { [server] message, _ in try await server.send(message.text) }

  var configuration = ServiceGroupConfiguration(
    services: [worker.service(grace: .seconds(20))], gracefulShutdownSignals: [.sigterm], logger: Logger(label: "mail"))
  configuration.maximumGracefulShutdownDuration = .seconds(25)
  try await ServiceGroup(configuration: configuration).run()
}
#endif

// docs/servers.md, block 2
func snippet99() async throws {
  func accept(_ text: String, requestID: String) async throws -> String {
    // A request that the client repeats leads to the same job.
    let job = try await queue.enqueue(SendMessage(text: text), options: JobOptions(unique: UniqueKey("mail-\(requestID)")))
    return "/jobs/\(job.id)"  // 202 Accepted, and where to look
  }
  _ = try await accept("hello", requestID: "7")
}

// docs/servers.md, block 3
struct Tenants: JobMiddleware {
  let tenant: String

  func enqueue(_ job: inout NewJob) throws {
    guard job.terms.tags.count < 10 else { throw JobError(.invalidArgument, "a job has too many tags") }
    job.terms.tags.insert("tenant-\(tenant)")
  }

  func run(
    _ job: ClaimedJob, context: JobContext, next: @Sendable (ClaimedJob, JobContext) async throws -> Data?
  ) async throws -> Data? {
    context.logger.info("begins")
    return try await next(job, context)
  }
}

// docs/servers.md, block 4
#if Service
func snippet100() async throws {
  let metrics = JobMetrics()
  let mail = JobQueue("mail", store: store, middleware: [metrics])
  let services: [any Service] = [metrics.gauges(of: [mail]), JobWorker(mail).service()]
  _ = services
}
#endif

// docs/servers.md, block 5
#if Encryption
func snippet101() async throws {
  let (new, old) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))  // from where you keep secrets
  let encryption = try JobEncryption(keys: ["2026-11": new, "2025": old], current: "2026-11")
  let mail = JobQueue("mail", store: store, middleware: [encryption])
  try await mail.enqueue(SendMessage(text: "for your eyes only"))
}
#endif

// docs/steps.md, block 1
func snippet102() async throws {
  worker.register(UploadPhoto.self) { job, context in
    let size = try await context.step("measure") { try Data(contentsOf: job.file).count }
    let id = try await context.step("upload") { try await server.upload(job.file) { _ in } }
    for reader in 1...3 {
      try await context.step("tell reader \(reader)") { try await server.send("\(id.name): \(size) bytes") }
    }
    return id
  }
}

// docs/testing.md, block 1
func snippet103() async throws {
  let jobs = TestJobs()
  // What you test enqueues, and nothing runs yet.
  try await jobs.queue.enqueue(SendMessage(text: "hello"))
  let enqueued = try await jobs.enqueued(SendMessage.self)
  assert(enqueued == [SendMessage(text: "hello")])

  // `drain` runs what may run now. A server that is away is tried again when its time has come, by hand.
  let attempts = Mutex(0)
  jobs.worker.register(SendMessage.self, retry: .constant(.seconds(10))) { message, context in
    attempts.withLock { $0 += 1 }
    if context.attempt < 3 { throw Server.Busy(retryAfter: .seconds(10)) }
  }
  let counts = try await jobs.drain()
  assert(counts[.scheduled] == 1)
  let later = try await jobs.advance(by: .seconds(20))
  assert(later[.succeeded] == 1 && attempts.withLock { $0 } == 3)
}

// docs/testing.md, block 2
func snippet104() async throws {
  let jobs = TestJobs()
  jobs.worker.register(UploadPhoto.self)
  let remote = try await jobs.perform(photo, attempt: 2)
  assert(remote.name == "photo.jpg")
}

// docs/testing.md, block 3
/// Keeps each job in a file of its own.
struct FolderProvider: SnapshotProvider {
  let folder: URL

  func load() throws -> [String: Data] {
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return Dictionary(uniqueKeysWithValues: try files.map { ($0.lastPathComponent, try Data(contentsOf: $0)) })
  }

  func save(_ entries: [String: Data]) throws {
    for (name, data) in entries { try data.write(to: folder.appending(path: name), options: .atomic) }
  }

  func remove(_ names: [String]) throws {
    for name in names { try? FileManager.default.removeItem(at: folder.appending(path: name)) }
  }
}

@Test("A store in a folder does what every store has to", arguments: StoreConformance.cases)
func folderStore(_ promise: StoreConformance.Case) async throws {
  let root = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
  defer { try? FileManager.default.removeItem(at: root) }
  let subject = StoreUnderTest { policy in
    let (folder, clock) = (root.appending(path: UUID().uuidString), ManualClock())
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let provider = FolderProvider(folder: folder)
    return (try InMemoryStore(provider: provider, policy: policy, clock: clock), clock)
  }
  try await promise.run(subject)
}

// docs/transactions.md, block 1
func snippet105() async throws {
  let pool = try DatabasePool(path: "app.sqlite")
  let queue = JobQueue(store: try SQLiteStore(pool: pool))

  try await pool.write { db in
    try db.execute(sql: "INSERT INTO orders VALUES(7)")
    try queue.enqueue(SendMessage(text: "thanks"), in: db)
  }
}

// docs/transactions.md, block 2
func snippet106() async throws {
  worker.register(SendMessage.self) { message, context in
    try await pool.write { db in
      try db.execute(sql: "INSERT INTO sent VALUES(?)", arguments: [message.text])
      try context.complete(in: db)  // complete(with: output, in: db) for a kind that gives something
    }
  }
}

// docs/transactions.md, block 3
#if Postgres
func snippet107() async throws {
  let store = try await PostgresStore("postgres://jobs@db.example.com/app")
  let queue = JobQueue(store: store)
  try await store.transaction { transaction in
    try transaction.execute("INSERT INTO orders VALUES($1, $2)", ["7", "tea"])
    try queue.enqueue(SendMessage(text: "thanks"), in: transaction)
  }
  worker.register(SendMessage.self) { message, context in
    try await store.transaction { transaction in
      try transaction.execute("INSERT INTO sent VALUES($1)", [message.text])
      try context.complete(in: transaction)  // complete(with: output, in: transaction) for a kind that gives something
    }
  }
}
#endif

// docs/transactions.md, block 4
#if Postgres
func snippet108() async throws {
  let queue = JobQueue(store: try await PostgresStore("postgres://jobs@db.example.com/app"))
  let statement = try queue.enqueueStatement(for: SendMessage(text: "thanks"))
  print(statement.sql, statement.values)  // SELECT "durable_jobs".enqueue($1::text,…), all values as text
}
#endif

// docs/unique.md, block 1
func snippet109() async throws {
  let sync = JobOptions(unique: "sync-7")
  let first = try await queue.enqueue(SendMessage(text: "sync"), options: sync)
  let again = try await queue.enqueue(SendMessage(text: "sync"), options: sync)
  print(first.isNew, again.isNew, again.id == first.id)  // true false true
}

// docs/unique.md, block 2
func snippet110() async throws {
  let save = JobOptions(unique: UniqueKey("draft-3", policy: .replace))  // the newest draft is kept; earlier ones are cancelled
  let turn = JobOptions(unique: UniqueKey("door-7", policy: .append))  // after all that have the key, if they succeed
  for options in [save, turn] { try await queue.enqueue(SendMessage(text: "…"), options: options) }
}

// docs/unique.md, block 3
func snippet111() async throws {
  let once = JobOptions(unique: UniqueKey("welcome-7", scope: .within(.seconds(86_400))))  // once a day
  try await queue.enqueue(SendMessage(text: "welcome"), options: once)
}

// docs/watching.md, block 1
func snippet112() async throws {
  for try await jobs in queue.snapshots(where: .state(.failed), detail: .failures, order: .newestFirst, limit: 20) {
    for job in jobs { print(job.id, job.failures.last?.message ?? "") }
  }
}

// docs/watching.md, block 2
func snippet113() async throws {
  let uploads = await JobList(queue, of: UploadPhoto.self, where: !.state(.succeeded))
  for upload in await uploads.rows { print(upload.payload.file, upload.job.progress?.fraction ?? 0) }
  print(await uploads.counts[.failed], "failed", await uploads.isLoading, await uploads.error as Any)
}

// docs/watching.md, block 3
func snippet114() async throws {
  for await event in queue.events {
    if case .changed(let job) = event { print(job.id, job.kind, job.state) }
    if case .removed(let job) = event { print(job.id, "was deleted") }
    if case .changedElsewhere = event { print("look again") }
    if case .missed(let count) = event { print(count, "events were too many") }
  }
}

// Sources/DurableJobs/Constraints/ConstraintMonitor.swift, comment 1
extension Given {
  static func comment115() async throws {
    struct VPNMonitor: ConstraintMonitor {
      func changes() -> some AsyncSequence<Bool, Never> { AsyncStream { vpn.follow($0) } }
    }
  }
}

// Sources/DurableJobs/Job/JobMiddleware.swift, comment 1
extension Given {
  static func comment116() async throws {
    let queue = JobQueue("mail", store: store, middleware: [Tenants(), encryption])
    _ = queue
  }
}

// Sources/DurableJobs/Job/UniqueKey.swift, comment 1
extension Given {
  static func comment117() async throws {
    try await queue.enqueue(Sync(account: 7), options: .init(unique: "sync-7"))
    try await queue.enqueue(Save(draft), options: .init(unique: UniqueKey("draft-3", policy: .replace)))
  }
}

// Sources/DurableJobs/Plans/JobChain.swift, comment 1
extension Given {
  static func comment118() async throws {
    let chain = JobChain(Login(user: user))
      .then { FetchAvatar(session: $0, size: 64) }
      .then { ShowImage(image: $0) }
      .catch { ReportFailure(failure: $0) }
    let image = try await queue.enqueue(chain).value
    _ = chain
    _ = image
  }
}

// Sources/DurableJobs/Plans/JobInput.swift, comment 1
extension Given {
  static func comment119() async throws {
    struct FetchAvatar: Job {
      @JobInput var session: Session
      var size: Int
      static let kind = "fetch-avatar"
      func run(in context: JobContext) async throws -> Avatar { try await server.avatar(of: session, size: size) }
    }
    try await queue.enqueue(FetchAvatar(session: login.output, size: 64))
  }
}

// Sources/DurableJobs/Plans/JobPlan.swift, comment 1
extension Given {
  static func comment120() async throws {
    var plan = JobPlan("album")
    let cover = plan.add(Fetch(url: coverURL))
    let pages = pageURLs.map { plan.add(Fetch(url: $0)) }
    plan.add(Bind(cover: cover.output, pages: pages.map(\.output)), named: "bind")
    let album = try await queue.enqueue(plan)
    _ = cover
    _ = pages
    _ = album
  }
}

// Sources/DurableJobs/Plans/JobReference.swift, comment 1
extension Given {
  static func comment121() async throws {
    try await queue.enqueue(Publish(), after: [upload, .end(of: scan), .failure(of: backup), .key("import-7")])
  }
}

// Sources/DurableJobs/Queue/JobExplanation.swift, comment 1
extension Given {
  static func comment122() async throws {
    print(try await queue.explain(id))   // Job 7 is blocked. It waits for job 5, which is suspended.
  }
}

// Sources/DurableJobs/Queue/JobQueue.swift, comment 1
extension Given {
  static func comment123() async throws {
    let queue = JobQueue(store: try SQLiteStore(path: "jobs.sqlite"))
    try await queue.enqueue(Greet(name: "world"))
    _ = queue
  }
}

// Sources/DurableJobs/Worker/JobWorker.swift, comment 1
extension Given {
  static func comment124() async throws {
    let worker = JobWorker(queue)
    worker.register(Greet.self)
    try await worker.runUntilIdle()
    _ = worker
  }
}

// Sources/DurableJobs/Worker/JobWorker.swift, comment 2
extension Given {
  static func comment125() async throws {
    worker.onFinish { job in if job.state == .failed { await alarm.ring(job.failures.last?.message) } }
  }
}

// Sources/DurableJobsApp/JobInbox.swift, comment 1
extension Given {
  static func comment126() async throws {
    let inbox = JobInbox(folder: group.appending(path: "jobs"))
    try inbox.drop(Upload(file: file), on: "uploads")       // in the share extension
    try await inbox.takeIn(to: store)                       // in the app, before its worker starts
    _ = inbox
  }
}

// Sources/DurableJobsEncryption/JobEncryption.swift, comment 1
#if Encryption
extension Given {
  static func comment127(old: SymmetricKey, new: SymmetricKey) async throws {
    let encryption = try JobEncryption(keys: ["2026-11": new, "2025": old], current: "2026-11")
    let mail = JobQueue("mail", store: store, middleware: [encryption])
    _ = encryption
    _ = mail
  }
}
#endif

// Sources/DurableJobsHTTP/Download.swift, comment 1
#if HTTP
extension Given {
  static func comment128() async throws {
    let downloader = Downloader(store: store)
    downloader.register(with: worker)
    let file = try await queue.enqueue(Download(from: url, to: folder)).value
    _ = downloader
    _ = file
  }
}
#endif

// Sources/DurableJobsHTTP/Outbox/SendRequest.swift, comment 1
#if HTTP
extension Given {
  static func comment129() async throws {
    Outbox(store: store).register(with: worker)
    try await queue.enqueue(SendRequest(.post, url, body: .json(order)))
  }
}
#endif

// Sources/DurableJobsOperations/DurableOperation.swift, comment 1
extension Given {
  static func comment130() async throws {
    let upload = try DurableOperation(id: "photo-7", kind: "upload", payload: photo)
    upload.addDependency(resize)
    operations.addOperation(upload)
    _ = upload
  }
}

// Sources/DurableJobsOperations/DurableOperationQueue.swift, comment 1
extension Given {
  static func comment131() async throws {
    let queue = DurableOperationQueue(name: "uploads", store: store, maxRetries: 3) { error, operation in
      print(operation.id, error.map { "\($0)" } ?? "done")
    }
    queue.register("photo") { operation, context in try await send(operation.decode(Photo.self)) }
    queue.addOperation(try DurableOperation(id: "photo-7", kind: "photo", payload: photo))
    _ = queue
  }
}

// Sources/DurableJobsPostgres/Lending/PostgresTransaction.swift, comment 1
#if Postgres
extension Given {
  static func comment132(store: PostgresStore, transaction: PostgresTransaction) async throws {
    try transaction.execute("INSERT INTO orders VALUES($1, $2)", ["17", "tea"])
  }
}
#endif

// Sources/DurableJobsPostgres/Lending/Transactions.swift, comment 1
#if Postgres
extension Given {
  static func comment133(store: PostgresStore, transaction: PostgresTransaction) async throws {
    try await store.transaction { transaction in
      try transaction.execute("INSERT INTO orders VALUES($1, $2)", ["17", "tea"])
      try queue.enqueue(SendReceipt(order: 17), in: transaction)
    }
  }
}
#endif

// Sources/DurableJobsPostgres/PostgresStore.swift, comment 1
#if Postgres
extension Given {
  static func comment134(store: PostgresStore, transaction: PostgresTransaction) async throws {
    let store = try await PostgresStore("postgres://jobs@db.example.com/app")
    _ = store
  }
}
#endif

// Sources/DurableJobsProcess/ShellCommand+Supervision.swift, comment 1
#if Process
extension Given {
  static func comment135() async throws {
    ShellCommand.superviseIfAsked()
  }
}
#endif

// Sources/DurableJobsProcess/ShellCommand.swift, comment 1
#if Process
extension Given {
  static func comment136() async throws {
    worker.register(ShellCommand.self)
  }
}
#endif

// Sources/DurableJobsSQLite/Transactions.swift, comment 1
extension Given {
  static func comment137() async throws {
    try await pool.write { db in
      try order.insert(db)
      try queue.enqueue(SendReceipt(order: order.id), in: db)
    }
  }
}

// Sources/DurableJobsSchedules/JobQueue+Schedules.swift, comment 1
extension Given {
  static func comment138() async throws {
    try await queue.schedule("nightly", .cron("0 4 * * *", timeZone: "Europe/Berlin"), Cleanup())
  }
}

// Sources/DurableJobsSchedules/JobSchedule.swift, comment 1
extension Given {
  static func comment139() async throws {
    worker.register(JobSchedule.self)
  }
}

// Sources/DurableJobsService/JobMetrics.swift, comment 1
#if Service
extension Given {
  static func comment140(server: any Service, logger: Logger) async throws {
    let metrics = JobMetrics()
    let mail = JobQueue("mail", store: store, middleware: [metrics])
    let group = ServiceGroup(services: [metrics.gauges(of: [mail]), JobWorker(mail).service()], logger: logger)
    _ = metrics
    _ = mail
    _ = group
  }
}
#endif

// Sources/DurableJobsService/JobTracing.swift, comment 1
#if Service
extension Given {
  static func comment141(server: any Service, logger: Logger) async throws {
    let mail = JobQueue("mail", store: store, middleware: [JobTracing()])
    _ = mail
  }
}
#endif

// Sources/DurableJobsService/JobWorkerService.swift, comment 1
#if Service
extension Given {
  static func comment142(server: any Service, logger: Logger) async throws {
    let group = ServiceGroup(services: [worker.service(), server], gracefulShutdownSignals: [.sigterm], logger: logger)
    try await group.run()
    _ = group
  }
}
#endif

// Sources/DurableJobsSystem/AddressProbe.swift, comment 1
extension Given {
  static func comment143() async throws {
    worker.provide(.network, AddressProbe(host: "api.example.org", port: 443))
  }
}

// Sources/DurableJobsTesting/TestJobs.swift, comment 1
extension Given {
  static func comment144() async throws {
    let jobs = TestJobs()
    let model = PhotoModel(queue: jobs.queue)            // what you test
    try await model.share(photo)
    #expect(try await jobs.enqueued(Upload.self) == [Upload(photo: photo.id)])

    jobs.worker.register(Upload.self)
    try await jobs.drain()                               // runs what may run now
    try await jobs.advance(by: .seconds(60))             // and what comes due within a minute, back-offs too
    _ = jobs
    _ = model
  }
}
