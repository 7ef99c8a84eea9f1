#if Shell
  import ArgumentParser
  import Console
  import DurableJobs
  import Foundation

  struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "explain",
      abstract: "Say why a job does not run, and what helps.",
      discussion: "One line for each thing that keeps it from running; what must change first comes first.")

    @Argument(help: ArgumentHelp("The job; without it, the last one.", valueName: "id")) var job: JobID?
    @OptionGroup var options: StoreOptions

    func run() async throws {
      let (store, id) = try await options.existing(for: job, else: .all, "job")
      guard let (job, explanation) = try await store.explain(id) else {
        throw JobError(.notFound, "there is no job \(id)")
      }
      if options.json {
        let reasons = explanation.reasons.map { ReasonRecord($0, of: job, in: store) }
        return Screen.out.json(
          ExplanationRecord(
            id: id, state: job.state.rawValue, reasons: reasons, givenUpAt: explanation.deadline?.date))
      }
      for reason in explanation.reasons {
        Screen.out.line(reason.text(of: id, in: store, queue: job.queue, job: job).withVisibleControls)
      }
      if (job.waits?.needs.count ?? 0) >= JobWaits.mostNeeds {
        Screen.out.line("Of what job \(id) waits for, the first \(JobWaits.mostNeeds) are listed")
      }
      if let remains = store.remains(of: job) { Screen.out.line("Job \(id): \(remains)".withVisibleControls) }
      if explanation.reasons.isEmpty {
        Screen.out.line("Job \(id) is \(job.state.rawValue): the next free worker takes it")
      }
      if let deadline = explanation.deadline {
        Screen.out.line("Job \(id) is given up \(deadline.date.forPeople) unless it has \(deadline.deed) by then")
      }
    }
  }

  private struct ExplanationRecord: Encodable {
    var id: JobID
    var state: String
    var reasons: [ReasonRecord]
    @OrNull var givenUpAt: Date?
  }

  /// A reason in JSON: what it is by name, and what it concerns.
  private struct ReasonRecord: Encodable {
    var reason: String
    var job: JobID?
    var jobs: [JobID]?
    var state: String?
    var key: String?
    var lane: String?
    var queue: String?
    var kind: String?
    var constraint: String?
    var until: Date?
    var process: Int64?
    var running: Int?
    var message: String?
    var text: String
    @OrNull var help: String?

    init(_ reason: JobExplanation.Reason, of job: JobSnapshot, in store: OpenStore) {
      text = reason.cause(in: store, of: job)
      help = reason.advice(for: job.id, in: store, queue: job.queue)
      switch reason {
      case .held(let holder, let words): (self.reason, message) = ("heldBy\(holder.rawValue.capitalized)", words)
      case .circle(let circle): (self.reason, jobs) = ("circle", circle)
      case .uniqueKey(let key, let other, let state):
        (self.reason, self.key, self.job, self.state) = ("uniqueKey", key.withoutPasswords, other, state.rawValue)
      case .needs(let other, let state, _): (self.reason, self.job, self.state) = ("needs", other, state.rawValue)
      case .needsKey(let key, _): (self.reason, self.key) = ("needsKey", key.withoutPasswords)
      case .lane(let name, let other, let state):
        (self.reason, lane, self.job, self.state) = ("lane", name, other, state.rawValue)
      case .start(let time): (self.reason, until) = ("start", time)
      case .backOff(let time, let failure): (self.reason, until, message) = ("backOff", time, failure.message)
      case .putOff(let time, _): (self.reason, until, message) = ("putOff", time, job.whyPutOff)
      case .paused(let name): (self.reason, queue) = ("paused", name)
      case .limit(let name, let count): (self.reason, queue, running) = ("limit", name, count)
      case .rate(let name, _, let next): (self.reason, queue, until) = ("rate", name, next)
      case .laneRate(let name, _, let next): (self.reason, lane, until) = ("laneRate", name, next)
      case .noWorker: self.reason = "noWorker"
      case .queueUnserved(let name): (self.reason, queue) = ("queueUnserved", name)
      case .kindUnknown(let name): (self.reason, kind) = ("kindUnknown", name)
      case .constraint(let name, let lack):
        (self.reason, constraint) = (
          "constraint\(lack.rawValue.prefix(1).uppercased())\(lack.rawValue.dropFirst())", name.rawValue
        )
      case .slotsTaken(let count, _): (self.reason, running) = ("slotsTaken", count)
      case .running(let worker, _, _): (self.reason, process) = ("running", worker?.process)
      case .ended(let state, let words, _): (self.reason, self.state, message) = ("ended", state.rawValue, words)
      @unknown default: self.reason = "other"
      }
      message = message?.withoutPasswords
    }
  }
#endif
