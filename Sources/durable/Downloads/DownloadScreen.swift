#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import Foundation

  /// What a terminal shows of downloads: a line for each that runs or waits, and one for all. News go in, lines come out.
  ///
  /// A value, with no clock and no terminal. `now` is always an uptime. What is told of a download costs the same however
  /// many there are.
  struct DownloadScreen {
    enum Phase {
      /// Its turn has not come.
      case queued
      case running
      /// In another process, which says so much of it.
      case elsewhere(fraction: Double?, message: String?)
      /// It goes on by itself, then if that is known.
      case waiting(reason: String, until: Duration?)
      /// Others of its host come, so many at once: in a slot here, or outside of one until then.
      case inLine(perHost: Int, until: Duration?)
      case succeeded, failed

      var isShown: Bool {
        switch self {
        case .running, .elsewhere, .waiting, .inLine: true
        case .queued, .succeeded, .failed: false
        }
      }
    }

    struct Item {
      var name: String
      /// Whether it is one of those that were asked for, and counts.
      var isOwn: Bool
      var phase = Phase.queued
      var received: Int64 = 0
      var size: Int64?
      /// While it runs here.
      var meter: Speedometer?
    }

    private(set) var items: [JobID: Item] = [:]
    /// Those that are shown, in the order in which they came.
    private(set) var shown: [JobID] = []
    /// Asked for, and not here yet.
    private(set) var toCome = 0
    /// Of those that were asked for and are here.
    private var total = 0
    private(set) var done = 0
    private(set) var failed = 0
    /// Those that another job stands in the way of.
    private(set) var refused = 0
    // Servers and lists may tell any size, and a few of the largest are more than fits.
    private var receivedInAll: Int128 = 0
    private var sizeInAll: Int128 = 0
    var received: Int64 { Int64(clamping: receivedInAll) }
    var size: Int64 { Int64(clamping: sizeInAll) }
    private(set) var ofUnknownSize = 0
    /// What came here since the beginning.
    private(set) var fetched: Int64 = 0
    private(set) var meter = Speedometer()
    /// What keeps everything from going on.
    private(set) var obstacle: String?
    private var isStopping = false

    /// How many are asked for.
    var asked: Int { total + toCome }

    /// Those of ours of which something came here, and that are not done.
    var begun: Set<JobID> {
      Set(items.filter { $0.value.isOwn && $0.value.received > 0 }.keys)
    }

    // MARK: News

    /// So many are asked for, and will be added or refused.
    mutating func expect(_ count: Int) { toCome = count }

    /// It was asked for. It may run already, as one that nobody had asked for.
    mutating func add(_ id: JobID, name: String, size: Int64?) {
      guard items[id]?.isOwn != true else { return }
      var item = items[id] ?? Item(name: name.withVisibleControls, isOwn: true)
      item.isOwn = true
      item.size = item.size ?? size
      items[id] = item
      total += 1
      toCome = max(0, toCome - 1)
      count(item, 1)
    }

    /// One that was asked for can't be had.
    mutating func refuse() {
      total += 1
      refused += 1
      toCome = max(0, toCome - 1)
    }

    /// It runs here. One that nobody asked for is shown, and not counted.
    mutating func began(_ id: JobID, name: String, at now: Duration) {
      if items[id] == nil { items[id] = Item(name: name.withVisibleControls, isOwn: false) }
      if fetched == 0 { meter.read(0, at: now) }
      change(id) { item in
        item.phase = .running
        item.received = 0
        item.meter = Speedometer()
        item.meter?.read(0, at: now)
      }
    }

    /// So many bytes of it were here before it began.
    mutating func goesOn(_ id: JobID, from bytes: Int64, at now: Duration) {
      change(id) { item in
        guard item.received < bytes else { return }
        item.received = bytes
        item.meter = Speedometer()
        item.meter?.read(bytes, at: now)
      }
    }

    /// So many bytes of it are here.
    mutating func received(_ id: JobID, _ bytes: Int64, of size: Int64?, at now: Duration) {
      var new: Int64 = 0
      change(id) { item in
        new = max(0, bytes - item.received)
        item.received = bytes
        item.size = size ?? item.size
        item.meter?.read(bytes, at: now)
      }
      came(new)
      meter.read(fetched, at: now)
    }

    mutating func waits(_ id: JobID, reason: String, until: Duration? = nil) {
      change(id) { item in
        item.phase = .waiting(reason: reason.withVisibleControls, until: until)
        item.meter = nil
      }
    }

    mutating func isInLine(_ id: JobID, perHost: Int, until: Duration? = nil) {
      change(id) { item in
        item.phase = .inLine(perHost: perHost, until: until)
        item.meter = nil
      }
    }

    mutating func runsElsewhere(_ id: JobID, fraction: Double?, message: String?) {
      change(id) { item in
        item.phase = .elsewhere(fraction: fraction, message: message?.withVisibleControls)
        item.meter = nil
      }
    }

    /// It does not run now, and its turn comes again.
    mutating func isQueued(_ id: JobID) {
      change(id) { item in
        item.phase = .queued
        item.meter = nil
      }
    }

    mutating func succeeded(_ id: JobID, size: Int64?, wasThere: Bool, at now: Duration) {
      var new: Int64 = 0
      change(id) { item in
        // What came since the last news.
        if case .running = item.phase, let size, !wasThere { new = max(0, size - item.received) }
        item.phase = .succeeded
        item.size = size ?? item.size
        item.received = item.size ?? item.received
        item.meter = nil
      }
      came(new)
      meter.read(fetched, at: now)
    }

    mutating func failed(_ id: JobID) {
      change(id) { item in
        item.phase = .failed
        item.meter = nil
      }
    }

    /// A look that was under way when all was to stop knows nothing of that.
    mutating func isHeldUp(by obstacle: String?) { if !isStopping { self.obstacle = obstacle?.withVisibleControls } }

    /// What is said from now on in place of what keeps ours.
    mutating func stops(saying text: String) {
      isHeldUp(by: text)
      isStopping = true
    }

    /// An event of a download that runs here.
    mutating func hear(
      _ attempt: JobAttempt, _ download: Download, _ event: Downloader.Event, at now: Duration
    ) {
      let id = attempt.job
      switch event {
      case .hasNoTurn(let perHost): isInLine(id, perHost: perHost)
      case .began: began(id, name: download.expectedName, at: now)
      case .received(let bytes, let size): received(id, bytes, of: size, at: now)
      case .goesOn(let bytes): goesOn(id, from: bytes, at: now)
      case .waits(let reason, let time): waits(id, reason: reason, until: now + time)
      case .succeeded(let file): succeeded(id, size: file.size, wasThere: file.wasThere, at: now)
      case .failed(let error, let isFinal, let retryAfter):
        if isFinal || attempt.number >= attempt.of {
          failed(id)
        } else {
          waits(id, reason: error.message, until: retryAfter.map { now + $0 })
        }
      case .stopped: isQueued(id)
      case .remarked: break
      @unknown default: break
      }
    }

    /// What the store says of one that has not ended. Of what runs here, the events know better.
    mutating func saw(_ job: JobSnapshot, until: Duration?, keptBy obstacle: String? = nil, at now: Duration) {
      switch items[job.id]?.phase {
      case .queued, .elsewhere, .waiting, .inLine: break
      case .running, .succeeded, .failed, nil: return
      }
      switch job.state {
      case .ready, .blocked, .scheduled:
        if let obstacle { return waits(job.id, reason: obstacle) }
      default: break
      }
      if case .inLine(let perHost, let known) = items[job.id]?.phase, job.state != .running || known == nil {
        return isInLine(job.id, perHost: perHost, until: job.state == .running ? nil : until ?? known ?? now)
      }
      switch job.state {
      case .running:
        runsElsewhere(job.id, fraction: job.progress?.fraction, message: job.progress?.message)
      case .scheduled:
        guard case .waiting(let reason, _) = items[job.id]?.phase else {
          let reason = job.failures.last?.message ?? job.awaited ?? "scheduled"
          return waits(job.id, reason: reason, until: until)
        }
        waits(job.id, reason: reason, until: until)
      default:
        isQueued(job.id)
      }
    }

    /// So many may run at once with none of ours waiting for a slot: ours that could run, and strangers that hold one.
    func slotsNeeded(at now: Duration) -> Int {
      let strangers = shown.count { items[$0]?.isOwn == false }
      let absent = shown.count { id in
        guard let item = items[id], item.isOwn else { return false }
        switch item.phase {
        case .elsewhere: return true
        case .waiting(_, let until), .inLine(_, let until): return until.map { $0 > now + .seconds(1) } ?? false
        default: return false
        }
      }
      return total - done - failed - refused - absent + strangers
    }

    /// Something moves by itself, with no news: a time that passes.
    var isMoving: Bool { !shown.isEmpty }

    /// Something is being fetched, here or elsewhere, or comes back by itself.
    var isRunning: Bool {
      shown.contains { id in
        switch items[id]?.phase {
        case .running, .elsewhere, .inLine: true
        case .waiting(_, let until): until != nil
        case .queued, .succeeded, .failed, nil: false
        }
      }
    }

    /// Whether it is one of those that were asked for.
    func isOwn(_ id: JobID) -> Bool { items[id]?.isOwn ?? false }

    private mutating func change(_ id: JobID, _ body: (inout Item) -> Void) {
      guard var item = items[id] else { return }
      let wasShown = item.phase.isShown
      count(item, -1)
      body(&item)
      count(item, 1)
      if !wasShown, item.phase.isShown { shown.append(id) }
      if wasShown, !item.phase.isShown { shown.removeAll { $0 == id } }
      items[id] = item.isOwn || item.phase.isShown ? item : nil
    }

    private mutating func came(_ bytes: Int64) {
      let sum = fetched.addingReportingOverflow(bytes)
      fetched = sum.overflow ? .max : sum.partialValue
    }

    private mutating func count(_ item: Item, _ sign: Int) {
      guard item.isOwn else { return }
      switch item.phase {
      case .succeeded: done += sign
      case .failed:
        // What will not come is not waited for.
        failed += sign
        return
      default: if item.size == nil { ofUnknownSize += sign }
      }
      receivedInAll += Int128(sign) * Int128(item.received)
      sizeInAll += Int128(sign) * Int128(item.size ?? 0)
    }
  }
#endif
