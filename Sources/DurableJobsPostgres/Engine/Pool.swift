#if Postgres
  import DurableJobs
  import Foundation

  /// The threads of a store, each with a connection: no call waits for the server on a thread of Swift's pool. Threads
  /// are started when there is more work than threads, and end after a minute without work. The one that was at work last
  /// goes on first: what it needs, here and in its process of the server, is in the processor's caches.
  ///
  /// Calls that only add plain jobs, and wait at the same time, share one transaction.
  final class Pool: Sendable {
    fileprivate struct State {
      var line: CallLine
      /// When a timer looks for those whose time is over.
      var alarm: Duration?
      var threads: Set<Int64> = []
      /// Those that wait for work, the one that was at work last at the end.
      var idle: [Int64] = []
      var isClosed = false
      /// Those that wait for the end of the threads.
      var leaving: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Lock<State>
    /// One for each thread, by its number.
    private let bells: [DispatchSemaphore]
    private var size: Int { bells.count }

    init(size: Int) {
      bells = (0..<max(size, 1)).map { _ in DispatchSemaphore(value: 0) }
      state = Lock(State(line: CallLine(connections: max(size, 1))))
    }

    var isClosed: Bool { state.withLock(\.isClosed) }

    func add(_ request: Request, for engine: Engine) {
      enum Way {
        case closed
        case ring(Int64)
        case start(Int64, Int64)
        case wait(alarm: Duration?)
      }
      let way = state.withLock { state -> Way in
        guard !state.isClosed else { return .closed }
        let key = state.line.add(request)
        guard state.line.next != nil else { return .wait(alarm: state.takeAlarm()) }
        if let number = state.idle.popLast() { return .ring(number) }
        guard state.threads.count < size, let number = (0..<Int64(size)).first(where: { !state.threads.contains($0) })
        else { return .wait(alarm: state.takeAlarm()) }
        state.threads.insert(number)
        return .start(number, key)
      }
      switch way {
      case .closed: request.fail(engine.closedError)
      case .ring(let number): bells[Int(number)].signal()
      case .start(let number, let key):
        do {
          try StoreThread.start("durable-postgres") { [self] in loop(engine, number) }
        } catch {
          // Others may come to it.
          guard leave(number) else { return setAlarm(state.withLock { $0.takeAlarm() }, engine.server) }
          let request = state.withLock { $0.line.withdraw(key) }
          request?.fail(error)
        }
      case .wait(let alarm): setAlarm(alarm, engine.server)
      }
    }

    /// One timer serves all that wait: most have a connection long before.
    private func setAlarm(_ alarm: Duration?, _ server: ServerName) {
      guard let alarm else { return }
      _ = SystemClock().schedule(at: alarm) { [weak self] in
        guard let self else { return }
        let now = SystemClock().uptime
        let (expired, next) = state.withLock { state in
          if state.alarm.map({ $0 <= now }) ?? false { state.alarm = nil }
          return (state.line.expire(at: now), state.takeAlarm())
        }
        setAlarm(next, server)
        for request in expired {
          request.fail(
            JobError(
              .storeFailed,
              "the store \(server) had no connection free in time: all are at work. Try again, or allow it more"))
        }
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
      var group: [Request] = []
      while true {
        let (isOver, other, alarm) = state.withLock { state -> (Bool, Int64?, Duration?) in
          state.line.ended(group)
          group = state.line.take()
          let isOver = state.isClosed && group.isEmpty
          if group.isEmpty, !isOver { state.idle.append(number) }
          // What has just ended may have been in the way of more than one.
          let other = group.isEmpty || state.line.next == nil ? nil : state.idle.popLast()
          return (isOver, other, state.takeAlarm())
        }
        setAlarm(alarm, engine.server)
        if let other { bells[Int(other)].signal() }
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
    fileprivate mutating func takeLeaving() -> [CheckedContinuation<Void, Never>] {
      defer { leaving = [] }
      return leaving
    }

    /// When a timer is to be set; nil if there is one for all that wait.
    fileprivate mutating func takeAlarm() -> Duration? {
      guard let next = line.nextDeadline, alarm.map({ next < $0 }) ?? true else { return nil }
      alarm = next
      return next
    }
  }
#endif
