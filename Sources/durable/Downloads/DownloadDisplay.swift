#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import Foundation

  /// What `durable get` shows while it goes on: on a terminal bars that move, else a line for each event.
  final class DownloadDisplay: Sendable {
    private struct State {
      var screen = DownloadScreen()
      var diary = DownloadDiary()
      var block = LiveBlock(isReflowed: Screen.isReflowed)
      /// Lines that scroll away with the next frame.
      var finished: [String] = []
      var isChanged = true
      /// Who is not waited for any more draws nothing.
      var isClosed = false
      var drawnAt: Duration?
      var size: TerminalSize?
      /// Those that had news here since the last look: what a look says of them may be older.
      var fresh: Set<JobID> = []
      /// The identities of those that are asked for.
      var asked: Set<String> = []
      /// What others left behind and began here.
      var strangers: Set<JobID> = []
      /// Those whose end was told.
      var told: Set<JobID> = []
      /// Those whose failure stands on the screen with all of its reason.
      var explained: Set<JobID> = []
      var began: Duration
    }

    /// At most so many frames a second.
    private static let frame = Duration.milliseconds(100)

    private let json: Bool
    private let isQuiet: Bool
    let isLive: Bool
    /// What is told on one output is read on the other, too.
    private let isOneReader: Bool
    private let clock = SystemClock()
    private let state: Lock<State>
    private let resumption: Lock<(any DispatchSourceSignal)?>

    init(json: Bool, isQuiet: Bool = false) {
      self.json = json
      self.isQuiet = isQuiet
      // Both, or what goes to a file or into another program would be among the bars, or nowhere.
      isLive = !json && !isQuiet && Screen.out.canMove && Screen.error.canMove
      isOneReader = !json && Self.isSameFile(STDOUT_FILENO, STDERR_FILENO)
      state = Lock(State(began: clock.uptime))
      resumption = Lock(nil)
      guard isLive else { return }
      let source = Resumption.source(on: .global()) { [weak self] in
        self?.state.withLock { state in
          state.block.forget()
          state.isChanged = true
        }
      }
      resumption.withLock { $0 = source }
    }

    private static func isSameFile(_ one: Int32, _ other: Int32) -> Bool {
      var (first, second) = (stat(), stat())
      return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_dev == second.st_dev
        && first.st_ino == second.st_ino
    }

    // MARK: News

    /// These are asked for, and will be added or refused.
    func expect(_ downloads: [Download]) {
      state.withLock { state in
        state.screen.expect(downloads.count)
        state.asked = Set(downloads.map(\.identity))
      }
    }

    func add(_ id: JobID, name: String, size: Int64?) {
      state.withLock { state in
        state.screen.add(id, name: name, size: size)
        state.isChanged = true
      }
    }

    /// One that was asked for can't be had, because of another job.
    func refuse(because id: JobID, name: String, _ message: String) {
      state.withLock { state in
        state.screen.refuse()
        state.isChanged = true
        state.told.insert(id)
      }
      tellEnd(id, name: name, file: nil, failure: message)
    }

    func hear(_ context: JobContext, _ download: Download, _ event: Downloader.Event) {
      let now = clock.uptime
      let attempt = JobAttempt(context)
      if case .began = event, isStranger(context.id, download), !isQuiet {
        // By the limits of this call, and not of that one.
        say(
          "another call left \(download.url.withoutCredentials.withoutPasswords) behind; it is fetched, too, into \(download.folder)",
          inLine: { Talk.line($0.withVisibleControls) })
      }
      let line = state.withLock { state -> WorkLine? in
        state.screen.hear(attempt, download, event, at: now)
        state.fresh.insert(context.id)
        state.isChanged = true
        let line = state.diary.line(attempt, download, event, now: now)
        // What nobody asked for has a bar, as it takes its share, and no other lines.
        guard state.screen.isOwn(context.id) else { return nil }
        if let line, line.mark == .done || line.mark == .failed { state.told.insert(context.id) }
        guard isLive else { return line }
        if let line, line.mark == .done || line.mark == .failed, state.screen.asked > 1 || line.mark == .done {
          var named = line
          if line.mark == .failed { named.title = download.expectedName }
          Self.append(named, to: &state)
        }
        return nil
      }
      guard let line else { return }
      if json {
        Screen.out.json(JobEvent(attempt, download, line.mark, event))
      } else if !isQuiet {
        Screen.out.line(line.text(for: .out))
      }
    }

    /// Whether it is none of those that are asked for, and was not told yet.
    private func isStranger(_ id: JobID, _ download: Download) -> Bool {
      let identity = download.identity
      return state.withLock { !$0.asked.contains(identity) && $0.strangers.insert(id).inserted }
    }

    /// Whether it ended here, and its line was written.
    func hasTold(_ id: JobID) -> Bool { state.withLock { $0.told.contains(id) } }

    /// It has ended, perhaps in another process. `failure` is nil if it succeeded.
    func ended(_ id: JobID, name: String, job: JobSnapshot?, failure: String?) {
      let file = job.flatMap { DownloadedFile($0) }
      let now = clock.uptime
      let isNews = state.withLock { state in
        if failure == nil {
          state.screen.succeeded(id, size: file?.size, wasThere: file?.wasThere ?? false, at: now)
        } else {
          state.screen.failed(id)
        }
        state.isChanged = true
        return state.told.insert(id).inserted
      }
      if isNews { tellEnd(id, name: name, file: file, failure: failure) }
    }

    private func tellEnd(_ id: JobID, name: String, file: DownloadedFile?, failure: String?) {
      let line =
        failure.map { WorkLine(id: id, mark: .failed, title: name, detail: $0) }
        ?? file.map { WorkLine(id: id, $0) } ?? WorkLine(id: id, mark: .done, title: name)
      if isLive {
        state.withLock { state in
          guard state.screen.asked > 1 || failure == nil else { return }
          Self.append(line, to: &state)
        }
      } else if json {
        Screen.out.json(JobEvent(ended: id, file, failure: failure))
      } else if !isQuiet {
        Screen.out.line(line.text(for: .out))
      }
    }

    private static func append(_ line: WorkLine, to state: inout State) {
      let lines = line.lines(for: .error, width: Screen.error.width, withID: false)
      state.finished += lines
      // A long one is cut.
      if line.mark == .failed, lines.last?.contains("…") != true { state.explained.insert(line.id) }
    }

    /// Whether the reason of its failure was told in full where errors are read.
    func hasExplained(_ id: JobID) -> Bool {
      state.withLock { $0.explained.contains(id) || !isLive && !isQuiet && isOneReader && $0.told.contains(id) }
    }

    func isStopping() {
      let hint = isLive ? " Once more ends it at once." : ""
      let text = "Stopping.\(hint)"
      guard isLive else { return Talk.line(text) }
      state.withLock { state in
        state.screen.stops(saying: text)
        state.isChanged = true
      }
    }

    /// Something that a person should know, between the bars, or `inLine` where there are none.
    func say(_ text: String, inLine: (String) -> Void = { Talk.error($0) }) {
      guard isLive else { return inLine(text) }
      // The terminal would cut it with no sign of that.
      let width = Screen.error.width.map { max(1, $0 - 1) } ?? .max
      state.withLock { state in
        state.finished.append("durable: \(text.withVisibleControls)".cut(to: width))
        state.isChanged = true
      }
    }

    // MARK: What a look at the store says

    func beginLook() { state.withLock { $0.fresh = [] } }

    /// `keptBy`: what keeps it from running.
    func saw(_ job: JobSnapshot, until: Duration?, keptBy obstacle: String? = nil) {
      let now = clock.uptime
      state.withLock { state in
        guard !state.fresh.contains(job.id) else { return }
        state.screen.saw(job, until: until, keptBy: obstacle, at: now)
        state.isChanged = true
      }
    }

    /// One of ours does not run, and this is why. On a screen each has a line of its own anyway.
    func isKept(_ text: String) { if !isLive { Talk.line(text.withVisibleControls) } }

    /// All of ours are kept, and this is why the first is.
    func isHeldUp(by obstacle: String?) {
      state.withLock { state in
        guard state.screen.obstacle != obstacle?.withVisibleControls else { return }
        state.screen.isHeldUp(by: obstacle)
        state.isChanged = true
      }
    }

    /// Nothing runs, here or elsewhere.
    var isIdle: Bool { state.withLock { !$0.screen.isRunning } }

    /// How many downloads may run here: no more than ours can use, so that others of the store are left in peace.
    func slots(atMost limit: Int) -> Int {
      let now = clock.uptime
      return state.withLock { min(limit, max(1, $0.screen.slotsNeeded(at: now))) }
    }

    // MARK: Drawing

    /// Draws what has changed, until the task is cancelled.
    func drawUntilCancelled() async throws {
      while true {
        draw()
        try await Task.sleep(for: Self.frame)
      }
    }

    private func draw() {
      guard isLive, let size = Screen.error.size else { return }
      let now = clock.uptime
      let text = state.withLock { state -> String in
        let isTimeToMove = state.screen.isMoving && state.drawnAt.map { now - $0 >= .seconds(1) } ?? true
        guard !state.isClosed, state.isChanged || isTimeToMove || size != state.size else { return "" }
        let lines = state.screen.lines(at: now, width: size.columns, height: size.rows)
        defer {
          state.finished = []
          // Nothing tells that a shell has it in front again.
          state.isChanged = !Screen.error.isInFront
          state.drawnAt = now
          state.size = size
        }
        return Screen.error.text(of: &state.block, lines, below: state.finished, size: size)
      }
      Screen.error.write(Data(text.utf8))
    }

    /// Takes the bars away; what is finished stays.
    func close() {
      guard isLive else { return }
      let size = Screen.error.size ?? TerminalSize(columns: 80, rows: 24)
      let text = state.withLock { state in
        state.isClosed = true
        defer { state.finished = [] }
        return Screen.error.text(of: &state.block, [], below: state.finished, size: size)
      }
      Screen.error.write(Data(text.utf8))
    }

    /// Those of which something came here.
    var begun: Set<JobID> { state.withLock { $0.screen.begun } }

    /// All of it in a line, at the end.
    var outcome: String {
      let now = clock.uptime
      return state.withLock { $0.screen.outcome(after: now - $0.began) }
    }
  }
#endif
