import DurableJobs
import Foundation

extension StoreConformance {
  /// é as one letter, and as a letter and an accent: other bytes, and the same string to Swift.
  private static let spellings = [("caf\u{E9}", "cafe\u{301}"), ("cafe\u{301}", "caf\u{E9}")]

  static let nameCases: [Case] = [
    Case("A unique key is the same however its letters are composed") { subject in
      for (one, other) in spellings {
        let trial = try await Trial(subject)
        let first = try await trial.add(JobTerms(unique: UniqueKey(one)))
        let again = JobInsertion([
          NewJob(queue: "q", kind: "k", payload: Data(), terms: JobTerms(unique: UniqueKey(other)))
        ])
        let kept = try await trial.store.insert(again).jobs
        try same(kept, [InsertedJob(id: first, disposition: .kept)], "the job that has the key")
        let claimed = try await trial.start(first)
        try await trial.end(claimed, .succeeded(output: nil), as: .succeeded)
        let second = try await trial.store.insert(again).jobs[0]
        try same(second.disposition, .inserted, "what becomes of a job whose key nobody has")
        try await trial.change(.remove, second.id)
        let third = try await trial.store.insert(again).jobs[0]
        try same(third.disposition, .inserted, "what becomes of one whose key was let go by a removal")
      }
    },
    Case("A queue and a kind are the same however their letters are composed") { subject in
      for (one, other) in spellings {
        let trial = try await Trial(subject)
        try await trial.store.configure([.queue(one, isPaused: true)])
        let ids = [
          try await trial.add(kind: one, queue: one), try await trial.add(kind: other, queue: other),
        ]
        for name in [one, other] {
          try same(try await trial.claim(kinds: [name], [name: 2]).count, 0, "jobs claimed from a paused queue")
          try same(try await trial.ids(.queue(name)), ids, "jobs of the queue")
          try same(try await trial.ids(.kind(name)), ids, "jobs of the kind")
          try same(try await trial.store.counts(where: .queue(name) && .kind(name))[.ready], 2, "jobs counted")
        }
        try same(try await trial.store.settings(), [.queue(one, isPaused: true)], "the settings")
        try await trial.store.configure([.queue(other, isPaused: false)])
        try same(try await trial.store.settings(), [], "the settings, once it is unpaused")
        try same(
          try await trial.store.outstanding(.queue(other, and: [WorkerReach(kinds: [one])])).active, 2,
          "jobs to be done")
        let claimed = try await trial.claim(kinds: [other], [one: 2])
        try same(claimed.map(\.token.job), ids, "jobs claimed")
      }
    },
    Case("A key and a tag are the same however their letters are composed") { subject in
      for (one, other) in spellings {
        let trial = try await Trial(subject)
        let id = try await trial.add(JobTerms(key: one, tags: [one]))
        for filter: JobFilter in [.key(other), .tag(other), .key(other) && !.state(.failed), !(!.tag(other))] {
          try same(try await trial.ids(filter), [id], "jobs of \(filter)")
        }
        try await trial.change(.remove, id)
        for filter: JobFilter in [.key(one), .key(other), .tag(one) || .tag(other)] {
          try same(try await trial.ids(filter), [], "jobs of \(filter), once it is removed")
        }
      }
    },
    Case("A lane, a condition and a batch are the same however their letters are composed") { subject in
      for (one, other) in spellings {
        let trial = try await Trial(subject)
        try await trial.store.configure([.constraint(JobConstraint(rawValue: other), satisfied: true)])
        let ids = try await [one, other].asyncMap { name in
          try await trial.add(JobTerms(lane: JobLane(name), requires: [JobConstraint(rawValue: name)]))
        }
        for name in [one, other] {
          try same(try await trial.ids(.lane(name)), ids, "jobs of the lane")
          try same(try await trial.ids(.requires(JobConstraint(rawValue: name))), ids, "jobs of the condition")
        }
        try await trial.start(ids[0])
        try same(try await trial.claim(["q": 2]).count, 0, "jobs claimed of a lane that is taken")
        try await trial.store.configure([.lane(other, width: 2)])
        try await trial.start(ids[1])
        try await trial.store.configure([
          .lane(one, width: 1), .constraint(JobConstraint(rawValue: one), satisfied: nil),
        ])
        try same(try await trial.store.settings(), [], "the settings, once all is as it was")
        let batch = JobInsertion([], batch: .open(name: one, whenDone: nil))
        let id = try await trial.store.insert(batch).batch
        try same(try await trial.store.batches(.name(other)).map(\.id), [id], "batches of the name")
      }
    },
  ]
}
