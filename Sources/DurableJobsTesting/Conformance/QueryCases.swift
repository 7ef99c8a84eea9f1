import DurableJobs
import Foundation

extension StoreConformance {
  static let queryCases: [Case] = [
    Case("Jobs are read by pages in both orders, each once") { subject in
      let trial = try await Trial(subject)
      let ids = try await trial.add(7)
      try await trial.add(kind: "other")
      for (order, expected) in [(JobQuery.Order.oldestFirst, ids), (.newestFirst, ids.reversed())] {
        var seen: [JobID] = []
        for _ in 0..<10 {
          let page = try await trial.store.jobs(JobQuery(.kind("k"), order: order, after: seen.last, limit: 3))
          seen += page.map(\.id)
          if page.count < 3 { break }
        }
        try same(seen, expected, "jobs by pages, \(order)")
      }
      let none = try await trial.store.jobs(JobQuery(after: JobID(rawValue: .max)))
      try same(none.count, 0, "jobs behind the last")
    },
    Case("A query gives what it asks for, and no more") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      try await trial.end(claimed, .retry(.now, message: "no"), as: .ready)
      let again = try await trial.start(claimed.token.job)
      try await trial.end(again, .succeeded(output: Data("o".utf8)), as: .succeeded)
      for bits in 0..<8 {
        let detail = JobQuery.Detail(rawValue: bits)
        let job = try present(try await trial.store.jobs(JobQuery(detail: detail)).first, "the job")
        try same(job.payload != nil, detail.contains(.payload), "that there is a payload")
        try same(job.output != nil, detail.contains(.output), "that there is an output")
        try same(job.failures.count, detail.contains(.failures) ? 1 : 0, "failures")
      }
    },
    Case("Payloads, outputs and steps of megabytes come back whole, beside small ones") { subject in
      let trial = try await Trial(subject)
      let large = Data("a".utf8) + Data(repeating: 7, count: 5_000_000) + Data("z".utf8)
      let new = [
        NewJob.plain(), NewJob(queue: "q", kind: "k", payload: large), .plain(after: [JobEdge(.sibling(1), slot: 0)]),
      ]
      let ids = try await trial.add(new)
      let claimed = try await trial.take(2)
      try holds(claimed[1].payload == large, "the payload is claimed whole")
      let step = ClaimRenewal(token: claimed[1].token, steps: ["s": large])
      _ = try await trial.store.renew(RenewalRequest(worker: WorkerID("w"), renewals: [step], isPartial: true))
      try await trial.end(claimed[1], .retry(.now, message: "m"), as: .ready)
      let again = try await trial.start(ids[1])
      try holds(again.steps["s"] == large, "the step is claimed whole")
      try await trial.end(again, .succeeded(output: large), as: .succeeded)
      let last = try await trial.start(ids[2])
      try holds(last.inputs[0] == .succeeded(output: large), "the output is handed on whole")
      let job = try await trial.job(ids[1])
      try holds(job.payload == large && job.output == large, "both are read whole")
      let others = try await trial.store.jobs(JobQuery(!.id(ids[1]), detail: .payload)).map(\.payload)
      try same(others, [new[0].payload, new[2].payload], "the payloads beside it")
    },
    Case("A filter finds what it matches, and counts tell the same") { subject in
      let trial = try await Trial(subject)
      try await trial.addOneOfEach()
      let all = try await trial.store.jobs(JobQuery(limit: 1000))
      try same(all.count, 2 * JobState.allCases.count + 1, "the jobs")
      try same(Set(all.map(\.state)).count, 7, "the states")
      let leaves: [JobFilter] =
        [.all, .id(all[3].id), .id(JobID(rawValue: 999)), .queue("q"), .queue("none"), .kind("k"), .kind("other")]
        + [.tag("a"), .tag("b"), .tag("A"), .tag("none"), .key("one"), .key("two"), .key("none"), .key("%")]
        + JobState.allCases.map { .state($0) }
        + [
          .ids([]), .ids(all.map(\.id).prefix(3)), .queues(["p", "q"]), .kinds(["k", "none"]),
          .states([.failed, .ready]),
        ]
      var filters = leaves + leaves.map { !$0 }
      for (index, first) in leaves.enumerated() {
        let second = leaves[(index * 7 + 3) % leaves.count]
        let third = leaves[(index * 5 + 1) % leaves.count]
        filters += [first && second, first || second, first && !second, !(first || second) && third]
        filters += [first || second && !third, !(first && !(second || third)), !(!first)]
      }
      for filter in filters {
        let expected = all.filter(filter.matches)
        try same(try await trial.ids(filter), expected.map(\.id), "jobs of \(filter)")
        let counts = expected.reduce(into: JobCounts()) { $0[$1.state] += 1 }
        try same(try await trial.store.counts(where: filter), counts, "counts of \(filter)")
      }
    },
    Case("A filter of any size is answered, or refused in words") { subject in
      let trial = try await Trial(subject)
      let id = try await trial.add(2, JobTerms(key: "t"))[1]
      let ids = (1...100_000).map { JobID(rawValue: $0 + id.rawValue / 2) } + [id]
      let many = ids[..<(Limits.filterParts - 1)].map { JobFilter.id($0) }
      var nested = JobFilter.key("t")
      for level in 2..<Limits.filterDepth {
        nested =
          level % 2 == 0 ? nested && !.key("\(level)") && .tag("t") : nested || !.id(JobID(rawValue: 9)) || .tag("u")
      }
      for filter in [
        .ids(ids), many.reduce(!.all, ||), many.prefix(Limits.filterParts / 2 - 1).map { !$0 }.reduce(.all, &&), nested,
      ] {
        let expected = try await trial.store.jobs(JobQuery(limit: 1000)).filter(filter.matches)
        try same(try await trial.ids(filter), expected.map(\.id), "jobs of a filter within the limits")
        try same(try await trial.store.counts(where: filter).total, expected.count, "jobs counted by it")
      }
      for filter in [ids.map { .id($0) }.reduce(!.all, ||), nested && (.tag("v") || nested)] {
        func isRefused(_ call: () async throws -> Void) async throws {
          do { try await call() } catch let error as JobError where error.code == .invalidArgument { return }
          throw Difference("a filter beyond the limits is not refused")
        }
        try await isRefused { _ = try await trial.ids(filter) }
        try await isRefused { _ = try await trial.store.counts(where: filter) }
        try await isRefused { _ = try await trial.store.change(.retry, where: filter, after: nil, limit: 1) }
      }
    },
    Case("A change reaches what its filter matches, and nothing else") { subject in
      for filter: JobFilter in [.kind("k"), .tag("a"), .key("two"), .queue("p") && !.state(.ready), .state(.failed)] {
        let trial = try await Trial(subject)
        try await trial.addOneOfEach()
        let before = try await trial.store.jobs(JobQuery(limit: 1000))
        let report = try await trial.store.change(
          .progress(JobProgress(fraction: 0.5)), where: filter, after: nil, limit: 99)
        let reached = before.filter(filter.matches).map(\.id)
        try same((report.changed + report.refused.map(\.job)).sorted(), reached, "jobs reached by \(filter)")
        for job in before where !report.changed.contains(job.id) {
          try same(try await trial.store.jobs(JobQuery(.id(job.id))), [job], "a job that was not to be changed")
        }
      }
    },
    Case("Suspended jobs are found, and resumed, by who suspended them") { subject in
      let trial = try await Trial(subject)
      let asked = try await trial.add()
      try await trial.change(.suspend(reason: nil), asked)
      var held = [JobHold.request: asked]
      for holder in [JobHold.handler, .undecodable] {
        let claimed = try await trial.addAndStart()
        try await trial.end(claimed, .suspended(reason: "s", by: holder), as: .suspended)
        held[holder] = claimed.token.job
      }
      try await trial.add()
      for (holder, id) in held {
        try same(try await trial.ids(.heldBy(holder)), [id], "those suspended by \(holder)")
        try same(try await trial.ids(!.heldBy(holder)).count, 3, "others")
        try same(try await trial.store.counts(where: .heldBy(holder)), JobCounts([.suspended: 1]), "their counts")
      }
      let report = try await trial.store.change(.resume, where: .heldBy(.undecodable), after: nil, limit: 9)
      try same([report.changed.first], [held[.undecodable]], "those resumed")
      try same(try await trial.ids(.state(.suspended)).count, 2, "those that are suspended yet")
    },
    Case("Counts are what a look at all jobs tells, after each step of a job's life") { subject in
      let trial = try await Trial(subject)
      func check(_ what: String) async throws {
        for filter: JobFilter in [.all, .queue("q"), .kind("k"), .queue("q") && .kind("other")] {
          let listed = try await trial.store.jobs(JobQuery(filter, limit: 1000))
            .reduce(into: JobCounts()) { $0[$1.state] += 1 }
          try same(try await trial.store.counts(where: filter), listed, "counts of \(filter) after \(what)")
        }
      }
      try await check("nothing")
      try await trial.addOneOfEach()
      try await check("one of each")
      let claims = try await trial.claim(by: "v", kinds: ["k", "other"], ["q": 2, "p": 2])
      try await check("a claim")
      for (index, claimed) in claims.enumerated() {
        try await trial.settle(
          claimed, index == 0 ? .succeeded(output: nil) : .retry(.after(.seconds(3)), message: "no"))
      }
      try await check("settlements")
      trial.clock.advance(by: .seconds(4))
      try await trial.loseWorkers()
      try await check("recovery")
      for change in [JobChange.retry, .suspend(reason: nil), .resume, .cancel(reason: nil), .remove] {
        _ = try await trial.store.change(change, where: .all, after: nil, limit: 4)
        try await check("\(change)")
      }
    },
  ]
}

extension Trial {
  /// Jobs in every state, in two queues, of two kinds, with keys and tags.
  func addOneOfEach() async throws {
    let terms: [JobTerms] = [
      JobTerms(), JobTerms(key: "one", tags: ["a"]), JobTerms(key: "two", tags: ["a", "b"]), JobTerms(tags: ["b"]),
    ]
    for (index, state) in JobState.allCases.enumerated() {
      let terms = terms[index % terms.count]
      let first = try await add(terms, kind: index % 2 == 0 ? "k" : "other", queue: "q")
      try await bring(first, to: state, queue: "q")
      let second = try await add(terms, kind: index % 3 == 0 ? "k" : "other", queue: "p")
      try await bring(second, to: state, queue: "p")
    }
    _ = try await add([NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(key: "one"))])
  }

  /// Brings a ready job to a state. Nothing puts jobs into `blocked` and `skipped` by itself: those stay ready.
  private func bring(_ id: JobID, to state: JobState, queue: String) async throws {
    switch state {
    case .ready, .blocked, .skipped: return
    case .suspended: return try await change(.suspend(reason: "s"), id)
    case .cancelled: return try await change(.cancel(reason: "c"), id)
    case .scheduled, .running, .succeeded, .failed: break
    }
    // What was ready before it is out of the way for as long as this one is claimed.
    let others = try await ids(.state(.ready) && !.id(id))
    for other in others { try await change(.suspend(reason: "aside"), other) }
    let claimed = try await claim(kinds: ["k", "other"], [queue: 1])
    for other in others { try await change(.resume, other) }
    try same(claimed.map(\.token.job), [id], "the job claimed")
    switch state {
    case .scheduled: try await settle(claimed[0], .snoozed(.after(.seconds(60))))
    case .succeeded: try await settle(claimed[0], .succeeded(output: nil))
    case .failed: try await settle(claimed[0], .failed(message: "no"))
    default: break
    }
  }
}
