#if Shell
  import Console
  import DurableJobs
  import DurableJobsSQLite
  import Foundation

  /// Jobs, one a line, cut to the width of the terminal.
  struct JobTable {
    let jobs: [JobSnapshot]
    var workers: [JobID: StoredWorker] = [:]

    func write(to screen: Screen) {
      let idWidth = jobs.map { "\($0.id)".count }.max() ?? 0
      let stateWidth = jobs.map { $0.state.rawValue.count }.max() ?? 0
      for job in jobs {
        let head = "\(job.id)".padded(idWidth, alignedRight: true) + "  "
        let state = job.state.rawValue.padded(stateWidth)
        let title = job.title.withVisibleControls
        let detail = job.detail(runBy: workers[job.id]).withVisibleControls
        var text = title + (detail.isEmpty ? "" : "  " + detail)
        if let width = screen.width {
          // The detail tells more than the end of a long command, so it keeps up to half of the room.
          let room = max(width - head.columns - stateWidth - 2, 10)
          let forDetail = detail.isEmpty ? 0 : min(detail.columns + 2, max(room / 2, room - title.columns))
          text = title.shortened(to: room - forDetail) + (detail.isEmpty ? "" : "  " + detail.cut(to: forDetail - 2))
        }
        screen.write(Data((head + screen.coloured(state, job.state.colour) + "  " + text + "\n").utf8))
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
    /// What is worth knowing about it beside its state, in a few words and without passwords.
    func detail(runBy worker: StoredWorker? = nil) -> String {
      var parts: [String] = []
      switch state {
      case .scheduled:
        if let runAt { parts.append(runAt.forPeople) }
        if attempt > 0, let last = failures.last { parts.append("after attempt \(attempt): \(last.message)") }
        if attempt == 0, let waits = progress?.message { parts.append(waits) }
      case .running:
        if let stopAsked { parts.append("being \(stopAsked.rawValue)") }
        if let trouble = worker?.standing.trouble(with: self) {
          parts.append("its worker \(trouble)")
        } else if let startedAt {
          parts.append("since \(Duration.seconds(max(0, Date().timeIntervalSince(startedAt))).forPeople)")
        }
        if attempt > 1 { parts.append("attempt \(attempt)") }
        if let progress {
          parts.append("\(Int(progress.fraction * 100)) %" + (progress.message.map { " \($0)" } ?? ""))
        }
      case .succeeded:
        if let startedAt, let finishedAt {
          parts.append(Duration.seconds(max(0, finishedAt.timeIntervalSince(startedAt))).forPeople)
        }
      case .failed:
        if let last = failures.last { parts.append(last.message) }
      case .suspended, .cancelled, .skipped:
        if let reason { parts.append(reason) }
      case .blocked:
        if !edges.isEmpty { parts.append("after " + edges.map(\.forPeople).joined(separator: ", ")) }
        if let lane { parts.append("in lane \(lane.name)") }
      case .ready:
        break
      }
      if crashes > 0 { parts.append(crashes == 1 ? "1 crash" : "\(crashes) crashes") }
      return parts.joined(separator: ", ").withoutPasswords
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
    var forPeople: String {
      let parts = JobState.allCases.filter { self[$0] > 0 }.map { "\(self[$0]) \($0.rawValue)" }
      return parts.isEmpty ? "no jobs" : parts.joined(separator: ", ")
    }
  }
#endif
