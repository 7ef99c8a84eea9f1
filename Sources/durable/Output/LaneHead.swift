#if Shell
  import Console
  import DurableJobs
  import Foundation

  /// The first of those that keep a job waiting in its lane.
  struct LaneHead: Hashable, Sendable {
    var lane: String
    var job: JobID
    var state: JobState
    /// How many jobs it holds back, where that was asked.
    var waiting = 0

    /// As in "job 1, which failed and holds the lane deploy".
    var text: String {
      state == .failed
        ? "job \(job), which failed and holds the lane \(lane)" : "job \(job) before it in the lane \(lane)"
    }

    /// What lets the lane go on, if only a person can do that.
    var advice: String? {
      state == .failed ? "'durable retry \(job)' or 'durable remove \(job)' lets it go on" : nil
    }

    /// As in "Lane deploy: job 1 failed and holds 2 others; 'durable retry 1' …".
    var forPeople: String {
      "Lane \(lane): job \(job) failed and holds \(waiting) other\(waiting == 1 ? "" : "s")\(advice.map { "; \($0)" } ?? "")"
    }
  }

  extension OpenStore {
    /// Who keeps this job waiting in its lane, if somebody does.
    func laneHead(of job: JobSnapshot) async throws -> LaneHead? {
      guard job.state == .blocked, let lane = job.lane?.name else { return nil }
      let states = JobState.allCases.filter { !$0.isFinished && $0 != .blocked }
      let seated = try await store.jobs(JobQuery(.lane(lane) && .states(states + [.failed]), limit: 100))
        .filter { $0.id != job.id && $0.holdsItsLane }
      var head = seated.first { $0.state == .failed } ?? seated.first
      if head == nil {
        // One that waits for other jobs has its place all the same. Else it waits for other jobs alone.
        head = try await store.jobs(JobQuery(.lane(lane) && .state(.blocked), limit: 1)).first { $0.id < job.id }
      }
      return head.map { LaneHead(lane: lane, job: $0.id, state: $0.state) }
    }

    /// Those that failed and keep others from running, of the blocked jobs that match: a few, with all that they hold.
    func failedHeads(_ filter: JobFilter) async throws -> [LaneHead] {
      let blocked = try await store.jobs(JobQuery(filter && .state(.blocked), limit: 1000))
      var heads: [LaneHead] = []
      for (lane, jobs) in Dictionary(grouping: blocked.filter { $0.lane != nil }, by: { $0.lane!.name }) {
        guard var head = try await laneHead(of: jobs[0]), head.state == .failed else { continue }
        head.waiting = try await store.counts(where: .lane(lane) && .state(.blocked))[.blocked]
        heads.append(head)
      }
      return heads.sorted { $0.job < $1.job }
    }
  }

  extension JobSnapshot {
    fileprivate var holdsItsLane: Bool { state != .failed || lane?.failedHead == .holds }
  }
#endif
