import DurableJobs
import DurableJobsTesting
import Foundation
import Testing

@Suite struct JobExplanationTests {
  private let now = Date(timeIntervalSince1970: 1_800_000_000)
  private let id = JobID(rawValue: 7)
  private let other = JobID(rawValue: 5)

  private func words(_ reason: JobExplanation.Reason) -> String {
    "\(reason)" + (reason.help.map { "; \($0)" } ?? "")
  }

  /// All that a reason can be. A new one does not compile here until it has its name, and fails the test below until it has
  /// its sentence there.
  private enum Name: CaseIterable {
    case circle, held, uniqueKey, needs, needsKey, lane, start, backOff, putOff, paused, limit, rate, laneRate, noWorker
    case queueUnserved, kindUnknown, constraint, slotsTaken, running, ended

    init(_ reason: JobExplanation.Reason) {
      self =
        switch reason {
        case .circle: .circle
        case .held: .held
        case .uniqueKey: .uniqueKey
        case .needs: .needs
        case .needsKey: .needsKey
        case .lane: .lane
        case .start: .start
        case .backOff: .backOff
        case .putOff: .putOff
        case .paused: .paused
        case .limit: .limit
        case .rate: .rate
        case .laneRate: .laneRate
        case .noWorker: .noWorker
        case .queueUnserved: .queueUnserved
        case .kindUnknown: .kindUnknown
        case .constraint: .constraint
        case .slotsTaken: .slotsTaken
        case .running: .running
        case .ended: .ended
        }
    }
  }

  @Test func `Each reason is a sentence, and says what helps`() {
    let dead = StoredWorker(process: 12, since: now, queues: [], kinds: [], standing: .dead)
    let failure = AttemptFailure(attempt: 2, at: now, message: "refused")
    let expected: [(JobExplanation.Reason, String)] = [
      (.held(by: .request, reason: nil), "It is suspended; Resume it"),
      (
        .held(by: .handler, reason: "uploads"),
        "Its handler suspended it: uploads; It goes on when it is resumed, completed or failed from outside"
      ),
      (
        .held(by: .undecodable, reason: "no 'n'"),
        "Its payload could not be read: no 'n'; Resume it once a program runs that reads it"
      ),
      (
        .circle([other, id]),
        "The jobs 5, 7 wait for each other in a circle; Cancel one of them, or give a lane of theirs another seat"
      ),
      (.uniqueKey("u", other, .ready), "Job 5 has its unique key 'u' and goes first; it is ready"),
      (
        .uniqueKey("u", other, .suspended),
        "Job 5 has its unique key 'u' and goes first; it is suspended; Resume job 5"
      ),
      (
        .uniqueKey("u", other, .failed),
        "Job 5 has its unique key 'u'; it failed and holds their lane; Remove job 5, or cancel this one and retry that"
      ),
      (.needs(other, .suspended, .succeeded), "It waits for job 5, which is suspended; Resume job 5"),
      (.needs(other, .running, .ended), "It waits for the end of job 5, which is running"),
      (
        .needsKey("k", .failed),
        "It waits for a failure of the first job with the key 'k', which nobody has enqueued yet; Enqueue a job with that key: 'k'"
      ),
      (.lane("l", other, .failed), "Job 5 failed and holds the lane 'l'; Retry or remove job 5"),
      (.lane("l", other, .blocked), "Job 5 is before it in the lane 'l'; it is blocked"),
      (.start(now), "It starts at 2027-01-15T08:00:00Z"),
      (.backOff(until: now, after: failure), "It runs again at 2027-01-15T08:00:00Z, after attempt 2 failed: refused"),
      (.putOff(until: now, crashes: 0), "Its handler snoozed it until 2027-01-15T08:00:00Z"),
      (
        .putOff(until: now, crashes: 3),
        "It was put off until 2027-01-15T08:00:00Z, by its handler or since its process ended (3 so far)"
      ),
      (.paused("q"), "The queue 'q' is paused; Unpause it"),
      (.noWorker, "No worker is running; Start one"),
      (.queueUnserved("q"), "No running worker serves the queue 'q'; Start a worker on that queue"),
      (.kindUnknown("k"), "No running worker handles the kind 'k'; Register that kind with a worker"),
      (
        .constraint("vpn", .setByHand),
        "It requires 'vpn', which was set by hand to no; Set 'vpn' to yes, or leave it to the workers again"
      ),
      (.constraint("vpn", .absent), "It requires 'vpn', which holds for no worker that could run it"),
      (
        .constraint("vpn", .unprovided),
        "It requires 'vpn', which no worker provides; Provide 'vpn' with a worker, or set it by hand"
      ),
      (.slotsTaken(running: 1, workers: 1), "It waits for a free slot: the worker that can run it runs 1 job now"),
      (.slotsTaken(running: 8, workers: 2), "It waits for a free slot: the 2 workers that can run it run 8 jobs now"),
      (
        .running(by: dead, since: now, stopAsked: .cancelled),
        "It has been running since 2027-01-15T08:00:00Z in process 12, which has died and was asked to stop: cancelled; "
          + "A worker that starts gives it back"
      ),
      (.running(by: nil, since: nil, stopAsked: nil), "It runs in a process of which nothing is known"),
      (
        .limit("uploads", running: 4),
        "The queue 'uploads' runs 4 jobs now, as many as its limit allows"
      ),
      (
        .rate("mail", JobRate(100, per: .seconds(60)), next: now),
        "The queue 'mail' starts at most 100 a minute; its next job may start at 2027-01-15T08:00:00Z"
      ),
      (
        .laneRate("customer-7", JobRate(10, per: .seconds(60)), next: now),
        "The lane 'customer-7' starts at most 10 a minute; this job may start at 2027-01-15T08:00:00Z"
      ),
      (.ended(.succeeded, reason: nil), "It has ended"),
      (.ended(.failed, reason: "refused"), "It has ended: refused; Retry it to run it again"),
      (.ended(.cancelled, reason: "by hand"), "It has ended: by hand; Retry it to run it again"),
      (.ended(.skipped, reason: "b failed", retry: other), "It has ended: b failed; Retry job 5"),
      (.ended(.skipped, reason: "b failed"), "It has ended: b failed"),
    ]
    for (reason, sentence) in expected { #expect(words(reason) == sentence) }
    #expect(Set(expected.map { Name($0.0) }) == Set(Name.allCases))
  }

  @Test func `What must change first is first`() {
    var job = JobSnapshot(
      id: id, queue: "q", kind: "k", lane: "l", requires: ["vpn", "network"], state: .suspended, createdAt: now)
    var waits = JobWaits(now: now)
    waits.needs = [JobWaits.Need(.job(other), state: .ready)]
    waits.laneHead = JobWaits.LaneHead(job: other, state: .ready)
    waits.isPaused = true
    job.waits = waits
    // A worker that comes brings the network by itself.
    #expect(
      JobExplanation(job).reasons == [
        .held(by: .request, reason: nil), .needs(other, .ready, .succeeded), .lane("l", other, .ready), .paused("q"),
        .noWorker, .constraint("vpn", .unprovided),
      ])
    #expect(
      JobExplanation(job).description
        == "Job 7 is suspended. It is suspended. Resume it. It waits for job 5, which is ready. Job 5 is before it in the "
        + "lane 'l'; it is ready. The queue 'q' is paused. Unpause it. No worker is running. Start one. It requires "
        + "'vpn', which no worker provides. Provide 'vpn' with a worker, or set it by hand.")
  }

  @Test func `A deadline is told as long as the job has it to keep`() {
    var job = JobSnapshot(id: id, queue: "q", kind: "k", state: .ready, createdAt: now)
    job.waits = JobWaits(now: now)
    func end() -> String? { JobExplanation(job).description.split(separator: ". ").last.map(String.init) }
    job.deadline = .end(by: .at(now))
    #expect(end() == "It is given up unless it has ended by 2027-01-15T08:00:00Z.")
    job.deadline = .start(by: .at(now))
    #expect(end() == "It is given up unless it has begun by 2027-01-15T08:00:00Z.")
    job.startedAt = now
    #expect(JobExplanation(job).deadline == nil, "it has begun")
    (job.state, job.deadline) = (.succeeded, .end(by: .at(now)))
    #expect(JobExplanation(job).deadline == nil, "it has ended")
  }

  @Test func `A limit keeps a job that is ready, and says it in place of slots that are taken`() {
    var job = JobSnapshot(id: id, queue: "q", kind: "k", state: .ready, createdAt: now)
    var waits = JobWaits(now: now)
    waits.workers = [
      StoredWorker(process: 1, since: now, queues: ["q"], kinds: ["k"], jobs: [other], standing: .alive)
    ]
    let rate = JobRate(1, per: .seconds(60))
    func reasons(_ limits: JobLimits, running: Int = 1, next: Date? = nil) -> [JobExplanation.Reason] {
      waits.limit = JobWaits.Limit(limits, running: running, next: next)
      job.waits = waits
      return JobExplanation(job).reasons
    }
    let slots = JobExplanation.Reason.slotsTaken(running: 1, workers: 1)
    let later = now + 60
    #expect(reasons(JobLimits(running: 2)) == [slots])
    #expect(reasons(JobLimits(running: 1)) == [.limit("q", running: 1)])
    #expect(reasons(JobLimits(rate: rate), next: now) == [slots])
    #expect(reasons(JobLimits(rate: rate), next: later) == [.rate("q", rate, next: later)])
    #expect(
      reasons(JobLimits(running: 1, rate: rate), next: later) == [
        .limit("q", running: 1), .rate("q", rate, next: later),
      ])
    job.state = .scheduled
    job.runAt = now + 5
    job.startedAt = nil
    #expect(reasons(JobLimits(running: 1)).first == .start(now + 5), "its time comes first")
    #expect(!reasons(JobLimits(running: 1)).contains(.limit("q", running: 1)))
  }

  @Test func `Of several workers the one counts that lacks least, and dead ones do not`() {
    var job = JobSnapshot(id: id, queue: "q", kind: "k", requires: ["a", "b"], state: .ready, createdAt: now)
    func worker(_ satisfied: Set<JobConstraint>, _ standing: StoredWorker.Standing = .alive) -> StoredWorker {
      StoredWorker(process: 1, since: now, queues: ["q"], kinds: ["k"], satisfied: satisfied, standing: standing)
    }
    var waits = JobWaits(now: now)
    waits.workers = [worker([]), worker(["a"]), worker(["a", "b"], .dead), worker(["a", "b"], .silent)]
    job.waits = waits
    #expect(JobExplanation(job).reasons == [.constraint("b", .unprovided)])
    #expect(JobExplanation(job, and: [WorkerReach(kinds: ["k"], satisfied: ["a", "b"])]).reasons == [])
  }

  @Test func `A running job whose worker died waits for another one`() {
    var job = JobSnapshot(id: id, queue: "q", kind: "k", state: .running, createdAt: now, startedAt: now)
    let dead = StoredWorker(process: 1, since: now, queues: ["q"], kinds: ["k"], jobs: [id], standing: .dead)
    var waits = JobWaits(now: now)
    waits.workers = [dead]
    job.waits = waits
    #expect(JobExplanation(job).reasons == [.running(by: dead, since: now, stopAsked: nil), .noWorker])
  }

  @Test func `A queue explains a job, also where its worker has only just been started`() async throws {
    let jobs = TestJobs()
    let job = try await jobs.queue.enqueue(kind: "greet", payload: Data("{}".utf8))
    #expect(try await jobs.queue.explain(job).reasons == [.noWorker])
    #expect(try await "\(jobs.queue.explain(job))" == "Job \(job) is ready. No worker is running. Start one.")
    await #expect(throws: JobError.self) { try await jobs.queue.explain(JobID(rawValue: 99)) }
  }
}
