#if Shell
  import Console
  import DurableJobs
  import Foundation

  /// Jobs, one a line: id, state, time, what it is and why it is so, cut to the width of the terminal. A reason that has no
  /// room in the line has up to two of its own; on a narrow terminal the time stands there, too.
  struct JobTable {
    let jobs: [JobSnapshot]
    var workers: [JobID: StoredWorker] = [:]
    var paused: Set<String> = []
    /// Conditions that hold nowhere.
    var absent: Set<JobConstraint> = []
    /// Queues on which a worker is; nil where that is not told.
    var served: Set<String>?
    var now = Date()

    struct Columns {
      fileprivate let id: Int
      fileprivate let state: Int
      fileprivate let time: Int

      init(_ jobs: [JobSnapshot], now: Date) {
        id = jobs.map { "\($0.id)".count }.max() ?? 0
        state = jobs.map { $0.state.rawValue.count }.max() ?? 0
        time = jobs.map { $0.time(at: now).columns }.max() ?? 0
      }
    }

    private static let narrow = 60

    func write(to screen: Screen) {
      for line in lines(for: screen, width: screen.width, Columns(jobs, now: now)) { screen.line(line) }
    }

    func lines(for screen: Screen, width: Int?, _ columns: Columns) -> [String] {
      let titles = jobs.map { $0.title.withVisibleControls }
      // Nothing is cut without a width.
      let texts = DistinctTexts(width == nil ? [] : titles)
      return zip(jobs, titles).flatMap { job, title in
        let head = "\(job.id)".padded(columns.id, alignedRight: true) + "  "
        let state = screen.coloured(job.state.rawValue.padded(columns.state), job.state.colour) + "  "
        let time = job.time(at: now)
        let why = job.detail(runBy: workers[job.id], paused: paused, absent: absent, served: served).withVisibleControls
        func below(_ text: String, _ width: Int) -> [String] {
          let indent = String(repeating: " ", count: columns.id + 2)
          return text.wrapped(to: width - columns.id - 2, lines: 2).map { indent + screen.coloured($0, .dim) }
        }
        if let width, width < Self.narrow {
          let rest = [time, why].filter { !$0.isEmpty }.joined(separator: ", ")
          return [head + state + texts.shortened(title, to: max(width - columns.id - columns.state - 4, 8))]
            + below(rest, width)
        }
        let start = head + state + time.padded(columns.time) + "  "
        guard let width else { return [start + title + (why.isEmpty ? "" : "  " + why)] }
        let room = max(width - columns.id - columns.state - columns.time - 6, 10)
        // The reason tells more than the end of a long command, so it may have half of the room.
        let forWhy = why.isEmpty ? 0 : why.columns + 2
        guard forWhy <= max(room / 2, room - title.columns) else {
          return [start + texts.shortened(title, to: room)] + below(why, width)
        }
        return [start + texts.shortened(title, to: room - forWhy) + (why.isEmpty ? "" : "  " + why)]
      }
    }
  }

  extension JobState {
    var colour: Colour {
      switch self {
      case .succeeded: .green
      case .failed: .red
      case .running: .blue
      case .suspended, .scheduled, .blocked: .yellow
      case .ready: .bold
      case .cancelled, .skipped: .dim
      }
    }
  }

  extension JobSnapshot {
    /// Since when it is so, or when it goes on, as in "12 min ago".
    func time(at now: Date) -> String {
      func length(since date: Date) -> String { Duration.seconds(max(0, now.timeIntervalSince(date))).roughly }
      switch state {
      case .scheduled:
        return runAt.map { $0 > now ? "in \(Duration.seconds($0.timeIntervalSince(now)).roughly)" : "due" } ?? ""
      case .running: return startedAt.map { "for \(length(since: $0))" } ?? ""
      case .succeeded, .failed, .cancelled, .skipped: return finishedAt.map { "\(length(since: $0)) ago" } ?? ""
      case .ready, .blocked, .suspended: return "\(length(since: createdAt)) old"
      }
    }

    /// What its handler waited for last, if it said so.
    var awaited: String? {
      progress?.message.map { $0.hasPrefix(Self.waitsFor) ? String($0.dropFirst(Self.waitsFor.count)) : $0 }
    }

    /// How handlers of this program begin what they say when they put a job off.
    static let waitsFor = "waits: "

    /// What is worth knowing about it beside its state and its time, in a few words and without passwords.
    func detail(
      runBy worker: StoredWorker? = nil, paused: Set<String> = [], absent: Set<JobConstraint> = [],
      served: Set<String>? = nil
    ) -> String {
      var parts: [String] = []
      if state == .ready || state == .scheduled {
        let missing = requires.intersection(absent).map(\.rawValue).sorted()
        if !missing.isEmpty { parts.append("requires \(missing.joined(separator: ", "))") }
      }
      switch state {
      case .scheduled:
        if attempt > 0, let last = failures.last {
          parts.append("attempt \(attempt) of \(maxAttempts) failed: \(last.message)")
        } else if attempt == 0, let waits = progress?.message {
          parts.append(waits)
        }
      case .running:
        if let stopAsked { parts.append("being \(stopAsked.rawValue)") }
        if let trouble = worker?.standing.trouble(with: self) { parts.append("its worker \(trouble)") }
        if attempt > 1 { parts.append("attempt \(attempt)") }
        if let progress {
          parts.append("\(Int(progress.fraction * 100)) %" + (progress.message.map { " \($0)" } ?? ""))
        }
      case .succeeded:
        if let startedAt, let finishedAt {
          parts.append("took \(Duration.seconds(max(0, finishedAt.timeIntervalSince(startedAt))).forPeople)")
        }
      case .failed:
        if let last = failures.last { parts.append(last.message) }
      case .suspended, .cancelled, .skipped:
        if let reason { parts.append(reason) }
      case .blocked:
        if !edges.isEmpty { parts.append("after " + edges.map(\.forPeople).joined(separator: ", ")) }
        if let lane { parts.append("in lane \(lane.name)") }
      case .ready:
        if paused.contains(queue) { parts.append("the queue \(queue) is paused") }
      }
      // Who starts a worker without a word starts one for the default queue.
      let isUnserved = served.map { !$0.contains(queue) && !($0.isEmpty && queue == "default") } ?? false
      if isUnserved, !state.isFinished, !paused.contains(queue) { parts.append("in queue \(queue)") }
      if crashes > 0 { parts.append(crashes == 1 ? "1 crash" : "\(crashes) crashes") }
      return parts.joined(separator: ", ").withoutPasswords.withLocalDeadline
    }
  }

  extension JobEdge {
    /// As in "the end of 5".
    var forPeople: String {
      switch target {
      case .job(let id): condition.forPeople("\(id)")
      case .key(let key): condition.forPeople("'\(key)'")
      case .sibling(let place): condition.forPeople("\(place)")
      }
    }
  }

  extension StoredWorker.Standing {
    /// What is to be said of a worker with this job, if it does not simply go on.
    func trouble(with job: JobSnapshot) -> String? {
      switch self {
      case .alive: nil
      case .silent: words
      case .dead where job.stopAsked == nil: "\(words); the next worker runs it again"
      case .dead: "\(words); the next worker ends that"
      }
    }
  }

  extension JobCounts {
    /// As in "3 ready, 1 running, 20 succeeded".
    var forPeople: String { lines(width: .max)[0] }

    /// The same, in as many lines as it takes. `orphans`: of those that run, the workers of so many have died.
    func lines(width: Int, orphans: Int = 0) -> [String] {
      let parts = JobState.allCases.filter { self[$0] > 0 }.map { state in
        "\(self[state]) \(state.rawValue)"
          + (state == .running && orphans > 0 ? " (\(orphans) whose worker has died)" : "")
      }
      return parts.dropFirst().reduce(into: [parts.first ?? "no jobs"]) { lines, part in
        // With room for a comma behind it.
        let longer = "\(lines.last!), \(part)"
        if longer.count < width {
          lines[lines.count - 1] = longer
        } else {
          lines[lines.count - 1] += ","
          lines.append(part)
        }
      }
    }
  }
#endif
