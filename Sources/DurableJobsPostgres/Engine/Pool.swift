#if Postgres
  import DurableJobs
  import Foundation

  /// What a caller wants of a connection.
  struct Request: Sendable {
    /// In terms of ``SystemClock/uptime``: the request is given up then, whether it has begun or not.
    let deadline: Duration
    /// New jobs that may be stored together with others, if the request consists only of that.
    var insertion: JobInsertion?
    let act: @Sendable (Session) throws -> Void
    let fail: @Sendable (any Error) -> Void
    /// Receives the new jobs' ids, if they were stored together with others.
    var stored: @Sendable ([InsertedJob]) -> Void = { _ in }
  }

  /// The threads of a store, each with a connection: no call waits for the server on a thread of Swift's pool. Threads
  /// are started when there is more work than threads, and end after a minute without work. The one that was at work last
  /// goes on first: what it needs, here and in its process of the server, is in the processor's caches.
  ///
  /// Calls that only add plain jobs, and wait at the same time, share one transaction.
  final class Pool: Sendable {
    fileprivate struct State {
      var waiting: [(key: Int64, request: Request)] = []
      var lastKey: Int64 = 0
      var threads: Set<Int64> = []
      /// Those that wait for work, the one that was at work last at the end.
      var idle: [Int64] = []
      var isClosed = false
      /// Those that wait for the end of the threads.
      var leaving: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Lock(State())
    /// One for each thread, by its number.
    private let bells: [DispatchSemaphore]
    private var size: Int { bells.count }

    init(size: Int) { bells = (0..<max(size, 1)).map { _ in DispatchSemaphore(value: 0) } }

    var isClosed: Bool { state.withLock(\.isClosed) }

    func add(_ request: Request, for engine: Engine) {
      enum Way {
        case closed
        case ring(Int64)
        case start(Int64, Int64)
        case wait(Int64)
      }
      let way = state.withLock { state -> Way in
        guard !state.isClosed else { return .closed }
        state.lastKey += 1
        state.waiting.append((state.lastKey, request))
        if let number = state.idle.popLast() { return .ring(number) }
        guard state.threads.count < size, let number = (0..<Int64(size)).first(where: { !state.threads.contains($0) })
        else { return .wait(state.lastKey) }
        state.threads.insert(number)
        return .start(number, state.lastKey)
      }
      switch way {
      case .closed: request.fail(engine.closedError)
      case .ring(let number): bells[Int(number)].signal()
      case .start(let number, let key):
        do {
          try StoreThread.start("durable-postgres") { [self] in loop(engine, number) }
        } catch {
          // Others may come to it.
          guard leave(number) else { return limit(request, key, engine) }
          let request = state.withLock { $0.withdraw(key) }
          request?.fail(error)
        }
      case .wait(let key): limit(request, key, engine)
      }
    }

    private func limit(_ request: Request, _ key: Int64, _ engine: Engine) {
      _ = SystemClock().schedule(at: request.deadline) { [weak self] in
        guard let request = self?.state.withLock({ $0.withdraw(key) }) else { return }
        request.fail(
          JobError(
            .storeFailed,
            "the store \(engine.server) had no connection free in time: all are at work. Try again, or allow it more"))
      }
    }

    /// Returns whether it was the last thread.
    @discardableResult
    private func leave(_ number: Int64) -> Bool {
      let (isLast, leaving) = state.withLock { state in
        state.threads.remove(number)
        return (state.threads.isEmpty, state.threads.isEmpty ? state.takeLeaving() : [])
      }
      for continuation in leaving { continuation.resume() }
      return isLast
    }

    private func loop(_ engine: Engine, _ number: Int64) {
      let session = Session(engine: engine, number: number)
      while true {
        let (group, isOver) = state.withLock { state -> ([Request], Bool) in
          let group = state.nextGroup()
          let isOver = state.isClosed && group.isEmpty
          if group.isEmpty, !isOver { state.idle.append(number) }
          return (group, isOver)
        }
        guard !isOver else { break }
        guard group.isEmpty else {
          carryOut(group, session)
          continue
        }
        let bell = bells[Int(number)]
        guard bell.wait(timeout: .now() + 60) == .timedOut else { continue }
        let isDone = state.withLock { state in
          guard let place = state.idle.firstIndex(of: number) else { return false }
          state.idle.remove(at: place)
          state.threads.remove(number)
          return true
        }
        if isDone { return session.disconnect() }
        bell.wait()  // it is being rung
      }
      engine.tellLast(on: session)
      session.disconnect()
      leave(number)
    }

    private func carryOut(_ group: [Request], _ session: Session) {
      if group.count > 1, let deadline = group.map(\.deadline).max() {
        let jobs = group.flatMap { $0.insertion?.jobs ?? [] }
        do {
          let reply = try session.write(until: deadline) { try $0.insert(JobInsertion(jobs)) }
          var rest = reply.jobs[...]
          for request in group {
            let count = request.insertion?.jobs.count ?? 0
            request.stored(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
          }
          return
        } catch let error where error is UnknownOutcome || (error as? PostgresFailure)?.endsConnection == true {
          for request in group { request.fail(error) }
          return
        } catch {
          // One caller's error must not reach another.
        }
      }
      for request in group {
        do { try request.act(session) } catch { request.fail(error) }
      }
    }

    /// Carries out what is already waiting, and then ends the threads.
    func close() {
      let idle = state.withLock { state in
        defer { state.idle = [] }
        state.isClosed = true
        return state.idle
      }
      for number in idle { bells[Int(number)].signal() }
    }

    /// Returns once all threads of a closed pool have ended.
    func end() async {
      await withCheckedContinuation { continuation in
        let hasEnded = state.withLock { state in
          if !state.threads.isEmpty { state.leaving.append(continuation) }
          return state.threads.isEmpty
        }
        if hasEnded { continuation.resume() }
      }
    }
  }

  extension Pool.State {
    fileprivate mutating func withdraw(_ key: Int64) -> Request? {
      waiting.firstIndex { $0.key == key }.map { waiting.remove(at: $0).request }
    }

    fileprivate mutating func takeLeaving() -> [CheckedContinuation<Void, Never>] {
      defer { leaving = [] }
      return leaving
    }

    /// The first request that waits; and all others that can be stored with it, if it is of that sort.
    fileprivate mutating func nextGroup() -> [Request] {
      guard let first = waiting.first?.request else { return [] }
      guard first.insertion != nil else { return [waiting.removeFirst().request] }
      var (group, room): ([Request], GroupRoom) = ([], GroupRoom())
      waiting.removeAll { entry in
        guard let insertion = entry.request.insertion, room.takes(insertion) else { return false }
        group.append(entry.request)
        return true
      }
      return group
    }
  }
#endif
