#if Shell
  import Console
  import DurableJobs
  import DurableJobsProcess
  import Foundation

  /// What keeps a job, for somebody at a shell: with the commands that help.
  extension JobExplanation.Reason {
    /// The same one at another time is no news.
    var topic: JobExplanation.Reason {
      switch self {
      case .start: .start(.distantPast)
      case .backOff(_, let failure):
        .backOff(
          until: .distantPast,
          after: AttemptFailure(attempt: failure.attempt, at: .distantPast, message: failure.message))
      case .putOff(_, let crashes): .putOff(until: .distantPast, crashes: crashes)
      case .slotsTaken: .slotsTaken(running: 0, workers: 0)
      case .limit(let queue, _): .limit(queue, running: 0)
      case .rate(let queue, let rate, _): .rate(queue, rate, next: .distantPast)
      case .laneRate(let lane, let rate, _): .laneRate(lane, rate, next: .distantPast)
      case .uniqueKey(let key, let job, _): .uniqueKey(key, job, .ready)
      case .needs(let job, _, let condition): .needs(job, .ready, condition)
      case .lane(let name, let job, let state): .lane(name, job, state == .failed ? .failed : .ready)
      default: self
      }
    }

    /// It would go on if there was a worker for it.
    var isLackOfWorker: Bool {
      switch self {
      case .noWorker, .queueUnserved: true
      case .kindUnknown(let kind): OpenStore.kinds.contains(kind)
      default: false
      }
    }

    /// When it is over, if that is known.
    var end: Date? {
      switch self {
      case .start(let time), .backOff(let time, _), .putOff(let time, _), .rate(_, _, let time),
        .laneRate(_, _, let time):
        time
      default: nil
      }
    }

    /// What it waits for, as in "job 5, which is running"; nil for what is told in a sentence of its own.
    var awaited: String? { awaited { $0.forPeople } }

    /// `tell` says when something is.
    private func awaited(_ tell: (Date) -> String) -> String? {
      switch self {
      case .start(let time): "its time, \(tell(time))"
      case .needs(let job, let state, let condition): condition.forPeople("job \(job)") + ", which is \(state.rawValue)"
      case .needsKey(let key, let condition):
        condition.forPeople("the key '\(key.withoutPasswords)'") + ", which no job has yet that can run"
      case .uniqueKey(let key, let job, .failed):
        "job \(job) of its unique key '\(key.withoutPasswords)', which failed and holds their lane"
      case .uniqueKey(let key, let job, let state):
        "job \(job) of its unique key '\(key.withoutPasswords)', which is \(state.rawValue)"
      case .lane(let name, let job, let state): LaneHead(lane: name, job: job, state: state).text
      case .constraint(let name, .setByHand): "\(name), which was set by hand to no"
      case .constraint(let name, .absent): "\(name)"
      case .constraint(let name, .unprovided): "\(name), which no worker provides"
      case .limit(let queue, let running): "the limit of the queue '\(queue)': \(running) of \(running) run"
      case .rate(let queue, let rate, let next):
        "the rate of the queue '\(queue)', \(rate): the next begins \(tell(next))"
      case .laneRate(let lane, let rate, let next):
        "the rate of the lane '\(lane)', \(rate): it begins \(tell(next))"
      case .slotsTaken(let running, _): "a free slot: \(running) other\(running == 1 ? " runs" : "s run") now"
      default: nil
      }
    }

    /// The same as part of a sentence; with the job, also what its handler said when it put it off.
    func cause(
      in store: OpenStore, of job: JobSnapshot? = nil, _ tell: (Date) -> String = { $0.forPeople }
    ) -> String {
      if let awaited = awaited(tell) { return "waits for \(awaited)" }
      if isLackOfWorker { return "waits: no worker is running for it" }
      return switch self {
      case .circle(let jobs): "can't run: of the jobs \(jobs.list) each waits for the next, and the last for the first"
      case .paused(let queue): "waits: the queue '\(queue)' is paused"
      case .kindUnknown(let kind): "waits: no worker runs jobs of the kind '\(kind)', nor does 'durable work'"
      case .backOff(let time, let failure):
        "runs again \(tell(time)), after attempt \(failure.attempt): \(failure.message.withoutPasswords)"
      case .putOff(let time, let crashes):
        "was put off, and runs again \(tell(time))" + (job?.whyPutOff.map { ": \($0)" } ?? "")
          + (crashes > 0 ? "; \(crashes) crash\(crashes == 1 ? "" : "es") so far" : "")
      case .held(let holder, let reason):
        (holder == .undecodable ? "can't be read, and is suspended" : "is suspended")
          + (reason.map { ": \($0.withoutPasswords)" } ?? "")
      case .running(let worker?, _, _) where worker.standing != .alive: "runs, and its worker \(worker.standing.words)"
      case .running(_, let since, let asked):
        "runs" + (since.map { ", begun \($0.forPeople)" } ?? "") + (asked.map { ", being \($0.rawValue)" } ?? "")
      case .ended(let state, let reason, _):
        "has ended: \(state.rawValue)"
          + (reason.map {
            ": \($0.withoutPasswords.withLocalDeadline.replacing("\(state.rawValue): ", with: "", maxReplacements: 1))"
          } ?? "")
      default: "waits: \(self)"
      }
    }

    /// What somebody can do for this job.
    func advice(for id: JobID, in store: OpenStore, queue: String) -> String? {
      if isLackOfWorker { return "'\(store.command("work", queue: queue))' starts one" }
      return switch self {
      case .circle(let jobs):
        "'\(store.command("cancel ID"))' of one of \(jobs.list) lets the others go on, but for those that need that one"
      case .kindUnknown(let kind): "start the program that runs '\(kind)'"
      case .paused(let queue): "'\(store.command("unpause", queue: queue))' lets it go on"
      case .limit(let queue, _), .rate(let queue, _, _):
        "'\(store.command("limits set", queue: queue))' sets others, and 'clear' none"
      case .laneRate(let lane, _, _):
        "'\(store.command("limits set --lane \(SystemText(lane).shellQuoted)"))' sets another for those after it"
      case .held: "'\(store.command("resume \(id)"))' lets it go on"
      case .lane(let name, let job, let state): LaneHead(lane: name, job: job, state: state).advice(in: store)
      case .uniqueKey(_, let job, .failed):
        "'\(store.command("remove \(job)"))' lets it go on, or '\(store.command("cancel \(id)"))' lets that be retried"
      case .needs(let job, .suspended, _), .uniqueKey(_, let job, .suspended):
        "'\(store.command("resume \(job)"))' lets that go on"
      case .constraint(let name, .setByHand):
        "'\(store.command("constraint set \(name.quoted) yes"))' says that it holds, and 'clear' leaves it to the workers"
      case .constraint(let name, .unprovided):
        "'\(store.command("constraint set \(name.quoted) yes"))' says that it holds"
      case .ended(.failed, _, _), .ended(.cancelled, _, _): "'\(store.command("retry \(id)"))' runs it again"
      case .ended(_, _, let cause?): "'\(store.command("retry \(cause)"))' opens it again"
      default: nil
      }
    }

    /// A line for a person who waits for this job.
    func text(of id: JobID, in store: OpenStore, queue: String, job: JobSnapshot? = nil) -> String {
      let cause = "Job \(id) \(cause(in: store, of: job))"
      if isLackOfWorker { return "\(cause). Start one with: \(store.command("work", queue: queue))" }
      return cause + (advice(for: id, in: store, queue: queue).map { "; \($0)" } ?? "")
    }
  }

  extension JobSnapshot {
    /// What its handler said when it put it off. What it had said before its process ended is no reason.
    var whyPutOff: String? {
      crashes > 0 && progress?.message?.hasPrefix(Self.waitsFor) != true ? nil : awaited?.withoutPasswords
    }
  }

  extension JobConstraint {
    fileprivate var quoted: String { SystemText(rawValue).shellQuoted }
  }

  extension Sequence<JobID> {
    var list: String { map(\.description).joined(separator: ", ") }
  }

  extension JobEdge.Condition {
    /// As in "the end of 5".
    func forPeople(_ name: String) -> String {
      switch self {
      case .succeeded: name
      case .ended: "the end of \(name)"
      case .failed: "a failure of \(name)"
      }
    }
  }

  extension StoredWorker.Standing {
    var words: String {
      switch self {
      case .alive: "lives"
      case .silent: "does not answer; it was stopped, or hangs"
      case .dead: "has died"
      }
    }
  }

  extension OpenStore {
    /// Why this job does not run; nil if it is gone. With `here`, this process works it.
    func explain(_ id: JobID, here: Bool = false) async throws -> (job: JobSnapshot, reasons: JobExplanation)? {
      let query = JobQuery(.id(id), detail: [.failures, .waits], limit: 1)
      guard let job = try await store.jobs(query).first else { return nil }
      var explanation = try await store.explain(job, and: here ? [Self.reach] : [])
      // No worker that could be started here would take it.
      if !Self.kinds.contains(job.kind) {
        explanation.reasons = explanation.reasons.map { $0.isLackOfWorker ? .kindUnknown(job.kind) : $0 }
      }
      return (job, explanation)
    }
  }
#endif
