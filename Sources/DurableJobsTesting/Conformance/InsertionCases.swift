import DurableJobs
import Foundation

extension StoreConformance {
  static let insertionCases: [Case] = [
    Case("Ids ascend in the order of the jobs, in one insertion and over many") { subject in
      let trial = try await Trial(subject)
      var ids = try await trial.add(5)
      ids.append(try await trial.add())
      ids += try await trial.add(3)
      try same(ids, ids.sorted(), "ids")
      try same(Set(ids).count, 9, "different ids")
      try same(try await trial.ids(), ids, "stored jobs")
      let payloads = try await trial.store.jobs(JobQuery(detail: .payload, limit: 5)).map { $0.payload }
      try same(payloads, (0..<5).map { Data("\($0)".utf8) }, "payloads in order")
    },
    Case("A stored job is what was asked for") { subject in
      let trial = try await Trial(subject)
      let terms = JobTerms(
        priority: 7, start: .after(.milliseconds(1500)), maxAttempts: 3, timeout: .milliseconds(250),
        key: "a 'key' ✓", tags: ["one", "two % _"])
      let payload = Data([0, 255, 39, 10, 0])
      let id = try await trial.add([NewJob(queue: "uploads", kind: "photo", payload: payload, terms: terms)])[0]
      var expected = JobSnapshot(
        id: id, queue: "uploads", kind: "photo", key: "a 'key' ✓", tags: ["one", "two % _"], state: .scheduled,
        createdAt: trial.now)
      (expected.priority, expected.maxAttempts, expected.timeout) = (7, 3, .milliseconds(250))
      (expected.runAt, expected.payload) = (trial.after(.milliseconds(1500)), payload)
      try same(try await trial.job(id), expected, "the job")
    },
    Case("An insertion holds whole or not at all") { subject in
      let trial = try await Trial(subject)
      let good = NewJob(queue: "q", kind: "k", payload: Data())
      let bad = NewJob(queue: "q", kind: "", payload: Data())
      try await refused(.invalidArgument, "an insertion with one bad job") {
        _ = try await trial.add([good, good, bad, good])
      }
      try same(try await trial.ids(), [], "jobs stored by a refused insertion")
      try same(try await trial.store.counts(where: .all), JobCounts(), "counts after a refused insertion")
      try same(try await trial.claim(["q": 9]).count, 0, "jobs to be claimed after a refused insertion")
    },
    Case("What no store can take is refused") { subject in
      let trial = try await Trial(subject)
      let long = String(repeating: "k", count: Limits.nameBytes + 1)
      for (what, job) in [
        ("an empty queue", NewJob(queue: "", kind: "k", payload: Data())),
        ("a long kind", NewJob(queue: "q", kind: long, payload: Data())),
        ("a long key", NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(key: long))),
        ("an empty tag", NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(tags: [""]))),
        ("no attempt", NewJob(queue: "q", kind: "k", payload: Data(), terms: .attempts(0))),
        ("a timeout of nothing", NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(timeout: .zero))),
      ] {
        try await refused(.invalidArgument, what) { _ = try await trial.add([job]) }
      }
      try same(try await trial.ids(), [], "jobs stored")
    },
    Case("An insertion of nothing stores nothing") { subject in
      let trial = try await Trial(subject)
      try same(try await trial.add([]), [], "ids")
      try same(try await trial.ids(), [], "jobs stored")
    },
    Case("A start that is ahead is waited for, and one that is past is now") { subject in
      let trial = try await Trial(subject)
      let now = try await trial.add(.start(.now))
      let past = try await trial.add(.start(.at(trial.after(.seconds(-3600)))))
      let negative = try await trial.add(.start(.after(.seconds(-5))))
      let later = try await trial.add(.start(.after(.seconds(5))))
      let date = try await trial.add(.start(.at(trial.after(.seconds(9)))))
      for id in [now, past, negative] {
        try same(try await trial.job(id).state, .ready, "the state of a job that may start")
        try same(try await trial.job(id).runAt, nil, "the due time of a job that may start")
      }
      for (id, due) in [(later, 5), (date, 9)] {
        try same(try await trial.job(id).state, .scheduled, "the state of a job that starts later")
        try same(try await trial.job(id).runAt, trial.after(.seconds(due)), "its due time")
      }
    },
    Case("A start in ten thousand years is no error") { subject in
      let trial = try await Trial(subject)
      for start in [JobTime.at(.distantFuture), .after(.seconds(Int64.max)), .at(Date(timeIntervalSince1970: 1e30))] {
        try same(try await trial.job(trial.add(.start(start))).state, .scheduled, "a job that starts at \(start)")
      }
      try same(try await trial.claim(["q": 9]).count, 0, "jobs claimed")
    },
    Case("An id is never used again, also when the newest job was removed") { subject in
      let trial = try await Trial(subject)
      var seen: Set<JobID> = []
      for _ in 0..<4 {
        let id = try await trial.add()
        try holds(seen.insert(id).inserted, "\(id) is a new id")
        try same(id, seen.max(), "\(id) is above all ids before it")
        try await trial.change(.remove, id)
        try same(try await trial.ids(), [], "jobs after the removal")
      }
    },
    Case("C60 A payload and an output of 5 MB come back as they were") { subject in
      let trial = try await Trial(subject)
      let payload = (0..<12).reduce(into: Data((0..<1221).map { UInt8(truncatingIfNeeded: $0 &* 31) })) { data, _ in
        data += data
      }
      let id = try await trial.add([NewJob(queue: "q", kind: "k", payload: payload)])[0]
      let claimed = try await trial.start(id)
      try holds(claimed.payload == payload, "the claimed payload is the stored one")
      try await trial.end(claimed, .succeeded(output: payload), as: .succeeded)
      let job = try await trial.job(id)
      try holds(job.payload == payload && job.output == payload, "payload and output are the stored ones")
    },
  ]
}
