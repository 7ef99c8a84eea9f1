#if Postgres
  import DurableJobs
  import DurableJobsPostgres
  import DurableJobsTesting
  import Foundation
  import PostgresTestServer
  import Testing

  @Suite struct PostgresTortureTests {
    /// `TORTURE=2000` in the environment: as many verbs of each.
    @Test("What many connections do at once leaves nothing counted or noted wrong")
    func manyAtOnce() async throws {
      let server = try TestServer.shared.get()
      let schema = TestServer.schema()
      let verbs = ProcessInfo.processInfo.environment["TORTURE"].flatMap(Int.init) ?? 120
      try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<6 {
          let store = try await server.store(schema)
          group.addTask {
            var life = TorturedLife(store: store, number: number)
            for _ in 0..<verbs { try await life.step() }
            return life.done
          }
        }
        var done = 0
        for try await number in group { done += number }
        // A torture in which nearly all is refused would be none.
        #expect(done > verbs * 3)
      }
      try WholeStore.expect(of: server, schema: schema)
      #expect(try await server.store(schema).check() == [])
    }
  }

  /// Does anything to a store, in any order, with others that do the same.
  private struct TorturedLife {
    let store: PostgresStore
    let worker: WorkerID
    var done = 0
    private var held: [ClaimToken] = []
    private var recent: [JobID] = []
    private var batch: BatchID?

    init(store: PostgresStore, number: Int) {
      self.store = store
      worker = WorkerID("w\(number)")
    }

    mutating func step() async throws {
      do {
        switch Int.random(in: 0..<12) {
        case 0...3: try await insert()
        case 4...7: try await work()
        case 8...9: try await change()
        case 10: _ = try await store.recover(RecoveryRequest(worker: worker, limit: 20))
        default: try await renew()
        }
        done += 1
      } catch let error as JobError where [.wrongState, .notFound, .invalidArgument].contains(error.code) {
        // Somebody else was there first.
      }
    }

    private mutating func insert() async throws {
      let parents = try await store.jobs(JobQuery(order: .newestFirst, limit: 30)).map(\.id)
      let jobs = (0..<Int.random(in: 1...4)).map { place -> NewJob in
        var terms = JobTerms(priority: JobPriority(rawValue: .random(in: 0...2)))
        if Int.random(in: 0..<3) == 0 {
          terms.lane = JobLane("lane-\(Int.random(in: 0..<3))", failedHead: Bool.random() ? .holds : .letsNextRun)
        }
        if Int.random(in: 0..<4) == 0 {
          let policy = [UniqueKey.Policy.keep, .replace, .append].randomElement() ?? .keep
          terms.unique = UniqueKey("unique-\(Int.random(in: 0..<3))", policy: policy)
        }
        if Int.random(in: 0..<4) == 0 { terms.key = "key-\(Int.random(in: 0..<4))" }
        if Int.random(in: 0..<8) == 0 { terms.start = .after(.milliseconds(.random(in: 0...50))) }
        if Int.random(in: 0..<8) == 0 { terms.deadline = .end(by: .after(.milliseconds(.random(in: 0...200)))) }
        if Int.random(in: 0..<8) == 0 { terms.tags = ["tag"] }
        var edges: [JobEdge] = []
        for _ in 0..<Int.random(in: 0...2) {
          guard let parent = parents.randomElement() else { continue }
          edges.append(JobEdge(.job(parent), JobEdge.Condition.allCases.randomElement() ?? .ended))
        }
        if place > 0, Bool.random() { edges.append(JobEdge(.sibling(place - 1))) }
        if Int.random(in: 0..<6) == 0 { edges.append(JobEdge(.key("key-\(Int.random(in: 0..<4))"), .ended)) }
        return NewJob(queue: "q", kind: "k\(Int.random(in: 0..<3))", payload: Data(), terms: terms, edges: edges)
      }
      var membership: BatchMembership?
      if Int.random(in: 0..<4) == 0 {
        membership =
          batch.map { .join($0) }
          ?? .new(name: "b", whenDone: NewJob(queue: "q", kind: "k0", payload: Data()))
      }
      let reply: InsertionReply
      do {
        reply = try await store.insert(JobInsertion(jobs, batch: membership))
      } catch {
        batch = nil
        throw error
      }
      batch = reply.batch ?? batch
    }

    private mutating func work() async throws {
      let request = ClaimRequest(worker: worker, kinds: ["k0", "k1", "k2"], free: ["q": Int.random(in: 1...6)])
      let settlements = held.shuffled().prefix(.random(in: 0...8)).map { token in
        let results: [ClaimSettlement.Result] = [
          .succeeded(output: Data([1])), .succeeded(output: nil), .failed(message: "no"),
          .retry(.after(.milliseconds(5)), message: "later"), .snoozed(.now), .interrupted, .suspended(reason: "held"),
          .crashed,
        ]
        return ClaimSettlement(token: token, result: results.randomElement() ?? .interrupted)
      }
      let batch = try await store.settle(settlements, thenClaim: request)
      held.removeAll { token in settlements.contains { $0.token == token } }
      held += batch.claimed?.jobs.map(\.token) ?? []
    }

    private mutating func renew() async throws {
      let renewals = held.map { token in
        ClaimRenewal(
          token: token, progress: Bool.random() ? JobProgress(fraction: .random(in: 0...1)) : nil,
          steps: Int.random(in: 0..<4) == 0 ? ["step": Data()] : [:])
      }
      let standings = try await store.renew(RenewalRequest(worker: worker, renewals: renewals))
      for (renewal, standing) in zip(renewals, standings) where standing == .lost {
        held.removeAll { $0 == renewal.token }
      }
    }

    private mutating func change() async throws {
      let changes: [JobChange] = [
        .retry, .cancel(reason: "because"), .suspend(reason: nil), .resume, .remove, .complete(output: nil),
        .fail(message: "out"), .reset, .progress(JobProgress(fraction: 0.5)),
      ]
      let filters: [JobFilter] = [
        .states([.failed, .cancelled, .skipped]), .states([.ready, .blocked, .scheduled]), .state(.suspended),
        .state(.running), .lane("lane-1"), .key("key-2"), .kind("k1"),
      ]
      _ = try await store.change(
        changes.randomElement() ?? .resume, where: filters.randomElement() ?? .all, after: nil,
        limit: .random(in: 1...10))
    }
  }
#endif
