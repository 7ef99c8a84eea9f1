#if Shell
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  /// Shows the logs of a job: what it wrote to stdout on stdout, and to stderr on stderr, a run after the other.
  struct LogPrinter {
    private let folder: JobFolder
    private let attempt: Int?
    private let json: Bool
    private var current: (number: Int, readers: [LogStream: CommandLogReader])?
    private var done = 0
    private var pending: [LogStream: Data] = [:]
    private var isInLine = false
    /// Whether there was anything to show.
    private(set) var hasShown = false
    private(set) var stdout = ShownOutput()
    private let place: @Sendable () -> RunPlace
    private let isUnwanted: @Sendable () -> Bool

    /// Only the runs of one attempt, if it is given. What ran elsewhere is shown until it `isUnwanted`.
    init(
      _ folder: JobFolder, attempt: Int?, json: Bool, place: @escaping @Sendable () -> RunPlace = { RunPlace() },
      isUnwanted: @escaping @Sendable () -> Bool = { false }
    ) {
      self.folder = folder
      self.attempt = attempt
      self.json = json
      self.place = place
      self.isUnwanted = isUnwanted
    }

    /// Shows what is there of the job's runs and was not shown yet. One that has no end is taken as under way, unless
    /// `isFinal`.
    mutating func show(_ job: JobSnapshot?, isFinal: Bool) {
      let runs = folder.runs(of: job).filter { attempt == nil || $0.attempt == attempt }
      for (index, run) in runs.enumerated() where run.number > done {
        if current?.number != run.number {
          current = (
            run.number,
            Dictionary(
              uniqueKeysWithValues: LogStream.allCases.map { ($0, folder.reader(of: run, $0)) })
          )
          hasShown = true
          stdout.beginRun()
          head(run, isAgain: runs.prefix(index).contains { $0.attempt == run.attempt })
        }
        // In turn, so that who writes much to one does not hide what the other says.
        var isMore = true
        // What is written meanwhile may never end.
        let ends = isFinal && place().isElsewhere(run) ? current?.readers.mapValues(\.end) : nil
        while isMore {
          isMore = false
          for stream in LogStream.allCases {
            guard var reader = current?.readers[stream] else { continue }
            // Also where there is nothing new: it may not have been possible to tell of what was shown last.
            if place().isHere { reader.tellFollowed() }
            // What others run may never end, and may write faster than anybody reads.
            if isUnwanted(), place().isElsewhere(run) {
              stdout.isBrokenOff = true
              return
            }
            if Task.isCancelled, place().isElsewhere(run), job?.state == .running { return }
            if let end = ends?[stream], reader.position >= end { continue }
            if showNext(of: &reader, stream, run) { isMore = true }
            current?.readers[stream] = reader
          }
        }
        // Later runs exist only after this one has ended, however that was.
        guard run.endedAt != nil || index < runs.count - 1 || isFinal else { return }
        for stream in LogStream.allCases { flush(stream, run) }
        foot(run, isCutShort: index < runs.count - 1)
        done = run.number
        current = nil
      }
    }

    private mutating func showNext(of reader: inout CommandLogReader, _ stream: LogStream, _ run: CommandRun) -> Bool {
      guard let part = reader.next() else { return false }
      if stream == .stdout { stdout.note(part) }
      put(part, stream, run)
      return true
    }

    /// An attempt that was cut short, or put off, is begun again under its number.
    private mutating func head(_ run: CommandRun, isAgain: Bool) {
      guard !json else { return }
      let again = isAgain ? " again (run \(run.number))" : ""
      say("── attempt \(run.attempt)\(again), started \(run.startedAt.forPeople)")
    }

    private mutating func foot(_ run: CommandRun, isCutShort: Bool) {
      let ending = run.ending?.withoutPasswords ?? (isCutShort ? "cut short: its worker died" : "no end yet")
      if json {
        Screen.out.json(
          RunRecord(
            attempt: run.attempt, run: run.number, startedAt: run.startedAt, endedAt: run.endedAt,
            ending: run.ending?.withoutPasswords))
      } else {
        let took = run.endedAt.map {
          " (after \(Duration.seconds(max(0, $0.timeIntervalSince(run.startedAt))).forPeople))"
        }
        say("── \(ending)\(took ?? "")")
      }
    }

    private mutating func say(_ text: String) {
      // On a screen, what has no line break at its end would run into this.
      let start = isInLine && Screen.out.isTerminal && Screen.error.isTerminal ? "\n" : ""
      isInLine = false
      Talk.line(start + Screen.error.coloured(text.withVisibleControls, .dim))
    }

    private mutating func put(_ part: CommandLogReader.Part, _ stream: LogStream, _ run: CommandRun) {
      let screen = stream == .stdout ? Screen.out : Screen.error
      if case .bytes(let data) = part, let last = data.last { isInLine = last != UInt8(ascii: "\n") }
      switch part {
      case .leftOut(let count):
        flush(stream, run)
        if json {
          Screen.out.json(LogRecord(run, stream, leftOut: count))
        } else {
          // Not into the data itself.
          say("── \(count) bytes of \(stream.rawValue) left out ──")
        }
      case .bytes(let data) where json:
        Screen.out.json(LogRecord(run, stream, text: String(decoding: complete(data, stream), as: UTF8.self)))
      case .bytes(let data) where screen.isTerminal:
        screen.write(Data(String(decoding: complete(data, stream), as: UTF8.self).forTerminal.utf8))
      case .bytes(let data):
        screen.write(data)
      }
    }

    /// What there is up to the last whole character. The rest waits for more.
    private mutating func complete(_ data: Data, _ stream: LogStream) -> Data {
      let all = (pending[stream] ?? Data()) + data
      var cut = all.endIndex
      for back in 1...3 where back <= all.count {
        let byte = all[all.endIndex - back]
        let length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
        if length > back { cut = all.endIndex - back }
        if byte & 0xc0 != 0x80 { break }
      }
      // It may be the first half of a line break.
      if all.last == UInt8(ascii: "\r") { cut = all.endIndex - 1 }
      pending[stream] = Data(all[cut...])
      return Data(all[..<cut])
    }

    /// What is left of a character that never became whole.
    private mutating func flush(_ stream: LogStream, _ run: CommandRun) {
      guard let rest = pending.removeValue(forKey: stream), !rest.isEmpty else { return }
      let text = String(decoding: rest, as: UTF8.self)
      if json { return Screen.out.json(LogRecord(run, stream, text: text)) }
      (stream == .stdout ? Screen.out : Screen.error).write(Data(text.utf8))
    }
  }

  /// Where the runs of a command are whose output is shown.
  struct RunPlace: Sendable {
    /// It runs here, and waits until its output is shown.
    var isHere = false
    /// The number of the last run here, or 0.
    var last = 0

    /// Later ones are another worker's.
    func isElsewhere(_ run: CommandRun) -> Bool { run.number > last }
  }

  /// What was shown of what a job wrote to stdout.
  struct ShownOutput: Sendable {
    /// What was not kept.
    private(set) var bytesLeftOut = 0
    /// What came of runs before the last one.
    private(set) var bytesOfEarlierRuns = 0
    /// Somebody did not wait for the rest.
    fileprivate(set) var isBrokenOff = false
    private var bytes = 0

    mutating func beginRun() { bytesOfEarlierRuns = bytes }

    mutating func note(_ part: CommandLogReader.Part) {
      switch part {
      case .bytes(let data): bytes += data.count
      case .leftOut(let count): bytesLeftOut += count
      }
    }
  }

  /// The end of a run, in JSON.
  private struct RunRecord: Encodable {
    var event = "run"
    var attempt: Int
    var run: Int
    var startedAt: Date
    @OrNull var endedAt: Date?
    @OrNull var ending: String?
  }

  /// What a run wrote, in JSON: text, or how many bytes of it were not kept.
  private struct LogRecord: Encodable {
    var event = "log"
    var attempt: Int
    var run: Int
    var stream: String
    var leftOut: Int?
    var text: String?

    init(_ run: CommandRun, _ stream: LogStream, leftOut: Int? = nil, text: String? = nil) {
      attempt = run.attempt
      self.run = run.number
      self.stream = stream.rawValue
      self.leftOut = leftOut
      self.text = text
    }
  }

  extension String {
    /// What somebody else wrote, so that it can do nothing to a terminal.
    var forTerminal: String {
      replacing("\r\n", with: "\n").withVisibleControls(keepingLines: true)
    }
  }

  /// Shows the logs of a job as they grow, until it has ended. If it is cancelled, it shows what has come by then.
  struct LogFollower: Sendable {
    let store: OpenStore
    let id: JobID
    let attempt: Int?
    let json: Bool
    /// Whether it tells what the job waits for.
    var tells = false
    var place: @Sendable () -> RunPlace = { RunPlace() }
    var isUnwanted: @Sendable () -> Bool = { false }

    /// How often it is looked for more.
    static let interval = Duration.milliseconds(100)

    @discardableResult
    func run() async throws -> ShownOutput {
      var printer = LogPrinter(
        store.folder(id), attempt: attempt, json: json, place: place, isUnwanted: isUnwanted)
      var report = ObstacleReport(store)
      if tells { report.own = try await store.patiently { try await OwnJobs(in: store) } }
      var job: JobSnapshot?
      defer { if tells { LiveLine.hide() } }
      do {
        while true {
          // Asked before the last look, so that nothing is written in between.
          job = try await look(job, &printer)
          // A command that runs here may end after its job, and notes how.
          let isFinal = (job?.state.isFinished ?? true) && !place().isHere
          printer.show(job, isFinal: isFinal)
          if job == nil, tells { throw JobError(.notFound, "job \(id) has been removed") }
          if isFinal { return printer.stdout }
          if tells, let job { try await report.look(at: job) }
          try await Task.sleep(for: Self.interval)
        }
      } catch is CancellationError {
        printer.show(job, isFinal: true)
        return printer.stdout
      }
    }

    /// The job as it is now. A command that runs here, or begins to meanwhile, waits for its output to be shown: until the
    /// store answers, it is shown of the job as it was `last`.
    private func look(_ last: JobSnapshot?, _ printer: inout LogPrinter) async throws -> JobSnapshot? {
      try await withThrowingTaskGroup(of: JobSnapshot??.self) { group in
        group.addTask { try await store.patientLook(at: id) }
        defer { group.cancelAll() }
        while true {
          group.addTask {
            try await Task.sleep(for: Self.interval)
            return .none
          }
          if case .some(let job)? = try await group.next() { return job }
          if place().isHere { printer.show(last, isFinal: false) }
        }
      }
    }
  }
#endif
