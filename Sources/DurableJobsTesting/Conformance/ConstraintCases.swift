import DurableJobs
import Foundation

extension StoreConformance {
  static let constraintCases: [Case] = [
    Case("C32 What requires a condition that does not hold is not claimed, stays ready, and is in nobody's way") {
      subject in
      let trial = try await Trial(subject)
      let both = try await trial.add(JobTerms(priority: .high, requires: ["c1", "c2"], whenLost: .interrupts))
      let one = try await trial.add(JobTerms(priority: .high, requires: ["c1"]))
      let plain = try await trial.add()
      try same(try await trial.claim(satisfied: []), [plain], "jobs claimed where nothing holds")
      try same(try await trial.states([both, one]), [.ready, .ready], "jobs that wait for a condition")
      try same(try await trial.claim(satisfied: ["c2", "c3"]), [], "jobs claimed where one of two holds")
      let batch = try await trial.store.claim(trial.request(satisfied: ["c1", "c2"], room: 1))
      try same(batch.jobs.map(\.token.job), [both], "the job claimed where all hold")
      try same(batch.jobs.first?.requires, ["c1", "c2"], "what it requires")
      try same(batch.jobs.first?.whenLost, .interrupts, "what becomes of it when that is lost")
      try same(try await trial.claim(satisfied: ["c1"]), [one], "jobs claimed where one holds")
    },
    Case("What a job requires is to be seen, asked for and counted") { subject in
      let trial = try await Trial(subject)
      let ids = try await [JobTerms(requires: ["c1", "c2"]), JobTerms(requires: ["c1"]), JobTerms()].asyncMap {
        try await trial.add($0)
      }
      try same(try await trial.job(ids[0]).requires, ["c1", "c2"], "what the first requires")
      try same(try await trial.ids(.requires("c1")), [ids[0], ids[1]], "jobs that require c1")
      try same(try await trial.ids(!.requires("c2") && .kind("k")), [ids[1], ids[2]], "jobs that do not require c2")
      let counts = try await trial.store.counts(where: .requires("c2"))
      try same(counts, JobCounts([.ready: 1]), "how many require c2")
      try await refused(.invalidArgument, "a condition without a name") {
        _ = try await trial.store.insert(
          JobInsertion([NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(requires: [""]))]))
      }
    },
    Case("A condition that no job requires any more can be required again, and those that are required stay") {
      subject in
      let trial = try await Trial(subject)
      let names = (0..<4).map { JobConstraint(rawValue: "c\($0)") }
      let left = try await trial.add(JobTerms(requires: [names[1]]))
      var ids: [JobID] = []
      for _ in 0..<3 {
        for name in names { ids.append(try await trial.add(JobTerms(requires: [name]))) }
        let claimed = try await trial.claim(satisfied: [names[0]])
        try same(claimed, [ids[ids.count - 4]], "the job claimed where one condition holds")
        try await trial.change(.reset, claimed[0])
        for id in ids.suffix(4) { try await trial.change(.remove, id) }
        try same(try await trial.ids(), [left], "the jobs left")
      }
      let counts = try await trial.store.counts(where: .requires(names[1]))
      try same(counts, JobCounts([.ready: 1]), "how many require the one that is left")
      try same(try await trial.claim(satisfied: [names[1]]), [left], "the job claimed at last")
    },
    Case("What is set by hand holds for all workers, or for none, whatever they say") { subject in
      let trial = try await Trial(subject)
      func set(_ value: Bool?) async throws {
        try await trial.store.configure([.constraint("c1", satisfied: value)])
        try same(
          try await trial.store.settings(), value.map { [.constraint("c1", satisfied: $0)] } ?? [], "the settings")
      }
      let ids = try await trial.add(3, JobTerms(requires: ["c1"]))
      try await set(false)
      try same(try await trial.claim(satisfied: ["c1"]), [], "jobs claimed against what is set")
      try await set(true)
      try same(try await trial.claim(satisfied: [], room: 1), [ids[0]], "jobs claimed as is set")
      try await set(nil)
      try same(try await trial.claim(satisfied: []), [], "jobs claimed where nothing is set and nothing holds")
      try same(try await trial.claim(satisfied: ["c1"], room: 1), [ids[1]], "jobs claimed as the worker says")
    },
    Case("C31 A wake ends back-offs within its time, and no other waits") { subject in
      let trial = try await Trial(subject)
      let terms = JobTerms(maxAttempts: 9, requires: ["c1"])
      func wait(_ result: ClaimSettlement.Result) async throws -> JobID {
        let id = try await trial.add(terms)
        let job = try present(
          try await trial.store.claim(trial.request(satisfied: ["c1"], room: 1)).jobs.first, "a job")
        try await trial.end(job, result, as: .scheduled)
        return id
      }
      let hour = JobTime.after(.seconds(3600))
      let failed = try await wait(.retry(hour, message: "m"))
      let named = try await wait(.retry(hour, message: "m", isBackOff: false))
      let dated = try await wait(.retry(.at(trial.after(.seconds(3600))), message: "m"))
      let snoozed = try await wait(.snoozed(hour))
      let offline = try await wait(.snoozed(hour, isBackOff: true))
      let soon = try await wait(.retry(.after(.milliseconds(500)), message: "m"))
      let ahead = try await trial.add(JobTerms(start: hour, requires: ["c1"]))
      let ready = try await trial.add(terms)
      let others = [named, dated, snoozed, ahead, ready]
      let before = try await others.asyncMap { try await trial.job($0) }
      let dueSoon = try await trial.job(soon).runAt
      let report = try await trial.store.change(
        .wake(within: .seconds(2)), where: .requires("c1"), after: nil, limit: 100)
      try same(report.changed, [failed, offline, soon], "the jobs that were woken")
      try same(report.refused.map(\.job), others, "those that wait for something else")
      try same(try await others.asyncMap { try await trial.job($0) }, before, "what became of them")
      let runAt = try await trial.job(failed).runAt ?? trial.now
      try holds((trial.now...trial.after(.seconds(2))).contains(runAt), "the back-off ends within two seconds")
      try same(try await trial.job(soon).runAt, dueSoon, "when one that is due sooner is due")
      trial.clock.advance(by: .seconds(2))
      try same(Set(try await trial.claim(satisfied: ["c1"])), [failed, offline, soon, ready], "jobs that run then")
      try same(try await trial.job(failed).attempt, 2, "the attempt of the one that was woken")
    },
    Case("C31 Back-offs that end because a condition returned end at different moments") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(50, JobTerms(maxAttempts: 9, requires: ["c1"]))
      for job in try await trial.store.claim(trial.request(satisfied: ["c1"], room: 50)).jobs {
        try await trial.settle(job, .retry(.after(.seconds(3600)), message: "m"))
      }
      let time = Duration.seconds(3000)
      let report = try await trial.store.change(.wake(within: time), where: .requires("c1"), after: nil, limit: 100)
      try same(report.changed, ids, "the jobs that were woken")
      let times = try await ids.asyncMap { try present(try await trial.job($0).runAt, "a time") }
      try holds(times.allSatisfy((trial.now...trial.after(time)).contains), "they end within their time")
      // By chance two of 3,000,000 milliseconds may be one.
      try holds(Set(times).count > 40, "they are spread: \(Set(times).count) moments of 50 jobs")
      try holds(times.contains { $0 < trial.after(time / 2) }, "some end in the first half of it")
      try holds(times.contains { $0 > trial.after(time / 2) }, "some end in the second half of it")
    },
    Case("What requires a condition that does not hold keeps nobody from being idle") { subject in
      let trial = try await Trial(subject)
      func isIdle(where satisfied: Set<JobConstraint>) async throws -> Bool {
        let work = try await trial.store.outstanding(.worker(queues: ["q"], kinds: ["k"], satisfied: satisfied))
        try same(work.left, JobCounts([.ready: 1]), "what is left")
        return work.isIdle
      }
      func isQueueIdle(_ more: [WorkerReach] = []) async throws -> Bool {
        let work = try await trial.store.outstanding(.queue("q", and: more))
        return work.isIdle
      }
      try await trial.add(JobTerms(requires: ["c1"]))
      try holds(try await isIdle(where: []), "a worker is idle for which nothing holds")
      try holds(try await !isIdle(where: ["c1"]), "a worker is not idle for which it holds")
      _ = try await trial.store.claim(trial.request(by: "v", satisfied: ["c2"], room: 1))
      try holds(try await isQueueIdle(), "the queue is idle while it holds for nobody")
      let near = [WorkerReach(kinds: ["other"], satisfied: ["c1"]), WorkerReach(kinds: ["k"])]
      try holds(try await isQueueIdle(near), "the queue is idle while no worker has both")
      try holds(
        try await !isQueueIdle([WorkerReach(kinds: ["k"], satisfied: ["c1"])]), "it is not idle where one has both")
      try await trial.store.configure([.constraint("c1", satisfied: true)])
      try holds(try await !isQueueIdle(), "it is not idle once the condition holds for all")
      try holds(try await !isIdle(where: []), "neither is the worker")
      try await trial.store.configure([.constraint("c1", satisfied: false)])
      try holds(try await isIdle(where: ["c1"]), "a worker is idle for which it is set not to hold")
    },
    Case("A condition that is set is told") { subject in
      let trial = try await Trial(subject)
      let heard = Lock<ForeignChange>([])
      let subscription = trial.store.signals.listen { signal in
        if case .changedElsewhere(let change) = signal { heard.withLock { $0.formUnion(change) } }
      }
      try await trial.store.configure([.constraint("c1", satisfied: true)])
      withExtendedLifetime(subscription) {}
      try holds(heard.withLock { $0.isSuperset(of: [.work, .settings]) }, "there is work, and a setting")
    },
    Case("What jobs require, and what is set, is there when the store is opened again", needs: [.reopens]) { subject in
      let trial = try await Trial(subject)
      let id = try await trial.add(JobTerms(requires: ["c1"], whenLost: .interrupts))
      try await trial.store.configure([.constraint("c2", satisfied: true)])
      let store = try await present(subject.reopen, "a way to open it again")(trial.store)
      let again = Trial(store: store, clock: trial.clock)
      try same(try await store.settings(), [.constraint("c2", satisfied: true)], "the settings")
      try same(try await again.job(id).requires, ["c1"], "what the job requires")
      try same(try await again.claim(satisfied: []), [], "jobs claimed without it")
      let job = try await store.claim(again.request(satisfied: ["c1"], room: 1)).jobs.first
      try same(job?.whenLost, .interrupts, "what becomes of it")
    },
  ]
}

extension Trial {
  fileprivate func request(by worker: String = "w", satisfied: Set<JobConstraint>, room: Int) -> ClaimRequest {
    ClaimRequest(worker: WorkerID(worker), kinds: ["k"], satisfied: satisfied, free: ["q": room])
  }

  fileprivate func claim(satisfied: Set<JobConstraint>, room: Int = 9) async throws -> [JobID] {
    try await store.claim(request(satisfied: satisfied, room: room)).jobs.map(\.token.job)
  }
}
