import DurableJobsTesting
import Foundation
import Testing

@testable import DurableJobs

/// What a plan and a chain are, before they are stored.
@Suite struct JobPlanTests {
  let queue = JobQueue(store: InMemoryStore())
  let id = PlanID(rawValue: "album-1")

  @Test func `The jobs of a plan wait for each other by their places, and carry its tag`() throws {
    var plan = JobPlan("album")
    let first = plan.add(MakePart(), named: "first")
    let second = plan.add(MakePart(), after: [.end(of: first)], options: JobOptions(tags: ["slow"]))
    plan.add(Join(parts: [second.output, first.output]), after: [second, .key("import-7")])
    let jobs = try plan.jobs(in: queue, as: id)
    #expect(jobs.map(\.kind) == ["make-part", "make-part", "join"])
    #expect(jobs.map(\.terms.tags) == [["plan:album-1", "node:first"], ["plan:album-1", "slow"], ["plan:album-1"]])
    #expect(
      jobs.map(\.edges) == [
        [], [JobEdge(.sibling(0), .ended)],
        [JobEdge(.sibling(1), slot: 0), JobEdge(.sibling(0), slot: 1), JobEdge(.key("import-7"))],
      ])
  }

  @Test func `A node may go to another queue of the store`() throws {
    var plan = JobPlan()
    plan.add(MakePart(), on: JobQueue("video", store: queue.store))
    plan.add(MakePart())
    #expect(try plan.jobs(in: queue, as: id).map(\.queue) == ["video", "default"])
  }

  @Test(arguments: Flaw.allCases)
  func `A plan that can't be stored is refused with words`(_ flaw: Flaw) async throws {
    var plan = JobPlan()
    let node = plan.add(MakePart(), named: "part")
    var copy = plan
    switch flaw {
    case .otherPlan:
      copy.add(MakePart())
      plan.add(MakePart(), after: [copy.add(MakePart())])
    case .otherStore: plan.add(MakePart(), on: JobQueue(store: InMemoryStore()))
    case .sameName: plan.add(MakePart(), named: "part", after: [node])
    case .longName: plan.add(MakePart(), named: String(repeating: "x", count: 600))
    }
    let error = await #expect(throws: JobError.self) { try await queue.enqueue(plan) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.hasPrefix(flaw.rawValue) == true)
    #expect(try await queue.counts().total == 0)
  }

  enum Flaw: String, CaseIterable {
    case otherPlan = "'make-part' waits for a node that is not in its plan. Add both to one plan"
    case otherStore = "'make-part' is to go to a queue of another store than its plan"
    case sameName = "two nodes of the plan are named 'part'"
    case longName = "the tag 'node:xxx"
  }

  @Test func `C22 A plan whose nodes wait for each other by keys is refused by name, and nothing is stored`()
    async throws
  {
    var plan = JobPlan()
    plan.add(MakePart(), after: [.key("b")], options: JobOptions(key: "a"))
    let node = plan.add(MakePart(), after: [.key("a")])
    plan.add(MakePart(), after: [node], options: JobOptions(key: "b"))
    let error = await #expect(throws: JobError.self) { try await queue.enqueue(plan) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("has the key 'b', for which another job of this call waits") == true)
    #expect(try await queue.counts().total == 0)
  }

  @Test func `A plan is watched as one: each change of its jobs is told, and none of others`() async throws {
    let clock = ManualClock()
    let queue = JobQueue(store: InMemoryStore(clock: clock))
    var plan = JobPlan()
    plan.add(MakePart(), after: [plan.add(MakePart(), named: "first")])
    let other = try await queue.enqueue(plan)
    let stored = try await queue.enqueue(plan)
    let ids = try await stored.jobs.map(\.id)
    var watch = queue.snapshots(where: .plan(stored.id)).makeAsyncIterator()
    func next() async throws -> [JobSnapshot]? {
      clock.advance(by: .seconds(1))
      return try await watch.next()
    }
    let first = try #require(try await next())
    #expect(first.map(\.id) == ids)
    #expect(first.map(\.state) == [.ready, .blocked])
    try await other.cancel()
    for (id, states) in zip(ids, [[JobState.succeeded, .ready], [.succeeded, .succeeded]]) {
      try await queue.complete(id, output: Data(#"{"number":1}"#.utf8))
      #expect(try await next()?.map(\.state) == states)
    }
    var counts = queue.countSnapshots(where: .plan(stored.id)).makeAsyncIterator()
    #expect(try await counts.next() == JobCounts([.succeeded: 2]))
  }

  @Test func `A plan with nothing in it is stored as nothing`() async throws {
    let plan = try await queue.enqueue(JobPlan())
    #expect(try await plan.jobs.isEmpty)
  }

  @Test func `Each enqueue of a plan is a plan of its own`() async throws {
    var plan = JobPlan("album")
    let node = plan.add(MakePart())
    let first = try await queue.enqueue(plan)
    let second = try await queue.enqueue(plan)
    #expect(first.id != second.id)
    #expect(first.id.rawValue.hasPrefix("album-"))
    #expect(try await first.jobs.map(\.id) == [try first.handle(of: node).id])
    #expect(try await second.jobs.map(\.id) == [try second.handle(of: node).id])
  }

  @Test func `A plan found by its id knows its nodes by name`() async throws {
    var plan = JobPlan()
    let node = plan.add(MakePart(), named: "part")
    plan.add(MakePart(), named: "other")
    let stored = try await queue.enqueue(plan)
    let found = queue.plan(PlanID(rawValue: stored.id.rawValue))
    #expect(try await found.handle(named: "part", as: MakePart.self).id == stored.handle(of: node).id)
    #expect(throws: JobError.self) { try found.handle(of: node) }
    let error = await #expect(throws: JobError.self) { try await found.handle(named: "third", as: MakePart.self) }
    #expect(error?.code == .notFound)
  }

  @Test func `The graph of a plan is Mermaid text`() {
    var plan = JobPlan()
    let first = plan.add(MakePart(), named: "the \"first\" #1")
    let second = plan.add(MakePart(), after: [.failure(of: first), .key("import-7")])
    plan.add(Join(parts: [first.output]), after: [.end(of: second), JobID(rawValue: 7), .end(of: .key("import-7"))])
    #expect(
      plan.mermaid == """
        flowchart TD
          n0["the #quot;first#quot; #35;1"]
          n1["make-part"]
          n2["join"]
          o0(["key import-7"])
          o1(["job 7"])
          n0 -.->|failed| n1
          o0 --> n1
          n0 --> n2
          n1 -->|ended| n2
          o1 --> n2
          o0 -->|ended| n2

        """)
  }

  @Test func `The graph of a stored plan has the state of each job`() async throws {
    var plan = JobPlan()
    plan.add(MakePart(), after: [plan.add(MakePart(), named: "first")])
    let stored = try await queue.enqueue(plan)
    let job = try #require(try await stored.jobs.first)
    try await queue.complete(job.id, output: Data(#"{"number":1}"#.utf8))
    #expect(
      try await stored.mermaid() == """
        flowchart TD
          n0["first<br/>succeeded"]
          n1["make-part<br/>ready"]
          n0 --> n1
          classDef succeeded fill:#d4edda
          class n0 succeeded

        """)
  }
}
