import DurableJobs
import Foundation

extension StoreConformance {
  static let signalCases: [Case] = [
    Case("C66 A signal comes after its commit: a query that it causes sees what it tells") { subject in
      let trial = try await Trial(subject)
      let seen = Lock<[JobID: Bool]>([:])
      let store = trial.store
      let subscription = store.signals.listen { signal in
        guard let change = signal.transitions.last else { return }
        // Ends by itself, with the answer to its one query.
        Task {
          let state = try? await store.jobs(JobQuery(.id(change.id))).first?.state
          seen.withLock { $0[change.id] = $0[change.id] ?? (state == change.state) }
        }
      }
      func expect(_ id: JobID) async throws {
        for _ in 0..<5000 where seen.withLock({ $0[id] }) == nil {
          _ = try await store.settings()
          await Task.yield()
        }
        try same(seen.withLock { $0[id] }, true, "whether a query sees the insertion that was told")
      }
      for _ in 0..<5 { try await expect(try await trial.add()) }
      withExtendedLifetime(subscription) {}
    },
    Case("Every verb that changes a job tells so") { subject in
      let trial = try await Trial(subject)
      let heard = Heard()
      let subscription = trial.store.signals.listen { heard.add($0) }
      func expect(_ id: JobID, _ state: JobState, concernsClaim: Bool? = nil, _ what: String) async throws {
        try await heard.wait(trial, "\(what) of job \(id)") { signal in
          signal.transitions.contains {
            $0.id == id && $0.state == state && $0.queue == "q" && $0.kind == "k"
              && (concernsClaim == nil || $0.concernsClaim == concernsClaim)
          }
        }
      }
      let id = try await trial.add()
      try await expect(id, .ready, "the insertion")
      let claimed = try await trial.start(id)
      try await expect(id, .running, "the claim")
      try await trial.change(.cancel(reason: nil), id)
      try await expect(id, .running, concernsClaim: true, "the cancel")
      try await trial.end(claimed, .interrupted, as: .cancelled)
      try await expect(id, .cancelled, "the settlement")
      try await trial.change(.retry, id)
      try await expect(id, .ready, "the retry")
      try await trial.start(id)
      try await expect(id, .running, "the second claim")
      try await trial.change(.complete(output: nil), id)
      try await expect(id, .succeeded, concernsClaim: true, "the completion from outside")
      let crashing = try await trial.addAndStart()
      heard.clear()
      try await trial.loseWorkers()
      try await expect(crashing.token.job, .ready, "the recovery")
      withExtendedLifetime(subscription) {}
    },
    Case("A deletion is told as one, whether a person or time asked for it") { subject in
      let trial = try await Trial(subject)
      let heard = Heard()
      let subscription = trial.store.signals.listen { heard.add($0) }
      let expired = try await trial.addAndStart().token.job
      let removed = try await trial.add()
      try await trial.change(.complete(output: nil), expired)
      try holds(!heard.signals.flatMap(\.transitions).contains { $0.isRemoved }, "nothing is told as deleted yet")
      try await trial.change(.remove, removed)
      trial.clock.advance(by: Defaults.retention)
      try await trial.recover()
      for id in [removed, expired] {
        try await heard.wait(trial, "the deletion of job \(id)") { signal in
          signal.transitions.contains { $0.id == id && $0.isRemoved && $0.kind == "k" }
        }
      }
      withExtendedLifetime(subscription) {}
    },
    Case("A queue that is paused no more is told of, so that workers look") { subject in
      let trial = try await Trial(subject)
      try await trial.store.configure([.queue("q", isPaused: true)])
      let heard = Heard()
      let subscription = trial.store.signals.listen { heard.add($0) }
      try await trial.store.configure([.queue("q", isPaused: false)])
      try await heard.wait(trial, "the setting") { signal in
        if case .changedElsewhere(let change) = signal { change.contains(.work) } else { !signal.transitions.isEmpty }
      }
      withExtendedLifetime(subscription) {}
    },
    Case("Jobs that are due, or that the clock set back, are told of, so that workers look") { subject in
      let trial = try await Trial(subject)
      try await trial.add(.start(.after(.seconds(60))))
      let back = try await trial.addAndStart()
      try await trial.end(back, .retry(.after(.seconds(3600)), message: "no"), as: .scheduled)
      let heard = Heard()
      let subscription = trial.store.signals.listen { heard.add($0) }
      for (what, step) in [
        ("a promotion", { trial.clock.advance(by: .seconds(60)) }),
        ("a clock set back", { trial.clock.stepWallClock(by: .seconds(-600)) }),
      ] {
        heard.clear()
        step()
        try await trial.recover()
        try await heard.wait(trial, what) { $0.isWork }
      }
      withExtendedLifetime(subscription) {}
    },
    Case("What was refused is not told") { subject in
      let trial = try await Trial(subject)
      let claimed = try await trial.addAndStart()
      try await trial.end(claimed, .succeeded(output: nil), as: .succeeded)
      let heard = Heard()
      let subscription = trial.store.signals.listen { heard.add($0) }
      try await trial.settle(claimed, .failed(message: "late"))
      _ = try await trial.report(.resume, claimed.token.job)
      let marker = try await trial.add()
      try await heard.wait(trial, "the insertion") { $0.transitions.contains { $0.id == marker } }
      let told = heard.signals.flatMap(\.transitions).filter { $0.id == claimed.token.job }
      try same(told, [], "what was told of the job")
      withExtendedLifetime(subscription) {}
    },
  ]

  static let reopeningCases: [Case] = [
    Case("C19 What was stored is there when the store is opened again", needs: [.reopens]) { subject in
      let trial = try await Trial(subject)
      try await trial.addOneOfEach()
      try await trial.store.configure([.queue("p", isPaused: true)])
      let running = try await trial.ids(.state(.running))
      let before = try await trial.store.jobs(JobQuery(!.state(.running), detail: .all, limit: 1000))
      let again = Trial(store: try await subject.reopen!(trial.store), clock: trial.clock)
      let after = try await again.store.jobs(JobQuery(detail: .all, limit: 1000)).filter { !running.contains($0.id) }
      try same(after, before, "the jobs that did not run")
      try same(try await again.store.settings(), [.queue("p", isPaused: true)], "the settings")
      try await again.loseWorkers()
      for id in running {
        try same(try await again.job(id).state, .ready, "the state of a job that ran")
        try same(try await again.job(id).attempt, 0, "its attempts")
      }
    },
    Case("No id and no token is used again when the store is opened again", needs: [.reopens]) { subject in
      var trial = try await Trial(subject)
      var ids: Set<JobID> = []
      var tokens: Set<ClaimToken> = []
      let kept = try await trial.add()
      for _ in 0..<3 {
        let claimed = try await trial.start(kept)
        try holds(tokens.insert(claimed.token).inserted, "\(claimed.token) is new")
        try await trial.end(claimed, .interrupted, as: .ready)
        let id = try await trial.add()
        try holds(ids.insert(id).inserted, "\(id) is a new id")
        try await trial.change(.remove, id)
        trial = Trial(store: try await subject.reopen!(trial.store), clock: trial.clock)
      }
    },
  ]
}

/// The signals that a listener was told, to be looked at afterwards.
final class Heard: Sendable {
  private let log = Lock<[StoreSignal]>([])

  var signals: [StoreSignal] { log.withLock { $0 } }
  func add(_ signal: StoreSignal) { log.withLock { $0.append(signal) } }
  func clear() { log.withLock { $0 = [] } }

  /// Expects a signal to be told, at the latest while the store answers some more questions.
  func wait(_ trial: Trial, _ what: String, where isMeant: (StoreSignal) -> Bool) async throws {
    for _ in 0..<1000 {
      if signals.contains(where: isMeant) { return }
      _ = try await trial.store.settings()
      await Task.yield()
    }
    throw Difference("\(what) was not told; what was: \(signals)")
  }
}

extension StoreSignal {
  var transitions: [JobTransition] {
    if case .committed(let transitions) = self { transitions } else { [] }
  }

  /// Workers have reason to look.
  var isWork: Bool {
    if case .changedElsewhere(let change) = self {
      change.contains(.work)
    } else {
      transitions.contains { $0.state == .ready || $0.state == .scheduled }
    }
  }

  var isDoubt: Bool {
    if case .changedElsewhere(let change) = self { change.contains(.doubt) } else { false }
  }
}
