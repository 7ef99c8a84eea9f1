import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

/// Jobs that wait for jobs, from the call that stores them to the values that come out.
@Suite struct DependencyTests {
  let queue = JobQueue(store: InMemoryStore())
  let worker: JobWorker
  /// What ran, in order.
  let ran = Recorder<String>()

  init() {
    worker = JobWorker(queue, maxConcurrentJobs: 1)
    worker.register(Login.self) { [ran] login, _ in
      ran.add("login")
      if login.user == "nobody" { throw .permanent(Refused(why: "no such user")) }
      return Session(token: "token of \(login.user)")
    }
    worker.register(FetchAvatar.self) { [ran] fetch, _ in
      ran.add("fetch")
      if fetch.size > 1000 { throw .permanent(Refused(why: "too large")) }
      return Avatar(text: "\(fetch.size) px by \(fetch.session.token)")
    }
    worker.register(ShowImage.self) { [ran] show, _ in
      ran.add("show")
      return show.image.text
    }
    worker.register(ReportFailure.self) { [ran] report, _ in ran.add("report \(report.failure)") }
    worker.register(Note.self) { [ran] note, _ in ran.add(note.text) }
  }

  @Test func `A job of another store is refused, by whatever it is named, and its number may be given`() async throws {
    let other = JobQueue(store: InMemoryStore())
    let far = try await other.enqueue(Login(user: "ada"))
    let near = try await queue.enqueue(Login(user: "mallory"))
    #expect(far.id == near.id)
    var plan = JobPlan()
    plan.add(Note(text: "n"), after: [.failure(of: far)])
    for store in [
      { _ = try await queue.enqueue(Note(text: "n"), after: [far]) },
      { _ = try await queue.enqueue(FetchAvatar(session: far.output, size: 1)) },
      { [plan] in _ = try await queue.enqueue(plan) },
    ] as [() async throws -> Void] {
      let error = await #expect(throws: JobError.self) { try await store() }
      #expect(error?.code == .invalidArgument && error?.message.contains("another store") == true)
    }
    #expect(try await queue.jobs(where: .all).map(\.id) == [near.id])
    let later = try await queue.enqueue(Note(text: "n"), after: [far.id])
    #expect(try await later.snapshot.state == .blocked)
  }

  @Test func `A plan that is not there has no jobs, and is refused with its name`() async throws {
    let plan = queue.plan(PlanID(rawValue: "nope"))
    #expect(try await plan.jobs.isEmpty)
    for act in [
      { try await plan.cancel() }, { try await plan.retry() }, { _ = try await plan.mermaid() },
    ] as [() async throws -> Void] {
      let error = await #expect(throws: JobError.self) { try await act() }
      #expect(error?.code == .notFound && error?.message.contains("nope") == true)
    }
    let empty = try await queue.enqueue(JobPlan())
    try await empty.cancel()
  }

  // MARK: Follow-ups

  @Test func `What is to follow from a success is stored with it, and not where the attempt fails`() async throws {
    worker.register(kind: "scan") { job, context in
      try context.enqueueOnSuccess(Note(text: "follows \(context.attempt)"))
      if context.attempt == 1 { throw .retry(after: .zero, because: Refused(why: "not yet")) }
      return nil
    }
    try await queue.enqueue(kind: "scan", payload: Data("{}".utf8))
    try await worker.runUntilIdle()
    #expect(ran.all == ["follows 2"])
  }

  @Test func `A job whose follow-ups the store refuses has failed, and does not run again`() async throws {
    worker.register(kind: "scan") { [ran] job, context in
      ran.add("scan")
      let options = JobOptions(unique: UniqueKey("u", policy: .replace))
      try context.enqueueOnSuccess(contentsOf: [Note(text: "x"), Note(text: "y")], options: options)
      return nil
    }
    let id = try await queue.enqueue(kind: "scan", payload: Data("{}".utf8))
    try await worker.runUntilIdle()
    #expect(ran.all == ["scan"])
    let job = try await queue.job(id)
    #expect(job.state == .failed)
    #expect(job.failures.last?.message.hasPrefix("what should follow from it can't be stored: two jobs") ?? false)
    #expect(try await queue.counts().total == 1)
  }

  @Test func `A follow-up to another store, or after the handler has returned, is refused in words`() async throws {
    let (other, context) = (JobQueue(store: InMemoryStore()), Recorder<JobContext>())
    worker.register(kind: "scan") { job, given in
      context.add(given)
      let error = #expect(throws: JobError.self) { try given.enqueueOnSuccess(Note(text: "x"), on: other) }
      #expect(error?.code == .invalidArgument)
      return nil
    }
    try await queue.enqueue(kind: "scan", payload: Data("{}".utf8))
    try await worker.runUntilIdle()
    let error = #expect(throws: JobError.self) { try context.all[0].enqueueOnSuccess(Note(text: "x")) }
    #expect(error?.code == .wrongState)
    #expect(try await queue.counts().total == 1)
  }

  // MARK: Chains

  @Test func `Article 3: tasks in series, each gets the result of the one before, and one place for errors`()
    async throws
  {
    func chain(_ user: String, size: Int) -> JobChain<String> {
      JobChain(Login(user: user))
        .then { FetchAvatar(session: $0, size: size) }
        .then(ShowImage.init)
        .catch { ReportFailure(failure: $0) }
    }
    let shown = try await queue.enqueue(chain("ada", size: 64))
    try await worker.runUntilIdle()
    #expect(try await shown.value == "64 px by token of ada")
    #expect(ran.all == ["login", "fetch", "show"])

    let refused = try await queue.enqueue(chain("nobody", size: 64))
    let tooLarge = try await queue.enqueue(chain("ada", size: 5000))
    try await worker.runUntilIdle()
    let first = await #expect(throws: JobFailure.self) { try await refused.value }
    #expect(first?.kind == "login")
    #expect(first?.message == "no such user")
    let second = await #expect(throws: JobFailure.self) { try await tooLarge.value }
    #expect(second?.kind == "fetch-avatar")
    #expect(ran.all.count { $0 == "show" } == 1)
    #expect(
      Set(ran.all.filter { $0.hasPrefix("report") }) == Set([first, second].compactMap { $0.map { "report \($0)" } }))
  }

  @Test func `A link may follow one that has no output, and one whose output it has no use for`() async throws {
    let chain = JobChain(Note(text: "a"))
      .then { Login(user: "ada") }
      .then { _ in Note(text: "b") }
      .then { Note(text: "c") }
    let handle = try await queue.enqueue(chain)
    try await worker.runUntilIdle()
    try await handle.value
    #expect(ran.all == ["a", "login", "b", "c"])
  }

  @Test func `A catch in the middle of a chain is for the links before it`() async throws {
    let chain = JobChain(Login(user: "ada"))
      .catch { ReportFailure(failure: $0) }
      .then { FetchAvatar(session: $0, size: 5000) }
    let handle = try await queue.enqueue(chain)
    try await worker.runUntilIdle()
    await #expect(throws: JobFailure.self) { try await handle.value }
    #expect(ran.all == ["login", "fetch"])
    #expect(try await queue.counts() == JobCounts([.succeeded: 1, .failed: 1, .skipped: 1]))
  }

  @Test func `The value of a skipped catch says which job did not fail`() async throws {
    let login = try await queue.enqueue(Login(user: "ada"))
    let report = try await queue.enqueue(ReportFailure(failure: login.failure))
    try await worker.runUntilIdle()
    let failure = await #expect(throws: JobFailure.self) { try await report.value }
    #expect(failure?.job == report.id)
    #expect(failure?.message == "skipped: job \(login.id) (login) succeeded")
  }

  // MARK: Inputs

  @Test func `A job that is enqueued after the other has ended has its input at once`() async throws {
    let login = try await queue.enqueue(Login(user: "ada"))
    try await worker.runUntilIdle()
    let fetch = try await queue.enqueue(FetchAvatar(session: login.output, size: 1))
    try await worker.runUntilIdle()
    #expect(try await fetch.value.text == "1 px by token of ada")
  }

  @Test func `An outcome is what the other came to, whichever it was`() async throws {
    let outcomes = Recorder<String>()
    worker.register(Judge.self) { judge, _ in
      switch judge.login {
      case .succeeded(let session): outcomes.add(session.token)
      case .failed(let failure): outcomes.add(failure.message)
      }
    }
    for user in ["ada", "nobody"] {
      let login = try await queue.enqueue(Login(user: user))
      try await queue.enqueue(Judge(login: login.outcome))
    }
    try await worker.runUntilIdle()
    #expect(outcomes.all == ["token of ada", "no such user"])
  }

  @Test func `What came and does not decode suspends the job, with words`() async throws {
    let note = try await queue.enqueue(kind: "untyped", payload: Data("{}".utf8))
    let login = queue.handle(note, as: Login.self)
    let fetch = try await queue.enqueue(FetchAvatar(session: login.output, size: 1))
    worker.register(kind: "untyped") { _, _ in Data("[]".utf8) }
    try await worker.runUntilIdle()
    let job = try await fetch.snapshot
    #expect(job.state == .suspended)
    #expect(job.reason?.contains("what came is no Session: ") == true)
    #expect(job.reason?.hasSuffix("at session") == true)
  }

  @Test func `What waits for a job whose input does not decode waits on, and goes on once a retry can read it`()
    async throws
  {
    let login = queue.handle(try await queue.enqueue(kind: "untyped", payload: Data("{}".utf8)), as: Login.self)
    let fetch = try await queue.enqueue(FetchAvatar(session: login.output, size: 1))
    let show = try await queue.enqueue(ShowImage(image: fetch.output))
    worker.register(kind: "untyped") { _, _ in Data(#""ada""#.utf8) }
    try await worker.runUntilIdle()
    #expect(try await fetch.snapshot.state == .suspended)
    #expect(try await show.snapshot.state == .blocked)
    // A program that has not changed finds the same again.
    try await queue.retry(fetch.id)
    try await worker.runUntilIdle()
    #expect(try await fetch.snapshot.state == .suspended)
    #expect(try await show.snapshot.state == .blocked)
    let later = JobWorker(queue, maxConcurrentJobs: 1)
    later.register(FetchOldAvatar.self) { fetch, _ in Avatar(text: "\(fetch.size) px of \(fetch.session)") }
    later.register(ShowImage.self) { show, _ in show.image.text }
    try await queue.retry(fetch.id)
    try await later.runUntilIdle()
    #expect(try await show.value == "1 px of ada")
    #expect(try await queue.counts() == JobCounts([.succeeded: 3]))
    #expect(ran.all.isEmpty)
  }

  @Test func `A payload is validated when its inputs have come`() async throws {
    worker.register(Careful.self) { _, _ in }
    var jobs: [JobHandle<Void>] = []
    for user in ["ada", "bob"] {
      let login = try await queue.enqueue(Login(user: user))
      jobs.append(try await queue.enqueue(Careful(session: login.output)))
    }
    try await worker.runUntilIdle()
    try await jobs[0].value
    let failure = await #expect(throws: JobFailure.self) { try await jobs[1].value }
    #expect(failure?.message == "not bob")
  }

  // MARK: References

  @Test func `Jobs wait for ids, ends and failures, and are skipped where these can't come`() async throws {
    let good = try await queue.enqueue(Login(user: "ada"))
    let bad = try await queue.enqueue(Login(user: "nobody"))
    try await queue.enqueue(Note(text: "after both"), after: [good, bad])
    try await queue.enqueue(Note(text: "after good"), after: [good.id])
    try await queue.enqueue(Note(text: "after all"), after: [.end(of: bad), good])
    try await queue.enqueue(Note(text: "instead"), after: [.failure(of: bad)])
    try await queue.enqueue(Note(text: "instead of good"), after: [.failure(of: good)])
    try await worker.runUntilIdle()
    #expect(ran.all == ["login", "login", "after good", "after all", "instead"])
    #expect(try await queue.counts() == JobCounts([.succeeded: 4, .failed: 1, .skipped: 2]))
  }

  @Test func `A job that waits for a key waits for whoever brings it`() async throws {
    try await queue.enqueue(contentsOf: ["d", "e"].map { Note(text: $0) }, after: [.key("import-7")])
    try await queue.enqueue(kind: "note", payload: Data(#"{"text":"f"}"#.utf8), after: [.end(of: .key("import-8"))])
    try await worker.runUntilIdle()
    #expect(ran.all.isEmpty)
    #expect(try await queue.counts()[.blocked] == 3)
    try await queue.enqueue(Note(text: "c"), options: JobOptions(key: "import-7"))
    try await worker.runUntilIdle()
    #expect(ran.all == ["c", "d", "e"])
    #expect(try await queue.counts() == JobCounts([.succeeded: 3, .blocked: 1]))
  }

  @Test func `A job that is not there can't be waited for`() async throws {
    await #expect(throws: JobError.self) { try await queue.enqueue(Note(text: "a"), after: [JobID(rawValue: 99)]) }
    #expect(try await queue.counts().total == 0)
  }

  // MARK: Plans

  @Test func `A plan brings many outputs together`() async throws {
    worker.register(MakePart.self) { [ran] _, context in
      ran.add("part")
      return Part(number: Int(context.id.rawValue))
    }
    worker.register(Join.self) { [ran] join, _ in
      ran.add("join")
      return join.parts.map { $0.wrappedValue.number }.reduce(0, +)
    }
    var plan = JobPlan("engine")
    let note = plan.add(Note(text: "begin"))
    let parts = (1...3).map { _ in plan.add(MakePart(), after: [note]) }
    let join = plan.add(Join(parts: parts.map(\.output) + [.constant(Part(number: 100))]), named: "join")
    let stored = try await queue.enqueue(plan)
    #expect(try await stored.jobs.map(\.state) == [.ready, .blocked, .blocked, .blocked, .blocked])
    try await worker.runUntilIdle()
    #expect(ran.all == ["begin", "part", "part", "part", "join"])
    let ids = try parts.map { Int(try stored.handle(of: $0).id.rawValue) }
    #expect(try await stored.handle(of: join).value == ids.reduce(100, +))
    #expect(try await queue.plan(stored.id).handle(named: "join", as: Join.self).value == ids.reduce(100, +))
  }

  @Test func `A plan that is cancelled ends, and one that is retried goes on where it failed`() async throws {
    let isOpen = Flag(false)
    worker.register(MakePart.self) { _, _ in
      if !isOpen.value { throw .permanent(Refused(why: "closed")) }
      return Part(number: 1)
    }
    worker.register(Join.self) { join, _ in join.parts.count }
    var plan = JobPlan()
    let note = plan.add(Note(text: "begin"))
    let part = plan.add(MakePart(), after: [note], on: JobQueue("parts", store: queue.store))
    let join = plan.add(Join(parts: [part.output]))
    let cancelled = try await queue.enqueue(plan)
    try await cancelled.cancel(reason: "rain")
    #expect(try await cancelled.jobs.allSatisfy { $0.state.isFinished })
    let stored = try await queue.enqueue(plan)
    let both = JobWorker([queue: 1, JobQueue("parts", store: queue.store): 1])
    both.register(Note.self) { [ran] note, _ in ran.add(note.text) }
    both.register(MakePart.self) { _, _ in
      if !isOpen.value { throw .permanent(Refused(why: "closed")) }
      return Part(number: 1)
    }
    both.register(Join.self) { join, _ in join.parts.count }
    try await both.runUntilIdle()
    #expect(try await stored.jobs.map(\.state) == [.succeeded, .failed, .skipped])
    isOpen.value = true
    try await stored.retry()
    try await both.runUntilIdle()
    #expect(try await stored.handle(of: join).value == 1)
    #expect(ran.all == ["begin"])
  }
}

private struct Refused: Error, CustomStringConvertible {
  let why: String
  var description: String { why }
}

private struct Session: Codable, Sendable {
  var token: String
}

private struct Avatar: Codable, Sendable {
  var text: String
}

private struct Login: JobPayload {
  typealias Output = Session
  var user: String
  static let kind = "login"
}

private struct FetchAvatar: JobPayload {
  typealias Output = Avatar
  @JobInput var session: Session
  var size: Int
  static let kind = "fetch-avatar"
}

/// The same kind in a program that reads a session as it was once.
private struct FetchOldAvatar: JobPayload {
  typealias Output = Avatar
  @JobInput var session: String
  var size: Int
  static let kind = "fetch-avatar"
}

private struct ShowImage: JobPayload {
  typealias Output = String
  @JobInput var image: Avatar
  static let kind = "show-image"
}

private struct ReportFailure: JobPayload {
  @JobInput var failure: JobFailure
  static let kind = "report-failure"
}

private struct Judge: JobPayload {
  @JobInput var login: JobOutcome<Session>
  static let kind = "judge"
}

private struct Careful: JobPayload {
  @JobInput var session: Session
  static let kind = "careful"
  func validate() throws { if session.token.hasSuffix("bob") { throw Refused(why: "not bob") } }
}

private struct Note: JobPayload {
  var text: String
  static let kind = "note"
}
