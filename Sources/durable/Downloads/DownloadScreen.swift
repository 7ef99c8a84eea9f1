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
    private enum Phase {
      /// Its turn has not come.
      case queued
      case running
      /// In another process, which says so much of it.
      case elsewhere(fraction: Double?, message: String?)
      /// It goes on by itself, then if that is known.
      case waiting(reason: String, until: Duration?)
      case succeeded, failed

      var isShown: Bool {
        switch self {
        case .running, .elsewhere, .waiting: true
        case .queued, .succeeded, .failed: false
        }
      }
    }

    private struct Item {
      var name: String
      /// Whether it is one of those that were asked for, and counts.
      var isOwn: Bool
      var phase = Phase.queued
      var received: Int64 = 0
      var size: Int64?
      /// While it runs here.
      var meter: Speedometer?
    }

    private var items: [JobID: Item] = [:]
    /// Those that are shown, in the order in which they came.
    private var shown: [JobID] = []
    /// Of those that were asked for.
    private var total = 0
    private var done = 0
    private var failed = 0
    private var received: Int64 = 0
    private var size: Int64 = 0
    private var ofUnknownSize = 0
    /// What came here since the beginning.
    private var fetched: Int64 = 0
    private var meter = Speedometer()
    /// What keeps everything from going on.
    private(set) var obstacle: String?

    // MARK: News

    /// It was asked for.
    mutating func add(_ id: JobID, name: String, size: Int64?) {
      guard items[id] == nil else { return }
      items[id] = Item(name: name.withVisibleControls, isOwn: true, size: size)
      total += 1
      count(items[id]!, 1)
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
      fetched += new
      meter.read(fetched, at: now)
    }

    mutating func waits(_ id: JobID, reason: String, until: Duration? = nil) {
      change(id) { item in
        item.phase = .waiting(reason: reason.withVisibleControls, until: until)
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
      fetched += new
      meter.read(fetched, at: now)
    }

    mutating func failed(_ id: JobID) {
      change(id) { item in
        item.phase = .failed
        item.meter = nil
      }
    }

    mutating func isHeldUp(by obstacle: String?) { self.obstacle = obstacle?.withVisibleControls }

    /// An event of a download that runs here.
    mutating func hear(
      _ attempt: DownloadDiary.Attempt, _ download: Download, _ event: Downloader.Event, at now: Duration
    ) {
      let id = attempt.job
      switch event {
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
      @unknown default: break
      }
    }

    /// What the store says of one that has not ended. Of what runs here, the events know better.
    mutating func saw(_ job: JobSnapshot, until: Duration?, at now: Duration) {
      switch items[job.id]?.phase {
      case .queued, .elsewhere, .waiting: break
      case .running, .succeeded, .failed, nil: return
      }
      switch job.state {
      case .running:
        runsElsewhere(job.id, fraction: job.progress?.fraction, message: job.progress?.message)
      case .scheduled:
        guard case .waiting(let reason, _) = items[job.id]?.phase else {
          let reason = job.failures.last?.message ?? job.progress?.message ?? "scheduled"
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
        case .waiting(_, let until): return until.map { $0 > now + .seconds(1) } ?? false
        default: return false
        }
      }
      return total - done - failed - absent + strangers
    }

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
      received += Int64(sign) * item.received
      size += Int64(sign) * (item.size ?? 0)
    }

    /// Whether it is one of those that were asked for.
    func isOwn(_ id: JobID) -> Bool { items[id]?.isOwn ?? false }

    // MARK: Lines

    /// Something moves by itself, with no news: a time that passes.
    var isMoving: Bool { !shown.isEmpty }

    /// The lines for a terminal of that many columns and rows: as many downloads as there is room for, then all in one.
    func lines(at now: Duration, width: Int, height: Int) -> [String] {
      // The last column stays free, since a terminal may break the line when something stands there.
      let width = min(max(width - 1, 1), Self.widest)
      let hasSummary = total > 1 || obstacle != nil
      let room = max(height - 2, 1)
      // What runs is worth more than what waits.
      let ordered = shown.count <= room ? shown : shown.filter { !isWaiting($0) } + shown.filter { isWaiting($0) }
      let fitting = ordered.count <= room ? ordered[...] : ordered.prefix(room - 1)
      var lines = fitting.compactMap { items[$0].map { line($0, at: now, width: width) } }
      let rest = ordered.dropFirst(fitting.count)
      if !rest.isEmpty {
        let waiting = rest.count { isWaiting($0) }
        let which = waiting == 0 ? "" : waiting == rest.count ? " that wait" : ", \(waiting) of them waiting"
        lines.append("… and \(rest.count) more\(which)".cut(to: width))
      }
      if hasSummary { lines.append(summary(at: now, width: width)) }
      return lines.map { $0.withoutTrailingSpaces.cut(to: width) }
    }

    /// Wider lines are harder to read, not easier.
    private static let widest = 110

    private func isWaiting(_ id: JobID) -> Bool {
      if case .waiting = items[id]?.phase { true } else { false }
    }

    private func line(_ item: Item, at now: Duration, width: Int) -> String {
      let nameWidth = width < 60 ? min(20, max(8, width - 27)) : width / 4
      switch item.phase {
      case .running:
        let speed = item.meter?.speed(at: now)
        let fraction = item.size.map { $0 == 0 ? 1 : Double(item.received) / Double($0) }
        let amount = item.size.map { item.received.asBytes(of: $0) } ?? item.received.asBytes
        return row(
          item.name, nameWidth, fraction: fraction, amount: amount, speed: speed.map(\.asSpeed) ?? "",
          left: timeLeft(item.size.map { $0 - item.received }, speed), width: width)
      case .elsewhere(let fraction, let message):
        return row(
          item.name, nameWidth, fraction: fraction, amount: message ?? "", speed: "elsewhere", left: "", width: width)
      case .waiting(let reason, let until):
        let when = until.map { "again in \(max(.zero, $0 - now).roughly): " } ?? "waits: "
        return item.name.shortened(to: nameWidth).padded(nameWidth) + "  "
          + (when + reason).cut(to: max(0, width - nameWidth - 2))
      case .queued, .succeeded, .failed:
        return item.name.cut(to: width)
      }
    }

    /// The pieces that there is room for, the most telling ones first, under those of the other lines.
    private func row(
      _ name: String, _ nameWidth: Int, fraction: Double?, amount: String, speed: String, left: String, width: Int
    ) -> String {
      var room = width - nameWidth - 7
      guard room >= 0 else {
        return name.shortened(to: max(width - 7, 1)).padded(max(width - 7, 1)) + "  "
          + (fraction?.percent ?? "").padded(5, alignedRight: true).cut(to: max(0, width - 2))
      }
      func takes(_ columns: Int) -> Bool {
        guard room >= columns + 2 else { return false }
        room -= columns + 2
        return true
      }
      let hasSpeed = takes(10)
      let hasLeft = takes(6)
      let hasAmount = takes(18)
      let bar = ProgressBar(fraction: fraction, width: min(room - 2, 30)).text
      let spare = room - (bar.isEmpty ? 0 : bar.columns + 2)
      // Nothing takes the rest: the name may have it.
      let forName = nameWidth + spare
      var text = name.shortened(to: forName).padded(forName)
      if !bar.isEmpty { text += "  " + bar }
      text += "  " + (fraction?.percent ?? "").padded(5, alignedRight: true)
      if hasAmount { text += "  " + amount.cut(to: 18).padded(18, alignedRight: true) }
      if hasSpeed { text += "  " + speed.padded(10, alignedRight: true) }
      if hasLeft { text += "  " + left.padded(6, alignedRight: true) }
      return text
    }

    private func summary(at now: Duration, width: Int) -> String {
      if let obstacle { return obstacle.cut(to: width) }
      let isSizeKnown = ofUnknownSize == 0 && size > 0
      let speed = shown.isEmpty ? nil : meter.speed(at: now)
      // By place in the line and by weight.
      var pieces: [(text: String, weight: Int)] = [("\(done) of \(total) done", 0)]
      if failed > 0 { pieces.append(("\(failed) failed", 1)) }
      if received > 0 { pieces.append((isSizeKnown ? received.asBytes(of: size) : received.asBytes, 4)) }
      if let speed { pieces.append((speed.asSpeed, 2)) }
      let left = isSizeKnown ? timeLeft(size - received, speed) : ""
      if !left.isEmpty { pieces.append((left + " left", 3)) }
      while pieces.count > 1, pieces.map(\.text).joined(separator: ", ").columns > width {
        let lightest = pieces.indices.max { pieces[$0].weight < pieces[$1].weight }!
        pieces.remove(at: lightest)
      }
      let text = pieces.map(\.text).joined(separator: ", ")
      let fraction = isSizeKnown ? Double(received) / Double(size) : Double(done + failed) / Double(max(total, 1))
      let bar = ProgressBar(fraction: fraction, width: min(width - text.columns - 2, 30)).text
      return bar.columns >= 10 ? bar + "  " + text : text.cut(to: width)
    }

    /// All of it, when it is over: "3 of 10 done, 2 failed: 45.1 MB in 12 s, 3.8 MB/s".
    func outcome(after time: Duration) -> String {
      let failures = failed > 0 ? ", \(failed) failed" : ""
      let speed = fetched > 0 && time.seconds >= 0.1 ? ", \((Double(fetched) / time.seconds).asSpeed)" : ""
      return "\(done) of \(total) done\(failures): \(fetched.asBytes) in \(time.forPeople)\(speed)"
    }

    private func timeLeft(_ bytes: Int64?, _ speed: Double?) -> String {
      guard let bytes, let speed, speed >= 1, bytes > 0 else { return "" }
      return Duration.seconds(Double(bytes) / speed).roughly
    }
  }

  extension String {
    fileprivate var withoutTrailingSpaces: String {
      var text = self[...]
      while text.last == " " { text = text.dropLast() }
      return String(text)
    }
  }
#endif
