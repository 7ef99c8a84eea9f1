#if Shell
  import Console
  import DurableJobs
  import DurableJobsHTTP
  import Foundation

  /// The news as lines for a person.
  extension DownloadScreen {
    /// The lines for a terminal of that many columns and rows: as many downloads as there is room for, then all in one.
    func lines(at now: Duration, width: Int, height: Int) -> [String] {
      // The last column stays free, since a terminal may break the line when something stands there.
      let width = min(max(width - 1, 1), Self.widest)
      let hasSummary = asked > 1 || obstacle != nil
      let room = max(height - 2, 1)
      // What runs is worth more than what waits.
      let ordered = shown.count <= room ? shown : shown.filter { !isWaiting($0) } + shown.filter { isWaiting($0) }
      let fitting = ordered.count <= room ? ordered[...] : ordered.prefix(room - 1)
      let names = DistinctTexts(fitting.compactMap { items[$0]?.name })
      var lines = fitting.compactMap { items[$0].map { line($0, names, at: now, width: width) } }
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
      switch items[id]?.phase {
      case .waiting, .inLine: true
      default: false
      }
    }

    private func line(_ item: Item, _ names: DistinctTexts, at now: Duration, width: Int) -> String {
      let nameWidth = width < 60 ? min(20, max(8, width - 27)) : width / 4
      func waits(_ when: String, _ reason: String) -> String {
        names.shortened(item.name, to: nameWidth).padded(nameWidth) + "  "
          + (when + reason).cut(to: max(0, width - nameWidth - 2))
      }
      switch item.phase {
      case .running:
        let speed = item.meter?.speed(at: now)
        let fraction = item.size.map { $0 == 0 ? 1 : Double(item.received) / Double($0) }
        let amount = item.size.map { item.received.asBytes(of: $0) } ?? item.received.asBytes
        return row(
          item.name, names, nameWidth, fraction: fraction, amount: amount, speed: speed.map(\.asSpeed) ?? "",
          left: timeLeft(item.size.map { $0 - item.received }, speed), width: width)
      case .elsewhere(let fraction, let message):
        return row(
          item.name, names, nameWidth, fraction: fraction, amount: message ?? "", speed: "elsewhere", left: "",
          width: width)
      case .waiting(let reason, let until):
        return waits(until.map { "again in \(max(.zero, $0 - now).roughly): " } ?? "waits: ", reason)
      case .inLine(let perHost, _):
        let others = perHost == 1 ? "another file of this host comes" : "other files of this host come"
        return waits("waits: ", "\(others), \(perHost) at once")
      case .queued, .succeeded, .failed:
        return item.name.cut(to: width)
      }
    }

    /// The pieces that there is room for, the most telling ones first, under those of the other lines.
    private func row(
      _ name: String, _ names: DistinctTexts, _ nameWidth: Int, fraction: Double?, amount: String, speed: String,
      left: String, width: Int
    ) -> String {
      var room = width - nameWidth - 7
      guard room >= 0 else {
        return names.shortened(name, to: max(width - 7, 1)).padded(max(width - 7, 1)) + "  "
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
      var text = names.shortened(name, to: forName).padded(forName)
      if !bar.isEmpty { text += "  " + bar }
      text += "  " + (fraction?.percent ?? "").padded(5, alignedRight: true)
      if hasAmount { text += "  " + amount.cut(to: 18).padded(18, alignedRight: true) }
      if hasSpeed { text += "  " + speed.padded(10, alignedRight: true) }
      if hasLeft { text += "  " + left.padded(6, alignedRight: true) }
      return text
    }

    private func summary(at now: Duration, width: Int) -> String {
      if let obstacle { return obstacle.cut(to: width) }
      let isSizeKnown = ofUnknownSize + toCome == 0 && size > 0
      let speed = shown.isEmpty ? nil : meter.speed(at: now)
      // By place in the line and by weight.
      var pieces: [(text: String, weight: Int)] = [("\(done) of \(asked) done", 0)]
      if failed > 0 { pieces.append(("\(failed) failed", 1)) }
      if refused > 0 { pieces.append(("\(refused) refused", 1)) }
      if received > 0 { pieces.append((isSizeKnown ? received.asBytes(of: size) : received.asBytes, 4)) }
      if let speed { pieces.append((speed.asSpeed, 2)) }
      let left = isSizeKnown ? timeLeft(size - received, speed) : ""
      if !left.isEmpty { pieces.append((left + " left", 3)) }
      while pieces.count > 1, pieces.map(\.text).joined(separator: ", ").columns > width {
        let lightest = pieces.indices.max { pieces[$0].weight < pieces[$1].weight }!
        pieces.remove(at: lightest)
      }
      let text = pieces.map(\.text).joined(separator: ", ")
      let fraction =
        isSizeKnown ? Double(received) / Double(size) : Double(done + failed + refused) / Double(max(asked, 1))
      let bar = ProgressBar(fraction: fraction, width: min(width - text.columns - 2, 30)).text
      return bar.columns >= 10 ? bar + "  " + text : text.cut(to: width)
    }

    /// All of it, when it is over: "3 of 10 done, 2 failed: 45.1 MB in 12 s, 3.8 MB/s".
    func outcome(after time: Duration) -> String {
      let failures = (failed > 0 ? ", \(failed) failed" : "") + (refused > 0 ? ", \(refused) refused" : "")
      let speed = fetched > 0 && time.seconds >= 0.1 ? ", \((Double(fetched) / time.seconds).asSpeed)" : ""
      // The bytes of those are counted, too.
      let left = asked - done - failed - refused
      let unfinished = left > 0 ? ", \(left) left" : ""
      let amount = fetched.asBytes + (left > 0 ? " of all" : "")
      return "\(done) of \(asked) done\(failures)\(unfinished): \(amount) in \(time.forPeople)\(speed)"
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
