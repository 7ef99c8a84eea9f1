#if Shell
  import Console
  import DurableJobs
  import DurableJobsSQLite
  import Foundation

  /// What keeps a job from running now.
  enum Obstacle: Hashable, Sendable {
    case paused(queue: String)
    case noWorker(queue: String)
    /// What it requires and what does not hold; some of it, no worker speaks of, and nobody has set it.
    case absent([JobConstraint], unprovided: [JobConstraint])
    /// Who looks will take it back.
    case workerDied
    /// Its first start is ahead.
    case early(until: Date)
    case backOff(until: Date, attempt: Int, of: Int, message: String)
    /// It was put off, with no attempt used.
    case snoozed(until: Date)
    case suspended(reason: String?)
    /// By jobs and keys, and by those before it in its lane.
    case blocked(by: [String], lane: LaneHead?)

    /// All that keeps this job, what it waits for by itself first. `workers` are those of its store; one that works it
    /// `here` needs no other.
    static func all(
      of job: JobSnapshot, paused: Set<String>, setByHand: [JobConstraint: Bool] = [:], workers: [StoredWorker],
      head: LaneHead? = nil, here: Bool = false, now: Date = Date()
    ) -> [Obstacle] {
      var all: [Obstacle] = []
      switch job.state {
      case .suspended: return [.suspended(reason: job.reason)]
      case .scheduled:
        if let time = job.runAt, time > now {
          if job.startedAt == nil {
            all.append(.early(until: time))
          } else if let last = job.failures.last, last.attempt == job.attempt {
            all.append(.backOff(until: time, attempt: job.attempt, of: job.maxAttempts, message: last.message))
          } else {
            all.append(.snoozed(until: time))
          }
        }
      case .ready: break
      case .running:
        // Who works on another job of the store gives this one back.
        let isLost = workers.contains { $0.jobs.contains(job.id) && $0.standing == .dead }
        guard isLost, !workers.contains(where: { $0.standing == .alive }) else { return [] }
        if here { return [.workerDied] }
      case .blocked: return [.blocked(by: job.edges.map(\.forPeople), lane: head)]
      case .succeeded, .failed, .cancelled, .skipped: return []
      }
      if paused.contains(job.queue) {
        all.append(.paused(queue: job.queue))
      } else if !here {
        let serving = workers.filter { $0.serves(job.queue, job.kind) }
        // Of what the one lacks that lacks least.
        let lacking = serving.map { job.requires.subtracting(setByHand.holding($0.satisfied)) }.min {
          $0.count < $1.count
        }
        guard let lacking else {
          // What a worker of this command would not bring by itself.
          let foreign = job.requires.subtracting(setByHand.holding([.network, .externalPower, .diskSpace])).sorted()
          return all + [.noWorker(queue: job.queue)] + (foreign.isEmpty ? [] : [.absent([], unprovided: foreign)])
        }
        guard !lacking.isEmpty, job.state != .blocked else { return all }
        let provided = serving.reduce(into: Set(setByHand.keys)) { $0.formUnion($1.satisfied.union($1.absent)) }
        all.append(
          .absent(lacking.intersection(provided).sorted(), unprovided: lacking.subtracting(provided).sorted()))
      }
      return all
    }

    static func all(of job: JobSnapshot, in store: OpenStore, here: Bool = false) async throws -> [Obstacle] {
      guard !job.state.isFinished else { return [] }
      return all(
        of: job, paused: try await store.pausedQueues, setByHand: try await store.store.settings().constraints,
        workers: try await store.store.workers(), head: try await store.laneHead(of: job), here: here)
    }

    /// The same one at another time is no news.
    var topic: Obstacle {
      switch self {
      case .early: .early(until: .distantPast)
      case .backOff(_, let attempt, let count, let message):
        .backOff(until: .distantPast, attempt: attempt, of: count, message: message)
      case .snoozed: .snoozed(until: .distantPast)
      default: self
      }
    }

    var isLackOfWorker: Bool { if case .noWorker = self { true } else { false } }

    /// What to tell a person who waits for this job.
    func text(of id: JobID, in store: OpenStore) -> String {
      switch self {
      case .paused(let queue):
        "Job \(id) waits: the queue '\(queue)' is paused; '\(store.command("unpause", queue: queue))' lets it go on"
      case .noWorker(let queue):
        "Job \(id) waits: no worker is running for it. Start one with: \(store.command("work", queue: queue))"
      case .absent(let absent, let unprovided):
        "Job \(id) waits for " + Self.words(absent, unprovided)
          + (unprovided.first.map { "; 'durable constraint set \($0) yes' says that it holds" } ?? "")
      case .workerDied: "Job \(id): its worker has died; it is run again here"
      case .early(let time): "Job \(id) waits for its time, \(time.forPeople)"
      case .backOff(let time, let attempt, let count, let message):
        "Job \(id) runs again \(time.forPeople), after attempt \(attempt) of \(count): \(message.withoutPasswords)"
      case .snoozed(let time): "Job \(id) was put off, and runs again \(time.forPeople)"
      case .blocked(let others, let head):
        "Job \(id) waits for \((others + (head.map { [$0.text] } ?? [])).joined(separator: ", "))"
          + (head?.advice.map { "; \($0)" } ?? "")
      case .suspended(let reason):
        "Job \(id) is suspended\(reason.map { ": \($0.withoutPasswords)" } ?? ""); 'durable resume \(id)' lets it go on"
      }
    }
  }

  extension Obstacle {
    /// As in "network; vpn, which no worker provides".
    private static func words(_ absent: [JobConstraint], _ unprovided: [JobConstraint]) -> String {
      let lists = [absent, unprovided].map { $0.map(\.rawValue).joined(separator: ", ") }
      return [lists[0], lists[1].isEmpty ? "" : "\(lists[1]), which no worker provides"].filter { !$0.isEmpty }
        .joined(separator: "; ")
    }
  }

  extension StoredWorker {
    func serves(_ queue: String, _ kind: String) -> Bool {
      standing == .alive && queues.contains(queue) && kinds.contains(kind)
    }
  }
#endif
