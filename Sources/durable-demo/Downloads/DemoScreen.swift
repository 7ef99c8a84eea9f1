#if Shell
  import Console
  import Foundation

  /// The download screen: the controls and two lists. Keys and events go in, lines come out.
  struct DemoScreen: Sendable {
    enum Phase: Sendable {
      case idle
      case running
      case ended(DownloadOutcome)
      /// It could not even be tried, for this reason.
      case broken(String)
    }

    enum Action: Hashable, Sendable {
      case start(DownloadControls)
      case quit
    }

    private(set) var controls: DownloadControls
    private(set) var phase = Phase.idle
    /// In the order in which they were enqueued.
    private(set) var downloads: [DemoDownload] = []
    /// What the workers do.
    private(set) var notice = ""
    private(set) var size = 0

    init(_ controls: DownloadControls) { self.controls = controls }

    var isRunning: Bool { if case .running = phase { true } else { false } }

    /// What a key asks for. The controls do nothing while it runs.
    mutating func press(_ key: DemoKey) -> Action? {
      if key == .quit { return .quit }
      guard !isRunning else { return nil }
      switch key {
      case .left: controls.slideJobCount(up: false)
      case .right: controls.slideJobCount(up: true)
      case .down: controls.slideMaxConcurrent(up: false)
      case .up: controls.slideMaxConcurrent(up: true)
      case .random: controls.isTimeRandom.toggle()
      case .start:
        phase = .running
        downloads = []
        notice = "preparing …"
        return .start(controls)
      case .quit: break
      }
      return nil
    }

    mutating func take(_ event: DownloadEvent) {
      switch event {
      case .began(_, let size):
        self.size = size
      case .workerStarted(let process):
        notice = killed.map { "\($0); worker \(process) goes on" } ?? "worker \(process) works"
      case .workerKilled(let process, let fraction):
        killed = "worker \(process) killed with SIGKILL at \(fraction.percent)"
        notice = killed ?? ""
      case .looked(let downloads):
        self.downloads = downloads
      case .ended(let outcome):
        phase = .ended(outcome)
        killed = nil
      }
    }

    /// The run ended without an outcome.
    mutating func breakOff(_ reason: String) {
      phase = .broken(reason)
      killed = nil
    }

    private var killed: String?

    /// What is under way first, then what waits.
    var unfinished: [DemoDownload] {
      func rank(_ download: DemoDownload) -> Int {
        switch download.state {
        case .failed: 0
        case .inProgress: 1
        case .pending(let fraction): fraction > 0 ? 2 : 3
        case .completed: 4
        }
      }
      // By rank and then by number: `sort` need not keep the order of equals.
      return downloads.enumerated().filter { rank($0.element) < 4 }
        .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
    }

    /// The newest first.
    var completed: [DemoDownload] {
      let dated = downloads.enumerated().compactMap { index, download -> (date: Date, index: Int)? in
        if case .completed(let date) = download.state { (date, index) } else { nil }
      }
      return dated.sorted { ($0.date, $0.index) > ($1.date, $1.index) }.map { downloads[$0.index] }
    }

    /// How much of all downloads is there, from 0 to 1.
    var fraction: Double {
      downloads.isEmpty ? 0 : downloads.reduce(0) { $0 + $1.fraction } / Double(downloads.count)
    }
  }
#endif
