#if Process
  import DurableJobs
  import Foundation
  import TestProcesses
  import Testing

  @testable import DurableJobsProcess

  /// Commands whose workers are stopped or gone, and whose jobs do not run any more.
  @Suite(.enabled(if: hasProcessTable, "finds processes in /proc"))
  struct RemainsTests {
    /// Is slow to end when it is asked to, and shows as long as it lives that it does.
    private let slow =
      "trap 'sleep 0.3; exit' TERM; exec 9>>unique; flock 9; echo $$ > said; while :; do sleep 0.05; done"

    @Test func `what a job that was cancelled left behind is ended before the next of its lane begins`() async throws {
      let place = try Place()
      let said = try place.pipe("said")
      let lane = JobOptions(lane: "deploy")
      let first = try await place.queue.enqueue(ShellCommand(["true"], in: place.folder), options: lane)
      let second = try await place.queue.enqueue(
        ShellCommand(["exec 9>>unique; flock -n 9 || touch twins"], in: place.folder, shell: true), options: lane)
      let orphan = try Orphan(first.id, slow, place)
      let command = try #require(pid_t(await said.read()))
      try await first.cancel()
      let worker = try place.work()
      _ = try await second.value
      #expect(!FileManager.default.fileExists(atPath: place.folder + "/twins"))
      #expect(ProcessList.hasEnded(command))
      #expect(worker.wait() == .exited(0))
      #expect(!CommandRemains(place.store).isNoted(first.id))
      try orphan.end()
    }

    @Test(arguments: ["lane", "unique key", "after", "nothing"], [false, true])
    func `a command does not begin beside one that can't be ended, and that goes before it`(
      by tie: String, isRemoved: Bool
    ) async throws {
      let place = try Place()
      let options = JobOptions(
        unique: tie == "unique key" ? "deploy" : nil, lane: tie == "lane" ? "deploy" : nil)
      let first = try await place.queue.enqueue(ShellCommand(["true"], in: place.folder), options: options)
      let folder = JobFolder(first.id, in: place.store)
      try folder.create()
      // Who holds the lock and does not say who it is can't be ended.
      let lock = open(folder.lock.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(lock) }
      try #require(flock(lock, LOCK_EX) == 0)
      try CommandRemains(place.store).note(first.id, CommandTies(await first.snapshot))
      try await first.cancel()
      let second = try await place.queue.enqueue(
        ShellCommand(["touch", "twin"], in: place.folder), after: tie == "after" ? [.end(of: first)] : [],
        options: options)
      // What others wait for can't be removed.
      if isRemoved, tie != "after" { try await first.remove() }
      #expect(try place.work().wait() == .exited(0))
      let job = try await second.snapshot
      #expect(job.state == (tie == "nothing" ? .succeeded : .suspended))
      #expect(FileManager.default.fileExists(atPath: place.folder + "/twin") == (tie == "nothing"))
      if tie != "nothing" {
        #expect(job.reason?.contains("of job \(first.id) still lives, beside which this one must not run: ") == true)
      }
    }

    @Test(arguments: [false, true])
    func `what follows a batch does not begin beside a command of that batch, and goes on after it`(isRemoved: Bool)
      async throws
    {
      let place = try Place()
      let batch = try await place.queue.openBatch("b", whenDone: ShellCommand(["touch", "twin"], in: place.folder))
      let first = try #require(
        try await batch.enqueue(contentsOf: [ShellCommand(["true"], in: place.folder)]).first)
      let folder = JobFolder(first.id, in: place.store)
      try folder.create()
      let lock = open(folder.lock.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      try #require(flock(lock, LOCK_EX) == 0)
      let remains = CommandRemains(place.store)
      try remains.note(first.id, CommandTies(await first.snapshot))
      // Its row tells the same, where the note is of an older version.
      if !isRemoved { try Data("{}".utf8).write(to: URL(fileURLWithPath: folder.path + "/../at-work/\(first.id)")) }
      try await first.cancel()
      try await batch.close()
      let next = try #require(try await batch.status.batch.whenDone)
      // The batch goes with it.
      if isRemoved { try await first.remove() }
      #expect(try place.work().wait() == .exited(0))
      #expect(try await place.queue.job(next).state == .suspended)
      #expect(!FileManager.default.fileExists(atPath: place.folder + "/twin"))
      let held = HeldCommands(place.store, remains)
      #expect(await held.letGo(), "it lives still")
      #expect(try await place.queue.job(next).state == .suspended)
      release(lock)
      #expect(await !held.letGo())
      #expect(try place.work().wait() == .exited(0))
      #expect(FileManager.default.fileExists(atPath: place.folder + "/twin"))
    }

    @Test func `a worker notes what a job shares with others, and a note of an older version is told by its row`()
      async throws
    {
      let place = try Place()
      let (said, go) = (try place.pipe("said"), try place.pipe("go"))
      let options = JobOptions(unique: "u", lane: "deploy")
      let first = try await place.queue.enqueue(
        ShellCommand(["echo > said; read line < go"], in: place.folder, shell: true), options: options)
      let worker = try place.work()
      _ = await said.read()
      let remains = CommandRemains(place.store)
      for lane in ["deploy", "other"] {
        var job = try await first.snapshot
        (job.id, job.lane, job.uniqueKey) = (JobID(rawValue: 9), JobLane(lane), nil)
        #expect(try await remains.inTheWay(of: job, nil) == (lane == "deploy" ? [first.id] : []))
        (job.lane, job.uniqueKey) = (nil, lane == "deploy" ? "u" : "other")
        #expect(try await remains.inTheWay(of: job, nil) == (lane == "deploy" ? [first.id] : []))
      }
      let note = JobFolder.all(of: place.store) + "/at-work/\(first.id)"
      try Data().write(to: URL(fileURLWithPath: note))
      var job = try await first.snapshot
      job.id = JobID(rawValue: 9)
      #expect(try await remains.inTheWay(of: job, nil) == [first.id])
      await go.write("go")
      #expect(worker.wait() == .exited(0))
    }

    @Test(arguments: ["of its own", "of the job before it"])
    func `what was suspended beside something that lived goes on once that has ended`(_ what: String) async throws {
      let place = try Place()
      let lane = JobOptions(lane: "deploy")
      let first = try await place.queue.enqueue(ShellCommand(["true"], in: place.folder), options: lane)
      let second = try await place.queue.enqueue(ShellCommand(["true"], in: place.folder), options: lane)
      let folder = JobFolder(what == "of its own" ? second.id : first.id, in: place.store)
      try folder.create()
      let lock = open(folder.lock.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      try #require(flock(lock, LOCK_EX) == 0)
      let remains = CommandRemains(place.store)
      if what != "of its own" { try remains.note(first.id, CommandTies(lane: "deploy")) }
      try await first.cancel()
      #expect(try place.work().wait() == .exited(0))
      #expect(try await second.snapshot.state == .suspended)
      #expect(try await second.snapshot.reason?.hasSuffix(", and the job goes on") == true)
      let held = HeldCommands(place.store, remains)
      #expect(await held.letGo(), "one is left")
      #expect(try await second.snapshot.state == .suspended)
      try await first.remove()
      #expect(await held.letGo(), "it lives though its job is gone")
      #expect(try await second.snapshot.state == .suspended)
      release(lock)
      #expect(await !held.letGo())
      #expect(try await second.snapshot.state == .ready)
      #expect(try place.work().wait() == .exited(0))
      #expect(try await second.snapshot.state == .succeeded)
    }

    @Test func `what another container has left behind is let go by a worker there`() async throws {
      let place = try Place()
      let job = try await place.add("true")
      let folder = JobFolder(job.id, in: place.store)
      try folder.create()
      let mark = CommandHolder.Mark(number: 7, start: 7)
      let machine = CommandHolder.currentMachine.split(separator: " ").first.map { "\($0) pid:[1]" } ?? ""
      let holder = CommandHolder(machine: machine, session: mark, command: mark)
      try JSONEncoder().encode(holder).write(to: URL(fileURLWithPath: folder.lock.path))
      let held = HeldCommands(place.store, CommandRemains(place.store))
      try await hold(held, place)
      #expect(await held.letGo())
      #expect(try await job.snapshot.state == .suspended)
      try Data().write(to: URL(fileURLWithPath: folder.lock.path))
      #expect(await !held.letGo())
      #expect(try await job.snapshot.state == .ready)
    }

    /// Has a handler suspend the job that is there as one does that finds something alive, once `body` is done.
    private func hold(
      _ held: HeldCommands, _ place: Place, because words: String = "process 7 lives",
      after body: @escaping @Sendable (JobContext) async throws -> Void = { _ in }
    ) async throws {
      let worker = JobWorker(place.queue)
      worker.register(ShellCommand.self) { _, context in
        try await body(context)
        throw held.hold(context, because: words)
      }
      try #require(await worker.runNext())
    }

    @Test(arguments: ["not today", nil])
    func `what a person has suspended since stays so, with or without a reason`(reason: String?) async throws {
      let place = try Place()
      let job = try await place.add("true")
      try JobFolder(job.id, in: place.store).create()
      let held = HeldCommands(place.store, CommandRemains(place.store))
      try await hold(held, place)
      try await job.suspend(reason: reason)
      #expect(await !held.letGo())
      #expect(try await job.snapshot.state == .suspended)
      #expect(try await job.snapshot.reason == reason ?? "process 7 lives, and the job goes on")
    }

    @Test func `what a person suspends just when it is about to go on stays so`() async throws {
      let place = try Place()
      let job = try await place.add("true")
      try JobFolder(job.id, in: place.store).create()
      try await hold(HeldCommands(place.store, CommandRemains(place.store)), place)
      let meddled = MeddledStore(place.store) { try await job.suspend() }
      #expect(await !HeldCommands(meddled, CommandRemains(place.store)).letGo())
      #expect(try await job.snapshot.state == .suspended)
      #expect(try await job.snapshot.heldBy == .request)
    }

    /// One where somebody does something just before a job is changed.
    private final class MeddledStore: PassingStore {
      let base: any JobStore
      private let meddle: @Sendable () async throws -> Void
      var path: String? { base.path }

      init(_ base: any JobStore, _ meddle: @escaping @Sendable () async throws -> Void) {
        (self.base, self.meddle) = (base, meddle)
      }

      func change(
        _ change: JobChange, where filter: JobFilter, after: JobID?, limit: Int
      ) async throws -> ChangeReport {
        try await meddle()
        return try await base.change(change, where: filter, after: after, limit: limit)
      }
    }

    @Test(arguments: [true, false])
    func `what a person suspends while it runs does not go on, and says so`(isKnown: Bool) async throws {
      let place = try Place()
      let job = try await place.add("true")
      try JobFolder(job.id, in: place.store).create()
      let held = HeldCommands(place.store, CommandRemains(place.store))
      try await hold(held, place) { context in
        try await job.suspend()
        if isKnown { await until { context.stopReason != nil } }
      }
      #expect(try await job.snapshot.state == .suspended)
      #expect(await !held.letGo())
      #expect(try await job.snapshot.state == .suspended)
      if isKnown { #expect(try await job.snapshot.reason == "process 7 lives") }
    }

    @Test func `an attempt that has lost its job leaves alone what who has it now has noted`() async throws {
      let place = try Place()
      let job = try await place.add("true")
      try JobFolder(job.id, in: place.store).create()
      let held = HeldCommands(place.store, CommandRemains(place.store))
      try await hold(held, place, because: "process 6 lives") { context in
        try await place.queue.resetAll()
        // This one's task is cancelled by then.
        try await Task { try await hold(held, place) }.value
        await until { context.stopReason == .claimLost }
      }
      #expect(try await job.snapshot.reason == "process 7 lives, and the job goes on")
      #expect(await !held.letGo())
      #expect(try await job.snapshot.state == .ready)
    }

    @Test func `a worker that is up lets it go on by itself`() async throws {
      let place = try Place()
      let job = try await place.add("true")
      let go = try place.pipe("go")
      let folder = JobFolder(job.id, in: place.store)
      try folder.create()
      let lock = open(folder.lock.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      try #require(flock(lock, LOCK_EX) == 0)
      // It keeps the worker, which ends when it is idle.
      let other = try await place.add("read line < go")
      let worker = try place.work(concurrency: 2)
      await until { (try? await job.snapshot.state) == .suspended }
      release(lock)
      #expect(try await job.value.exitCode == 0)
      await go.write("go")
      _ = try await other.value
      #expect(worker.wait() == .exited(0))
    }

    @Test
    func `fewer strays are written over more in one step, so that who dies there leaves a lock that names its holder`()
      throws
    {
      let place = try Place()
      let lock = CommandLock(path: place.folder + "/lock")
      let stray = try ChildProcess("/bin/sleep", ["600"])
      defer { stray.send(SIGKILL) }
      func mark(_ number: pid_t) throws -> UInt64 { try #require(ProcessEntry(number)).start }
      let own = CommandHolder.Mark(number: getpid(), start: try mark(getpid()))
      let holder = CommandHolder(
        machine: CommandHolder.currentMachine, session: own, command: own,
        strays: (1...60).map { Stray(number: pid_t($0), start: .max) })
      let whole = try JSONEncoder().encode(holder)
      try whole.write(to: URL(fileURLWithPath: lock.path))
      var found = CommandStrays()
      found.add([Stray(number: stray.pid, start: try mark(stray.pid))])
      lock.note(found) { $0 == holder }
      #expect(lock.holder?.strays == found.living)
      // A second step would be to cut it. Always as long, so that two who write at once leave nothing of each other's.
      #expect(FileManager.default.contents(atPath: lock.path)?.count == 16 * 1024)
    }

    @Test func `a number that was a hidden stray's and is shown now keeps the lock, and gets no signal`() throws {
      let stray = Stray(number: getpid(), start: nil)
      #expect(stray.lives)
      #expect(!stray.isKnown)
      #expect(Stray(number: getpid(), start: try #require(ProcessEntry(getpid())).start).isKnown)
      #expect(Stray(number: 1, start: nil).isKnown == (ProcessEntry(1) == nil))
    }

    @Test func `the time in which others are ended is none of a command's own`() async throws {
      let place = try Place()
      let said = try place.pipe("said")
      let lane = JobOptions(timeout: .milliseconds(250), lane: "deploy")
      let first = try await place.queue.enqueue(ShellCommand(["true"], in: place.folder), options: lane)
      let second = try await place.queue.enqueue(ShellCommand(["true"], in: place.folder), options: lane)
      let orphan = try Orphan(first.id, slow, place)
      _ = await said.read()
      try await first.cancel()
      let worker = try place.work()
      _ = try? await second.value
      #expect(try await place.logs(second).runs.count == 1)
      worker.send(SIGTERM)
      _ = worker.wait()
      try orphan.end()
    }

    @Test func `a worker ends what a job left that somebody else has ended`() async throws {
      let place = try Place()
      let said = try place.pipe("said")
      let job = try await place.add("true")
      let orphan = try Orphan(job.id, slow, place)
      let command = try #require(pid_t(await said.read()))
      try await place.queue.fail(job.id, message: "by hand")
      #expect(try place.work().wait() == .exited(0))
      #expect(ProcessList.hasEnded(command))
      try orphan.end()
    }

    @Test func `the command of a job that runs is left alone`() async throws {
      let place = try Place()
      let said = try place.pipe("said")
      let go = try place.pipe("go")
      let job = try await place.add("echo $$ > said; read line < go")
      let worker = try place.work()
      _ = await said.read()
      let remains = CommandRemains(place.store)
      #expect(remains.isNoted(job.id))
      #expect(await remains.end(job.id))
      #expect(await remains.end(remains.noted, except: []).isEmpty)
      await go.write("go")
      _ = try await job.value
      #expect(worker.wait() == .exited(0))
      #expect(!remains.isNoted(job.id))
    }

    @Test func `runs that begin at the same time have numbers of their own`() throws {
      let place = try Place()
      let folders = (1...200).map { JobFolder(JobID(rawValue: $0), in: place.store) }
      for folder in folders { try folder.create() }
      let numbers = Lock<[String: [Int]]>([:])
      DispatchQueue.concurrentPerform(iterations: 4 * folders.count) { index in
        let folder = folders[index / 4]
        guard let run = try? folder.beginRun(attempt: 1) else { return }
        numbers.withLock { $0[folder.path, default: []].append(run.number) }
      }
      #expect(numbers.withLock { $0.values.filter { $0.sorted() != [1, 2, 3, 4] } } == [])
    }
  }

  /// The worker's end of a supervisor's life line.
  @Suite struct LifeLineTests {
    @Test func `an order that nobody reads holds nobody up, and ends with a cut`() async throws {
      let (own, theirs) = try Descriptors.connected()
      let line = try LifeLine(own)
      line.begin(with: Data(count: 10 << 20), supervisor: 0)
      line.cut()
      let count = await onThread { Descriptors.rest(of: theirs).count }
      #expect(count < 10 << 20)
      close(theirs)
    }

    @Test func `an order arrives whole, however long it is`() async throws {
      let (own, theirs) = try Descriptors.connected()
      let line = try LifeLine(own)
      line.begin(with: Data(count: 10 << 20), supervisor: 0)
      let count = await onThread {
        var count = 0
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        while count < 10 << 20 {
          let part = read(theirs, &bytes, bytes.count)
          if part <= 0 { break }
          count += part
        }
        return count
      }
      #expect(count == 10 << 20)
      #expect(!line.isCut)
      close(theirs)
    }

    @Test(.enabled(if: hasProcessTable, "uses setsid"))
    func `who kills a supervisor kills what its command has started in other groups`() async throws {
      let output = Pipe()
      let shell = try ChildProcess(
        "/bin/sh", ["-c", #"setsid bash -c 'set -m; sleep 600 & echo $$ $!; exec sleep 600'; :"#],
        output: output.fileHandleForWriting.fileDescriptor)
      try output.fileHandleForWriting.close()
      var text = Data()
      while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) { text += byte }
      let numbers = String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
      try #require(numbers.count == 2 && getpgid(numbers[1]) == numbers[1])
      let (own, theirs) = try Descriptors.connected()
      defer { close(theirs) }
      let line = try LifeLine(own)
      line.begin(with: Data(), supervisor: numbers[0])
      line.kill()
      await until { numbers.allSatisfy { ProcessList.hasEnded($0) } }
      shell.send(SIGKILL)
    }
  }
#endif
