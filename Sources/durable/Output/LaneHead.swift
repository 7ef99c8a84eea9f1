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
    func advice(in store: OpenStore) -> String? {
      state == .failed
        ? "'\(store.command("retry \(job)"))' or '\(store.command("remove \(job)"))' lets it go on" : nil
    }

    /// As in "Lane deploy: job 1 failed and holds 2 others; 'durable retry 1' …".
    func forPeople(in store: OpenStore) -> String {
      "Lane \(lane): job \(job) failed and holds \(waiting) other\(waiting == 1 ? "" : "s")"
        + (advice(in: store).map { "; \($0)" } ?? "")
    }
  }

  extension OpenStore {
    /// Who keeps this job waiting in its lane, if somebody does.
    func laneHead(of job: JobSnapshot) async throws -> LaneHead? {
      guard job.state == .blocked, let lane = job.lane?.name else { return nil }
      let head = try await store.jobs(JobQuery(.id(job.id), detail: .waits, limit: 1)).first?.waits?.laneHead
      return head.map { LaneHead(lane: lane, job: $0.job, state: $0.state) }
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
#endif
