#if Postgres
  import CPostgres
  import DurableJobs
  import Foundation

  #if canImport(Darwin)
    import Darwin
  #else
    import Glibc
  #endif

  /// What the processes of a store tell each other: that there may be something to look at. LISTEN has a connection and
  /// a thread of its own while somebody here wants to hear.
  final class Notices: Sendable {
    fileprivate struct State {
      var post: @Sendable (ForeignChange) -> Void = { _ in }
      var send: @Sendable (String, Session?) -> Void = { _, _ in }
      var isBack: @Sendable () -> Void = {}
      var meet: @Sendable (WorkerProcess) -> Void = { _ in }
      var waiting: ForeignChange = []
      /// When the last was sent, by the uptime.
      var sentAt: Duration?
      /// Whether a timer looks for what waits.
      var hasAlarm = false
      var listener: Listener?
      var timer: (any JobTimer)?
      /// How often it was set, or taken away, to poll.
      var timers = 0
      var hasEnded = false
    }

    /// By itself: a commit with nothing written waits for no disk and no standby. That of which it tells is durable, and
    /// a lost notice has no other effect than a later look. A new worker alone is told of by the commit that stores it,
    /// as nobody looks for those later.
    static let notifySQL = "SELECT pg_notify($1,$2)"
    /// Commits that follow each other this closely share one notice.
    static let pause = Duration.milliseconds(10)
    /// How long a notice is waited for, before its connection is given up, and notices rest for a while.
    static let patience = Duration.seconds(1)
    private static let rest = Duration.seconds(5)
    /// How much longer what waits does so for a commit to go with, before it goes by itself.
    fileprivate static let grace = Duration.milliseconds(5)

    let channel: String
    private let server: ServerName
    private let session: String
    private let state = Lock(State())

    init(server: ServerName, channel: String, session: String) {
      (self.server, self.channel, self.session) = (server, channel, session)
    }

    static func channel(of schema: String) -> String { "durable_jobs:\(schema)" }

    func begin(
      post: @escaping @Sendable (ForeignChange) -> Void, send: @escaping @Sendable (String, Session?) -> Void,
      isBack: @escaping @Sendable () -> Void, meet: @escaping @Sendable (WorkerProcess) -> Void
    ) {
      state.withLock { ($0.post, $0.send, $0.isBack, $0.meet) = (post, send, isBack, meet) }
    }

    // MARK: Telling

    private func payload(_ change: ForeignChange, to other: String?) -> String {
      "\(session) \(change.rawValue) \(other ?? "*")"
    }

    /// Announces in which process there is a worker now. Older versions ignore it.
    static func introduction(of process: WorkerProcess, session: String) -> String {
      "\(session) lives \(process.number) \(process.start) \(process.machine)"
    }

    /// `session` has just committed it: its connection is at hand, and takes the notice with it if one may be sent now.
    func tellOthers(_ change: ForeignChange, on session: Session? = nil) {
      guard !change.isEmpty else { return }
      state.withLock { $0.waiting.formUnion(change) }
      sendWaiting(on: session)
    }

    private func sendWaiting(on session: Session?) {
      let now = SystemClock().uptime
      let (due, alarm, send) = state.withLock { ($0.takeDue(at: now), $0.takeAlarm(), $0.send) }
      if !due.isEmpty { send(payload(due, to: nil), session) }
      guard let alarm else { return }
      _ = SystemClock().schedule(at: alarm) { [weak self] in
        self?.state.withLock { $0.hasAlarm = false }
        self?.sendWaiting(on: nil)
      }
    }

    /// A notice was held up, as by another program's, whose commit waits: none is sent for some seconds.
    func rest() { state.withLock { $0.sentAt = SystemClock().uptime + Self.rest } }

    /// What was not sent when this ended.
    func takeLast() -> String? {
      let change = state.withLock { state in
        guard state.hasEnded else { return ForeignChange() }
        defer { state.waiting = [] }
        return state.waiting
      }
      return change.isEmpty ? nil : payload(change, to: nil)
    }

    /// What asks another session for a sign of life.
    func doubt(of other: String) -> String { payload(.doubt, to: other) }

    // MARK: Hearing

    func listen(_ isWanted: Bool) {
      let old = state.withLock { state -> Listener? in
        state.timer?.cancel()
        state.timer = nil
        guard isWanted != (state.listener != nil), !(isWanted && state.hasEnded) else { return nil }
        defer {
          state.listener = isWanted ? listener() : nil
          if isWanted, state.listener == nil {
            state.timer = SystemClock().schedule(after: .seconds(1)) { [weak self] in self?.listen(true) }
          }
        }
        return state.listener
      }
      old?.end()
    }

    /// Nil if there is no thread for it.
    private func listener() -> Listener? {
      try? Listener(server: server, channel: channel) { [weak self] in
        self?.heard($0)
      } isBack: { [weak self] in
        guard let (post, isBack) = self?.state.withLock({ ($0.post, $0.isBack) }) else { return }
        post(.all)
        isBack()
      }
    }

    private func heard(_ payload: String) {
      let words = payload.split(separator: " ", maxSplits: 4)
      if words.count == 5, words[0] != session, words[1] == "lives" {
        guard let number = Int64(words[2]), let start = Int64(words[3]) else { return }
        let process = WorkerProcess(number: number, start: start, machine: String(words[4]))
        if let process { state.withLock(\.meet)(process) }
        return
      }
      guard words.count == 3, words[0] != session, let bits = UInt8(words[1]), words[2] == "*" || words[2] == session
      else { return }
      state.withLock(\.post)(ForeignChange(rawValue: bits))
    }

    /// Without LISTEN: makes everybody look, each time after about this interval. `look` asks for what is not looked for
    /// without a reason, since that costs more.
    func poll(_ isWanted: Bool, each interval: Duration, look: @escaping @Sendable () -> Void) {
      poll(isWanted, each: interval, after: nil, look: look)
    }

    /// `number`: which timer has fired. Another may have been set since, or none be wanted any more.
    private func poll(
      _ isWanted: Bool, each interval: Duration, after number: Int?, look: @escaping @Sendable () -> Void
    ) {
      state.withLock { state in
        guard number == nil || number == state.timers else { return }
        state.timer?.cancel()
        state.timer = nil
        state.timers += 1
        guard isWanted, !state.hasEnded else { return }
        state.timer = SystemClock().schedule(after: interval * Double.random(in: 0.75...1.25)) {
          [weak self, number = state.timers] in
          self?.state.withLock(\.post)([.work, .results, .stops])
          look()
          self?.poll(true, each: interval, after: number, look: look)
        }
      }
    }

    func end() {
      let listener = state.withLock { state in
        state.hasEnded = true
        state.timer?.cancel()
        (state.post, state.isBack, state.meet) = ({ _ in }, {}, { _ in })
        defer { state.listener = nil }
        return state.listener
      }
      listener?.end()
    }
  }

  extension Notices.State {
    /// Takes what may be sent now. What is left when all ends is for the last notice.
    fileprivate mutating func takeDue(at now: Duration) -> ForeignChange {
      guard !hasEnded, !waiting.isEmpty, sentAt.map({ now - $0 >= Notices.pause }) ?? true else { return [] }
      defer { waiting = [] }
      sentAt = now
      return waiting
    }

    /// When a timer is to look for what waits; nil if none has to, or one does.
    fileprivate mutating func takeAlarm() -> Duration? {
      guard !hasEnded, !waiting.isEmpty, !hasAlarm, let sentAt else { return nil }
      hasAlarm = true
      return sentAt + Notices.pause + Notices.grace
    }
  }

  /// A thread that waits for notices, and reconnects when needed. It ends when it is told to.
  final class Listener: Sendable {
    /// How it is told to end.
    private final class End: Sendable {
      private let hasCome = Lock(false)
      private let waker = Waker()

      func come() {
        hasCome.withLock { $0 = true }
        waker?.wake()
      }

      /// Waits for it that long. Returns whether it has come.
      func wait(_ duration: Duration) -> Bool {
        var file = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let longest = waker == nil ? min(duration, .seconds(1)) : duration
        _ = poll(&file, 1, Int32(clamping: longest.milliseconds))
        return hasCome.withLock(\.self)
      }

      /// Readable once it has come; without it, who waits looks each second.
      var descriptor: Int32 { waker?.descriptor ?? -1 }
    }

    private let over = End()

    /// Throws `JobError.Code.storeFailed` if there can be no thread.
    init(
      server: ServerName, channel: String, heard: @escaping @Sendable (String) -> Void,
      isBack: @escaping @Sendable () -> Void
    ) throws {
      try StoreThread.start("durable-listener") { [over] in
        var attempt = 0
        while !over.wait(.zero) {
          do {
            try Self.listen(server, channel, heard, until: over) {
              attempt = 0
              isBack()
            }
          } catch {
            attempt += 1
            let wait = min(0.1 * Double(1 << min(attempt, 8)), 15) * .random(in: 0.5...1)
            if over.wait(.seconds(wait)) { break }
          }
        }
      }
    }

    func end() { over.come() }

    private static func listen(
      _ server: ServerName, _ channel: String, _ heard: (String) -> Void, until over: End, begun: () -> Void
    ) throws {
      let connection = try server.connect()
      defer { PQfinish(connection) }
      PQsetNoticeProcessor(connection, { _, _ in }, nil)  // says nothing on standard error
      let result = PQexec(connection, "LISTEN \(Schema.quoted(channel))")
      defer { PQclear(result) }
      guard PQresultStatus(result) == PGRES_COMMAND_OK else {
        throw PostgresFailure(.lost, String(cString: PQerrorMessage(connection)))
      }
      begun()
      var hasRead = true
      while true {
        while let notice = PQnotifies(connection) {
          heard(String(cString: notice.pointee.extra))
          PQfreemem(notice)
        }
        guard PQsocket(connection) >= 0 else { throw PostgresFailure(.lost, "") }
        let longest = over.descriptor < 0 ? Duration.seconds(1) : nil
        hasRead = Libpq.wait(on: connection, for: longest, hasRead: hasRead, or: over.descriptor) == .came
        if over.wait(.zero) { return }
        guard Libpq.read(connection) else { throw PostgresFailure(.lost, "") }
      }
    }
  }
#endif
